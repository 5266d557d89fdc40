"""Somebody who types one command of `nakari` after the other, without starting Python for each."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.processes import ROOT
from tests.service.privacy import clean_environment
from tests.service.process import Household


class Typist:
    """At work in a process of the commands' own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def types(self, home: Household, *arguments: str) -> Any:
        """Run a command to its end and return what it answers with --json; fails when it does not go well."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(["--config", str(home.write()), *arguments, "--json"]) + "\n")
        self._process.stdin.flush()
        code, out = json.loads(self._process.stdout.readline())
        assert code == 0, f"{arguments} ended with {code}: {out}"
        return json.loads(out)


@contextmanager
def typist() -> Iterator[Typist]:
    """Seat one."""
    command = [sys.executable, "-m", "tests.service.typist_program"]
    with subprocess.Popen(
        command, cwd=ROOT, env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Typist(process)
        finally:
            process.kill()
