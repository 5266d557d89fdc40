"""The configuration is read again while it runs: what can change does, the rest is told, a mistake changes nothing."""

from functools import partial
from pathlib import Path
from typing import cast

import pytest

from appliance.admin.reload import LIVE, Reload, Reloaded, TakesOver, changed
from appliance.config.load import Config, load
from appliance.errors import ConfigError
from appliance.notify import Notifier
from appliance.reflexes.verbs import Verbs
from appliance.wiring.doors import reload_of
from appliance.wiring.sound.unasked import Unasked

pytestmark = pytest.mark.shows("H2", "F32")


class Notes(Notifier):
    """Keeps what systemd would be told."""

    def __init__(self) -> None:
        super().__init__("")
        self.told: list[str] = []

    def _send(self, *assignments: str) -> None:
        self.told.append(assignments[0])


class File:
    """A configuration file, and who goes by two of its keys."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "nakari.toml"
        self.write("")
        self.read = partial(load, self.path, {"HOME": str(folder)})
        self.volumes: list[int] = []
        self.notes = Notes()
        parts: dict[tuple[str, ...], TakesOver] = {("voice.volume",): self._volume}
        self.reload = Reload(self.read(), self.read, parts, self.notes)

    def write(self, text: str) -> None:
        self.path.write_text(text)

    async def _volume(self, config: Config) -> None:
        self.volumes.append(config.voice.volume)


async def test_what_can_change_does_and_what_cannot_is_told_until_the_next_start(tmp_path: Path) -> None:
    file = File(tmp_path)
    assert await file.reload() == Reloaded()
    file.write('[voice]\nvolume = 40\n[ears]\nlanguage = "zh"\n[models.big]\nname = "x"\n')
    later = ("ears.language", "models")
    assert await file.reload() == Reloaded(("voice.volume",), later)
    assert await file.reload() == Reloaded((), later), "what was taken over is not new again"
    file.write("")
    assert await file.reload() == Reloaded(("voice.volume",)), "also back to how it was at the start"
    assert file.volumes == [40, 100]


async def test_a_mistake_changes_nothing_and_systemd_is_told_that_it_goes_on(tmp_path: Path) -> None:
    file = File(tmp_path)
    file.write("[voice]\nvolume = 40\n[ears]\nmodle = 'small'\n")
    with pytest.raises(ConfigError, match="did you mean model"):
        await file.reload()
    assert file.volumes == []
    assert file.notes.told == ["RELOADING=1", "READY=1"]


def test_each_key_that_can_change_is_one(tmp_path: Path) -> None:
    config = load(None, {"HOME": str(tmp_path)})
    assert changed(config, config) == []
    for key in LIVE:
        section, _, name = key.partition(".")
        assert hasattr(getattr(config, section), name)
    assert reload_of(config, cast("Verbs", None), cast("Unasked", None)).takes == LIVE, "what is promised is taken over"
