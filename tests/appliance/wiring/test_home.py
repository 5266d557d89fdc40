"""Home Assistant in the configuration: what leaves for it, and what is there with it and without it."""

from pathlib import Path

import pytest

from agent.intents.model import OfflineModel
from agent.model.chain import Chain
from appliance.config.load import Config, load
from appliance.config.options import RunOptions
from appliance.wiring.agent.agent import about
from appliance.wiring.box import open_box
from tests.agent.home_server import small_home

pytestmark = pytest.mark.shows("X10")

LOCAL = (
    '[voice]\nengine = "espeak"\n[ears]\ndownload = false\n[memory]\nenabled = false\n[model]\nprovider = "offline"\n'
)


def configured(folder: Path, url: str) -> Config:
    file = folder / "nakari.toml"
    file.write_text(f'{LOCAL}[home]\nurl = "{url}"\n')
    return load(file, {"HOME": str(folder), "XDG_STATE_HOME": str(folder), "HOME_ASSISTANT_TOKEN": "sesame"})


@pytest.mark.shows("D18")
def test_where_it_goes_is_told_and_the_token_is_not(tmp_path: Path) -> None:
    config = configured(tmp_path, "https://home.example:8123/")
    assert about(config, Chain.of([OfflineModel()]))().leaving == (
        "what is asked of the house, and without a model what is not understood, to home.example:8123",
    )
    assert "sesame" not in repr(config)
    assert about(configured(tmp_path, ""), Chain.of([OfflineModel()]))().leaving == ()


async def test_with_one_its_server_and_its_loop_are_there_and_without_none(tmp_path: Path) -> None:
    loop = "home: Home Assistant, connected, and what is watched there"
    async with small_home() as server:
        async with open_box(configured(tmp_path, server.url), RunOptions(deaf=True, brief=True)) as box:
            assert loop in box.loops()
            assert "home" in box.agent.servers.owners
            assert "home" in box.agent.describe()
        assert server.logins == 0
    async with open_box(configured(tmp_path, ""), RunOptions(deaf=True, brief=True)) as box:
        assert loop not in box.loops()
        assert not box.agent.servers.owners
        assert "home" not in box.agent.describe()
