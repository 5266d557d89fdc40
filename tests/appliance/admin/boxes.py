"""A box with a state folder of its own whose memory is opened by this process, or by the command."""

from pathlib import Path

from msgspec import Struct

from appliance.config.load import Config, load
from tests.audio.spoken import HOUSEHOLD_WHISPER


class KeptBox(Struct, frozen=True):
    """A configuration and where it leads."""

    folder: Path
    memory: str = ""
    """More lines of its [memory] section."""

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def file(self) -> Path:
        return self.folder / "nakari.toml"

    def config(self) -> Config:
        """Write the file and read it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file.write_text(
            f'[state]\nfolder = "{self.state}"\n[door]\nsocket = "{self.folder / "door.sock"}"\n'
            f'[ears]\nmodel = "{HOUSEHOLD_WHISPER}"\n[model]\nprovider = "offline"\n'
            f'[memory]\nembeddings = "off"\n{self.memory}\n'
        )
        return load(self.file, {"HOME": str(self.folder)})


def silent(done: int, of: int) -> None:
    """Hear of progress and do nothing."""
