"""What an installation asks of a release before it takes over: it loads, and understands configuration and state.

usage: python -m appliance.selfcheck      one sentence on stderr and an exit code when something is wrong
"""

import importlib
import pkgutil
import sys
from typing import Final

import agent
import appliance
import audio
import memory
from appliance.errors import Exit, Problem

OPTIONAL: Final = {"pyaudio"}
"""What an adapter wants that not every machine has."""


def failed_imports() -> list[str]:
    """Import every module of the four packages; return a sentence for each that does not load."""
    failed = []
    for package in (agent, appliance, audio, memory):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith("__main__"):
                continue
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:
                if error.name not in OPTIONAL:
                    failed.append(f"{module.name} does not load: {error}")
            except Exception as error:  # noqa: BLE001  whatever a module does when it is loaded is what is looked for
                failed.append(f"{module.name} does not load: {type(error).__name__}: {error}")
    return failed


def main() -> int:
    """Check, and say what is wrong; return the exit code."""
    if failed := failed_imports():
        sys.stderr.write("".join(f"nakari: {sentence}\n" for sentence in failed))
        return int(Exit.FAULT)
    from appliance.admin import upgrade
    from appliance.config.load import load
    from memory.errors import StateUnusable

    try:
        upgrade.check(load().state_folder)
    except Problem as problem:
        sys.stderr.write(f"nakari: {problem}\n")
        return int(problem.code)
    except StateUnusable as error:
        sys.stderr.write(f"nakari: {error}\n")
        return int(Exit.CANNOT_CREATE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
