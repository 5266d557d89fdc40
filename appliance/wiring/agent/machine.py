"""What the agent may do on this machine beside thinking: files in allowed folders, code in a sandbox."""

import asyncio
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from agent.errors import ToolFailed
from agent.tools.confined.folders import Folders, Trouble
from agent.tools.confined.sandbox import Sandbox
from appliance import program
from appliance.config.load import Config
from audio.loops import Loop
from memory.json_value import Json

log = structlog.get_logger()

KERNEL: Final = ("/proc", "/sys", "/run/credentials")
"""Holds the secrets of processes, and no files of anybody's."""


class Machine(Struct):
    """The files and the sandbox of the household, and whether they can be used."""

    folders: Folders | None
    sandbox: Sandbox | None
    is_service: bool
    """Whether systemd started it, whose unit hides folders and allows no namespaces."""
    found: dict[str, Json] = {}
    """What is wrong with each folder, and with "code"; "" where nothing is."""

    def loops(self) -> dict[str, Loop]:
        """Return what finds out whether they can be used; nothing where there are none."""
        is_wanted = self.folders or self.sandbox
        return {"tools: whether folders and a sandbox can be had, once": self.look} if is_wanted else {}

    async def look(self) -> None:
        """Find out, once, beside everything else: a disk may hang."""
        if (folders := self.folders) is not None:
            for name, path in folders.names.items():
                self._note(path, await asyncio.to_thread(_folder_trouble, folders, name, is_service=self.is_service))
        if self.sandbox is not None:
            self._note("code", await _code_trouble(self.sandbox))

    def describe(self) -> dict[str, Json]:
        """Return what is wrong with each folder, and with "code", as far as that is known."""
        return dict(self.found)

    def _note(self, what: str, trouble: str) -> None:
        self.found[what] = trouble
        if trouble:
            log.warning("tool_confined", what=what, reason=trouble)


def machine_of(config: Config) -> Machine:
    """Return what this configuration allows."""
    never = {
        config.state_folder: "nakari's own state",
        config.tools_folder: "its tools",
        program.FOLDER: "its program",
        **({config.file: "its configuration"} if config.file else {}),
        **{Path(place): "what the system keeps of its processes" for place in KERNEL},
    }
    folders = Folders(config.file_folders, never) if config.file_folders else None
    return Machine(folders, Sandbox() if config.code.enabled else None, bool(config.supervisor.notify_socket))


def _folder_trouble(folders: Folders, name: str, *, is_service: bool) -> str:
    """Return what is wrong with a folder and what to do about it, "" where nothing is."""
    trouble, why = folders.trouble(name)
    path = folders.names[name]
    if trouble in ("", "never"):
        return f"it {why}: name other folders in [files] folders" if trouble else ""
    return f"{_IS[trouble]}; {_unit_fix(path) if is_service else _FIXES[trouble].format(path=path)}"


_IS: Final[dict[Trouble, str]] = {
    "absent": "it is not there",
    "closed": "it may not be opened",
    "read-only": "it can only be read",
}
_FIXES: Final[dict[Trouble, str]] = {
    "absent": "make it, or correct [files] folders",
    "closed": "give the user who runs nakari leave to read {path}",
    "read-only": "give the user who runs nakari leave to write to {path}, if that is wanted",
}


def _unit_fix(path: str) -> str:
    """Return what lets a service see and use a folder: its unit hides homes, and everything else is read-only."""
    return (
        f"`sudo systemctl edit nakari` with the lines [Service] and BindPaths={path}, then "
        f"`sudo chgrp -R nakari {path} && sudo chmod -R g+rwX,g+s {path}`, and `sudo systemctl restart nakari`"
    )


async def _code_trouble(sandbox: Sandbox) -> str:
    try:
        ran = await sandbox.run("print(6 * 7)")
    except ToolFailed as error:
        return str(error)
    if ran.status == 0 and ran.output == "42\n":
        return ""
    return "its sandbox does not begin; `journalctl -t systemd -g nakari-code -n 5` tells why"
