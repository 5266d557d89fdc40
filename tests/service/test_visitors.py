"""The whole box: whoever proves a key at its door has a graph of their own, a member the household's."""

import json
from pathlib import Path

import pytest

from appliance.api.client import Question, answer_to
from memory.identity import new_key
from tests.service.living import KEEP, KNOWN, Living, living
from tests.service.process import Household


async def asked(box: Living, words: str, key: bytes) -> str:
    """Type something, as whoever has this private key; return what the tool said that it used for it."""
    answer = [str(piece) async for piece in answer_to(box.config.socket, Question(words, "test"), key)]
    assert "".join(answer).strip() == "There you are."
    return box.model.observed[-1]


@pytest.mark.shows("F12", "F13", "G4")
async def test_two_visitors_a_member_and_the_household_talk_to_one_box(tmp_path: Path) -> None:
    (ada, member), (ben, _), (cleo, _) = new_key(), new_key(), new_key()
    async with living(Household(tmp_path, settings={"memory": {"enabled": True, "embeddings": "off"}})) as box:
        await box.ready()
        box.box.owners.identities.register("Ada", member)
        for key, fact in ((b"", "the tea is green"), (ben, "I am Ben"), (cleo, "I am Cleo"), (ada, "Ada was here")):
            assert "error" not in await asked(box, f"{KEEP}{fact}", key)
        knows = {key: json.loads(await asked(box, f"{KNOWN}?", key))["records"] for key in (b"", ada, ben, cleo)}
        ours = [{"text": "Ada was here"}, {"text": "the tea is green"}]
        assert knows == {b"": ours, ada: ours, ben: [{"text": "I am Ben"}], cleo: [{"text": "I am Cleo"}]}
        assert box.model.tools == [box.model.tools[0]] * len(box.model.tools), "the list of tools is everybody's"
        assert (await box.box.graph.describe())["visitors"] == {"graphs": 2, "most": 16, "running": 2}
