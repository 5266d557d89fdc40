"""Everything of an owner is erased at the real door of the real box; everything of everybody else is still there."""

import asyncio
import json
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.event import HOUSEHOLD, TIMER, Event
from appliance.api.client import GivenFile, Question, answer_to, follow, tell
from appliance.errors import Exit
from appliance.reflexes.forget import FORGOTTEN
from memory.history.audit import AuditLog
from memory.identity import new_key
from memory.json_value import Json
from tests.agent.files import png
from tests.appliance.door_fakes import visiting
from tests.memory.history.test_erasure import found_in
from tests.service.living import KEEP, KNOWN, Living, living
from tests.service.process import Household
from tests.service.test_visitors import asked

pytestmark = pytest.mark.shows("F12", "F13", "V29")

MEMORY: dict[str, dict[str, object]] = {"memory": {"enabled": True, "embeddings": "off"}}
OURS, ADAS, BENS, CLEOS = "Hildegard", "Wilhelmina", "Rumpelstiltskin", "Scheherazade"
"""Words of the household, of a member, and of two visitors."""


async def lived_in(box: Living, ada: tuple[bytes, str], ben: bytes, cleo: bytes) -> None:
    """Let each tell, keep, set and plan something; take a snapshot of it."""
    box.box.owners.identities.register(f"Ada {ADAS}", ada[1])
    for key, word in ((b"", OURS), (ada[0], ADAS), (ben, BENS), (cleo, CLEOS)):
        await asked(box, f"{KEEP}{word} is here", key)
        await asked(box, f"{KNOWN}? {word} asks", key)
        content: dict[str, Json] = {"do": "enqueue", "type": f"a {word}", "content": word, "metadata": {"of": word}}
        await tell(box.config.socket, content, key=key)
        picture = GivenFile("picture.png", png() + word.encode())
        asking = answer_to(box.config.socket, Question("what is this?", files=[picture]), key)
        assert [piece async for piece in asking]
    await box.asked(f"{KEEP}{OURS} was here again")
    await box.box.owners.set(ada[1], "prompt.persona", f"You are {ADAS}'s.")
    later = datetime.now(UTC) + timedelta(days=1)
    timer = Event(TIMER, f"{ADAS} rings", owner_key=ada[1], session_id=f"{ADAS}@{ada[1]}", not_before=later)
    await box.box.household.mailbox.enqueue(timer)
    await follow(box.config.socket, {"do": "memory.snapshot"}, lambda done, of: None)
    await box.box.household.mailbox.until_idle()
    await box.box.memory.tiers.fill()


def places(state: Path, word: str) -> set[str]:
    return {file.relative_to(state).parts[0] for file in found_in(state, word)}


async def everybody_else_is_there(box: Living, state: Path, cleo: bytes) -> None:
    assert places(state, OURS) >= {"nakari.db", "audit", "snapshots", "graph", "images"}
    assert places(state, CLEOS) >= {"nakari.db", "owners", "images"}
    ours = [row["text"] for row in json.loads(await asked(box, f"{KNOWN}?", b""))["records"]]
    assert ours == [f"{OURS} is here", f"{OURS} was here again"]
    assert json.loads(await asked(box, f"{KNOWN}?", cleo))["records"] == [{"text": f"{CLEOS} is here"}]
    verified = await follow(box.config.socket, {"do": "memory.verify"}, lambda done, of: None)
    assert isinstance(verified, dict)
    assert verified["records"]
    for folder in (state / "owners").iterdir():
        assert list(AuditLog(folder / "audit").verified())


async def test_not_one_word_of_a_member_or_a_visitor_is_left_and_every_other_word_is(tmp_path: Path) -> None:
    (ada, member), (ben, visitor), (cleo, _) = new_key(), new_key(), new_key()
    home, heard = Household(tmp_path, settings=MEMORY), []
    async with living(home) as box:
        await box.ready()
        await lived_in(box, (ada, member), ben, cleo)
        assert places(home.state, ADAS) >= {"nakari.db", "audit", "snapshots", "graph", "identities"}
        assert places(home.state, BENS) >= {"nakari.db", "owners"}
        done = await follow(
            box.config.socket,
            {"do": "forget.owner", "owner": f"Ada {ADAS}"},
            lambda done, of: heard.append((done, of)),
        )
        assert str(done).startswith(f"Everything of Ada {ADAS} is erased: ")
        assert "1 writes into the household's graph; digests stay; backups of before are not reached." in str(done)
        assert heard == sorted(heard)
        assert heard[-1] == (100, 100)
        done = await follow(box.config.socket, {"do": "forget.owner"}, lambda done, of: None, ben)
        assert "a graph of their own and 0 writes" in str(done)
        for word in (ADAS, BENS):
            assert found_in(home.state, word) == []
            assert not any(word in envelope.content for envelope in box.box.household.bus.recent)
        await everybody_else_is_there(box, home.state, cleo)
        journal = box.box.input.acting.forgetting.state.journal
        for key in (member, visitor):
            entries = await journal.entries(owner_key=key)
            assert entries
            assert all([*entry.body] == ["erased"] for entry in entries)
        assert await asked(box, f"{KNOWN}?", ben) == '{"records":[]}', "who comes again begins anew"
        requests = json.dumps([[message.content for message in request] for request in box.model.requests[-2:]])
        assert BENS not in requests
        (persona,) = [row for row in box.box.owners.settings.all(member).items() if row[0] == "prompt.persona"]
        assert persona[1].level == "default"
    for word in (ADAS, BENS):
        assert found_in(home.state, word) == [], "nor when it has ended"


async def test_whose_it_is_decides_who_may_ask(tmp_path: Path) -> None:
    (ada, _), (_, other) = new_key(), new_key()
    async with living(Household(tmp_path)) as box:
        for key, request, sentence, code in (
            (ada, {"owner": other}, "what is another's is for them, or for the household, to erase", Exit.NOT_ALLOWED),
            (b"", {}, "owner: say whose, by the key or a member's name", Exit.USAGE),
            (b"", {"owner": HOUSEHOLD}, "the household's everything is the state folder", Exit.USAGE),
            (b"", {"owner": "Ada"}, "no member is called Ada; `nakari identity list` shows them", Exit.NO_INPUT),
        ):
            with pytest.raises(Exception, match=sentence) as refused:
                await follow(box.config.socket, {"do": "forget.owner", **request}, lambda done, of: None, key)
            assert getattr(refused.value, "code", None) == code
        done = await follow(box.config.socket, {"do": "forget.owner"}, lambda done, of: None, ada)
        assert str(done).startswith("There was nothing of ")


async def test_an_answer_that_is_under_way_is_ended_first(tmp_path: Path) -> None:
    ada, key = new_key()
    home = Household(tmp_path)
    async with living(home) as box, asyncio.TaskGroup() as group:
        box.model.hold[0] = asyncio.Event()

        async def ask() -> str:
            return "".join(
                [str(piece) async for piece in answer_to(box.config.socket, Question(f"I am {ADAS}", "test"), ada)]
            )

        answer = group.create_task(ask())
        while not box.model.requests:  # noqa: ASYNC110  no event tells it
            await asyncio.sleep(0)
        await follow(box.config.socket, {"do": "forget.owner", "owner": key}, lambda done, of: None)
        await answer
        assert found_in(home.state, ADAS) == []
        assert await box.box.household.mailbox.counts(key) == dict.fromkeys(
            ("pending", "suspended", "in_hand", "completed", "dead", "withdrawn"), 0
        )


async def test_who_stops_listening_delays_nothing(tmp_path: Path) -> None:
    ada, key = new_key()
    home = Household(tmp_path)
    async with living(home) as box, AsyncExitStack() as stack:
        await asked_for_small_talk(box, ada)
        program = await stack.enter_async_context(visiting(box.config.socket))
        await program.send({"do": "forget.owner", "owner": key})
        await program.leave()
        erasure = box.box.erasure
        async with asyncio.timeout(120):
            while found_in(home.state, ADAS) or erasure.ordered():  # noqa: ASYNC110  no event tells it
                await asyncio.sleep(0)


async def asked_for_small_talk(box: Living, key: bytes) -> None:
    async for _ in answer_to(box.config.socket, Question(f"I am {ADAS}", "test"), key):
        pass


@pytest.mark.shows("V29")
async def test_what_the_household_wrote_is_forgotten_as_what_it_said_is(tmp_path: Path) -> None:
    ada, _ = new_key()
    home = Household(tmp_path)
    async with living(home) as box:
        await box.asked(f"I am {OURS}", "one")
        await asked_for_small_talk(box, ada)
        await box.asked(f"I am {BENS}", "two")
        assert (await tell(box.config.socket, {"do": "forget"}))["done"] == "Forgotten: “I am Rumpelstiltskin”."
        assert found_in(home.state, BENS) == []
        assert found_in(home.state, OURS)
        assert (await tell(box.config.socket, {"do": "forget", "minutes": 5}))["done"] == "Forgotten: “I am Hildegard”."
        assert found_in(home.state, OURS) == []
        assert found_in(home.state, ADAS), "another owner's stay"
        journal = box.box.input.acting.forgetting.state.journal
        assert [entry.body["events"] for entry in await journal.entries(topic=FORGOTTEN)] == [1, 1]
