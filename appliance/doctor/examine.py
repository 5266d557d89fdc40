"""The doctor: one line for each thing that can be wrong, with the fix; no check waits for another or for ever."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final, TypeAlias

from msgspec import Struct

from appliance.config.load import Config
from appliance.errors import ConfigError, Problem, ServiceNotRunning, problem_of
from memory.json_value import Json

SECONDS = 20.0
"""How long a check may take; the slowest starts a graph store."""


class Verdict(IntEnum):
    """How bad it is."""

    OK = 0
    WARNING = 1
    """It works, but less well than it could, or not for long."""
    FAULT = 2
    """Something that was asked for cannot work."""


class Line(Struct, frozen=True):
    """What one check found."""

    name: str
    verdict: Verdict
    what: str
    """What was found, in words."""
    fix: str = ""
    """What to do about it; empty when nothing need be done."""

    def __str__(self) -> str:
        """Return the line for people."""
        fix = f"; {self.fix}" if self.fix else ""
        return " ".join(f"{self.verdict.name.lower():<8}{self.name:<11}{self.what}{fix}".split("\n"))

    def to_json(self) -> str:
        """Return the line for programs: name, state (ok, warning, fault), what, fix."""
        return json.dumps(
            {"name": self.name, "state": self.verdict.name.lower(), "what": self.what, "fix": self.fix},
            ensure_ascii=False,
        )


PARTS: Final = (
    "appliance.doctor.machine",
    "appliance.doctor.access",
    "appliance.http.check",
    "appliance.wyoming.check",
    "appliance.doctor.sound.sound",
    "appliance.input.whisper.check",
    "appliance.input.hearing.check",
    "appliance.speakers.check",
    "appliance.output.check",
    "appliance.doctor.memory",
    "appliance.doctor.keeping",
    "appliance.recorder.check",
    "appliance.doctor.tools.mcp",
    "appliance.doctor.tools.calendars",
    "appliance.doctor.tools.home",
    "appliance.satellites.check",
    "appliance.machines.check",
    "appliance.doctor.tools.tools",
    "appliance.doctor.tools.web",
    "appliance.model.check",
    "appliance.doctor.examine",
)
"""The modules that say what is to be looked at of their part, as `CHECKS`, in the order of the lines."""

Finding: TypeAlias = tuple[Verdict, str, str]
"""How bad it is, what was found, and the fix; "" for none of these."""


def line_of(name: str, found: Sequence[Finding]) -> Line:
    """Return several findings in one line, as bad as the worst of them."""
    worst = max((verdict for verdict, _, _ in found), default=Verdict.OK)
    return Line(
        name, worst, "; ".join(what for _, what, _ in found if what), "; ".join(fix for *_, fix in found if fix)
    )


def judge_configuration(error: ConfigError) -> Line:
    """Tell what is wrong in the configuration."""
    fix = "correct it: nakari does not start like this; below, the default stands in its place"
    return Line("settings", Verdict.FAULT, error.sentence, fix)


def summary(found: Sequence[Verdict]) -> str:
    """Return how many lines were faults and warnings."""
    counted = {verdict: sum(each is verdict for each in found) for verdict in (Verdict.FAULT, Verdict.WARNING)}
    told = [f"{count} {verdict.name.lower()}{'' if count == 1 else 's'}" for verdict, count in counted.items() if count]
    return ", ".join(told) or "all well"


Check = Callable[[Config], Line]
"""Looks at one thing; may block, may raise, never changes anything that lasts. Its function's name names its line."""


def examine(config: Config, checks: Sequence[Check] = (), seconds: float = SECONDS) -> Iterator[Line]:
    """Run the checks side by side, all that there are if none are given, and yield their lines in order.

    A check that raises is a fault told by its sentence; one that takes longer than `seconds` is a fault and left behind
    (its thread ends with the process).
    """
    if not checks:
        checks = [check for part in PARTS for check in import_module(part).CHECKS]
    waiting: list[tuple[Check, SimpleQueue[Line]]] = []
    for check in checks:
        found: SimpleQueue[Line] = SimpleQueue()
        threading.Thread(
            target=_look, args=(check, config, found), name=f"doctor {check.__name__}", daemon=True
        ).start()
        waiting.append((check, found))
    until = time.monotonic() + seconds
    for check, found in waiting:
        try:
            yield found.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            yield _fault(check, f"did not answer within {seconds:g} s", "see whether the machine is overloaded")


def _look(check: Check, config: Config, found: "SimpleQueue[Line]") -> None:
    try:
        found.put(check(config))
    except Exception as error:  # noqa: BLE001  whatever is broken, the other lines are still wanted
        problem = problem_of(error)
        if problem:
            found.put(_fault(check, problem.sentence))
        else:
            found.put(_fault(check, f"the check itself failed ({type(error).__name__}: {error})", "please report it"))


def _fault(check: Check, what: str, fix: str = "") -> Line:
    return Line(check.__name__, Verdict.FAULT, what, fix)


PART_SECONDS: Final = 12.0
"""Within which the service tells of a part: less than all checks have, so that the other lines are still told."""


def service(config: Config) -> Line:
    """Ask the running service how it is."""
    from appliance.api.client import find_service, tell

    try:
        path = find_service(config.sockets)
    except ServiceNotRunning:
        from appliance.machines.standby.following import whom_it_follows

        return Line("service", Verdict.OK, whom_it_follows(config.machines, config.state_folder) or "not running")
    began = time.monotonic()
    asyncio.run(tell(path, {"do": "status"}))
    return Line("service", Verdict.OK, f"running, answers at {path} in {time.monotonic() - began:.3f} s")


def told_by_service(sockets: Sequence[Path], part: str, seconds: float = PART_SECONDS) -> Mapping[str, Json]:
    """Return what the running service says of one of its parts; nothing where none is running."""
    from appliance.api.client import find_service, tell

    try:
        told = asyncio.run(tell(find_service(sockets), {"do": "status"}, seconds)).get(part)
    except Problem:
        return {}
    return told if isinstance(told, dict) else {}


CHECKS: tuple[Check, ...] = (service,)
