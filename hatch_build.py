"""Notes in what is built of which commit it was made; hatchling runs it (pyproject.toml)."""

import subprocess
from pathlib import Path
from tempfile import mkstemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NOTE = "appliance/commit.txt"
"""`appliance.version` reads it."""


class CommitNote(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the note into wheel and source distribution; what is made of one that has it keeps that."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the note; nothing where neither it nor git tells, or where a clone is only pointed at."""
        if version == "editable":
            return
        kept = Path(self.root, NOTE)
        if kept.is_file():
            build_data["force_include"][str(kept)] = NOTE
        elif commit := self._commit():
            _, note = mkstemp(prefix="nakari-commit")
            Path(note).write_text(f"{commit}\n", encoding="ascii")
            Path(note).chmod(0o644)
            build_data["force_include"][note] = NOTE

    def _commit(self) -> str:
        if not Path(self.root, ".git").exists():
            return ""
        asked = ["git", "-C", self.root, "rev-parse", "--short", "HEAD"]
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
