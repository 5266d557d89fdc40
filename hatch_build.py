"""Notes in what is built of which commit it was made; hatchling runs it (pyproject.toml)."""

import subprocess
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NOTE = "appliance/commit.txt"
"""`appliance.version` reads it."""


class CommitNote(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the note into wheel and source distribution; what is made of one that has it keeps that."""

    made: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the note; nothing where neither it nor git tells, or where a clone is only pointed at."""
        if version == "editable":
            return
        kept = Path(self.root, NOTE)
        if kept.is_file():
            build_data["force_include"][str(kept)] = NOTE
        elif commit := self._commit():
            with NamedTemporaryFile("w", prefix="nakari-commit", encoding="ascii", delete=False) as note:
                note.write(f"{commit}\n")
            self.made = Path(note.name)
            build_data["force_include"][note.name] = NOTE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Take the note away."""
        if self.made is not None:
            self.made.unlink(missing_ok=True)

    def _commit(self) -> str:
        if not Path(self.root, ".git").exists():
            return ""
        asked = ["git", "-C", self.root, "rev-parse", "--short", "HEAD"]
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
