"""Corrections of who spoke reach journal, recall, mailbox, graph and context; a voice permits nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.errors import ToolFailed
from agent.event import HOUSEHOLD, Event, speaker_of, utc_now
from agent.growth.said import Said
from agent.tools.memory import memory_tools, provenance
from agent.tools.tool import Call, call_tool, tool
from agent.tools.voices import voice_tool
from appliance.speakers.speakers import Speakers, Voices
from appliance.speakers.store import VoiceStore
from appliance.wiring.memory.state import State, open_state
from memory.history.audit_record import Origin
from memory.json_value import Json
from memory.recall import Question, Recall
from memory.state.images import FOLDER, Images
from memory.state.speakers import CORRECTED, SETTLED, corrections
from memory.vectors.embedding import Handles, NoEmbedder
from tests.agent.mind import Start, TestMind, a_mind
from tests.appliance.speakers.people import ANNA, BEN, CARL, heard
from tests.fakes import ScriptedModel, calls
from tests.memory.graph_looks import SESSION
from tests.memory.history.test_repair import Home
from tests.processes import child

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = SESSION

LIKES = (
    "MERGE (t:Tea {kind: $kind}) SET t.event = $event, t.by = $speaker "
    "MERGE (t)-[:of {by: $speaker, event: $event}]->(:Day)"
)
BY = "MATCH (t:Tea)-[r:of]->() RETURN t.by AS node, r.by AS relationship"


async def awake() -> None:
    """The store of these tests runs."""


class Bound:
    """The tool's voices, once the mind they belong to is there."""

    def __init__(self) -> None:
        self.speakers: list[Speakers] = []

    async def learn(self, name: str, event: Event) -> str:
        return await self.speakers[0].learn(name, event)

    async def who(self, event: Event) -> Json:
        return await self.speakers[0].who(event)

    async def correct(self, name: str, event: Event, of: str) -> str:
        return await self.speakers[0].correct(name, event, of)

    async def forget(self, name: str, event: Event) -> str:
        return await self.speakers[0].forget(name, event)


def state_of(mind: TestMind) -> State:
    database = mind.journal.database
    return State(mind.journal, mind.mailbox, mind.mind.bus, Images(database.path.parent / FOLDER, database))


def the_voices(folder: Path) -> Voices:
    return Voices(VoiceStore(folder))


def write(kind: str) -> tuple[str, str]:
    return "memory_write", f'{{"cypher": "{LIKES}", "params": {{"kind": "{kind}"}}}}'


@pytest.mark.shows("V27")
async def test_a_correction_by_voice_reaches_journal_recall_mailbox_graph_and_context(tmp_path: Path) -> None:
    home, bound, voices = Home(tmp_path / "home"), Bound(), the_voices(tmp_path)
    said = ("reply", '{"text": "Noted."}')
    model = ScriptedModel(
        calls(write("green"), prefix="a"),
        calls(said, prefix="b"),
        calls(("voice", '{"do": "correct", "name": "Ben"}'), prefix="c"),
        calls(said, prefix="d"),
        calls(said, prefix="e"),
    )
    tools = [voice_tool(bound), *memory_tools(home.writer, Handles(NoEmbedder()))]
    async with home.supervised(), a_mind(tmp_path, [model], tools) as mind:
        speakers = Speakers(voices, state_of(mind), home.writer, awake)
        bound.speakers.append(speakers)
        await voices.learn("Anna", heard(voices, "my name is anna", ANNA))
        await voices.learn("Ben", heard(voices, "my name is ben", BEN))
        mistaken = heard(voices, "i like green tea best of all", ANNA)
        assert speaker_of(mistaken) == "Anna"
        await mind.handle(mistaken)
        assert (await home.writer.graph.read(BY)).records == [{"node": "Anna", "relationship": "Anna"}]
        correction = heard(voices, "that was not anna that was me ben", BEN)
        await mind.handle(correction)

        assert (await home.writer.graph.read(BY)).records == [{"node": "Ben", "relationship": "Ben"}]
        noted = await mind.journal.entries(topic=(CORRECTED, SETTLED))
        assert (noted[0].topic, noted[0].event_id) == (CORRECTED, mistaken.id)
        assert await corrections(mind.journal, HOUSEHOLD) == {mistaken.id: "Ben"}
        filed = await mind.mailbox.find(mistaken.id)
        assert filed is not None
        assert speaker_of(filed.event) == "Ben"
        recall = Recall(mind.journal, NoEmbedder())
        found = await recall.find(Question("green tea", "Ben"), HOUSEHOLD)
        assert mistaken.id in [hit.id for hit in found.hits]
        assert mistaken.id not in [hit.id for hit in (await recall.find(Question("green tea", "Anna"), HOUSEHOLD)).hits]
        exchanges = [each async for each in Said(mind.journal, lambda: 1000)._exchanges(HOUSEHOLD, 0)]
        assert next(each.speaker for each in exchanges if each.event_id == mistaken.id) == "Ben"
        context = [message.content for message in model.requests[-1]]
        assert any('"i like green tea best of all" was said by Ben now, not Anna' in each for each in context)
        assert any('speaker="Anna"' in each for each in context), "what was sent before stays, byte for byte"


@asynccontextmanager
async def a_home(folder: Path, said_by: str) -> AsyncIterator[tuple[State, Home, Event]]:
    """A state and a graph in which somebody said something, and the agent kept it."""
    home = Home(folder / "home")
    event = Event("asr_transcript", "i like tea", source="mic", metadata={"speaker": said_by} if said_by else {})
    async with home.supervised(), open_state(folder) as state:
        await state.mailbox.enqueue(event)
        bound = {"kind": "green", **provenance(event, ("event", "speaker"))}
        await home.writer.write(LIKES, bound, Origin(event.id))
        yield state, home, event


@pytest.mark.shows("V27")
async def test_what_nobody_was_known_to_have_said_is_somebody_s_once_they_say_so(tmp_path: Path) -> None:
    async with a_home(tmp_path, "") as (state, home, event):
        speakers = Speakers(the_voices(tmp_path), state, home.writer, awake)
        told = await speakers.correct("Ben", event, event.id)
        assert "not unknown; in the memory 2 values say so" in told
        assert "Ben's voice is not known yet" in told
        assert (await home.writer.graph.read(BY)).records == [{"node": "Ben", "relationship": "Ben"}]
        again = await speakers.correct("Carl", event, event.id)
        assert "was said by Carl now, not Ben" in again
        assert (await home.writer.graph.read(BY)).records == [{"node": "Carl", "relationship": "Carl"}]


@pytest.mark.shows("V27")
async def test_killed_in_the_middle_of_a_correction_it_is_ended_by_the_next_start(tmp_path: Path) -> None:
    async with a_home(tmp_path, "Anna") as (_, home, event):
        pass
    async with child("tests.appliance.speakers.correcting_program", str(tmp_path), event.id) as correcting:
        while await correcting.line() != "noted":
            assert correcting.last  # else it died by itself
        await correcting.kill()
    home = Home(tmp_path / "home")
    async with home.supervised(), open_state(tmp_path) as state:
        filed = await state.mailbox.find(event.id)
        assert filed is not None
        assert speaker_of(filed.event) == "Ben", "the note and the event's own name are one transaction"
        assert (await home.writer.graph.read(BY)).records == [{"node": "Anna", "relationship": "Anna"}]
        speakers = Speakers(the_voices(tmp_path), state, home.writer, awake)
        settled = state.bus.observe(SETTLED)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(speakers.run())
            async for _ in settled:
                break
            running.cancel()
        assert (await home.writer.graph.read(BY)).records == [{"node": "Ben", "relationship": "Ben"}]


async def test_a_correction_needs_something_a_person_of_the_house_said(tmp_path: Path) -> None:
    async with open_state(tmp_path) as state:
        speakers, event = Speakers(the_voices(tmp_path), state, None, awake), Event("asr_transcript", "hello")
        timer, visitor = Event("timer", "tea"), Event("user_text", "hello", owner_key="ab" * 32)
        await state.mailbox.enqueue(timer)
        await state.mailbox.enqueue(visitor)
        for of in ("", "nobody knows this", timer.id, visitor.id):
            with pytest.raises(ToolFailed, match="event's id"):
                await speakers.correct("Ben", event, of)


@pytest.mark.shows("V27")
async def test_a_corrected_voice_is_no_longer_learnt_from_as_the_wrong_one(tmp_path: Path) -> None:
    voices = the_voices(tmp_path)
    async with open_state(tmp_path) as state:
        speakers = Speakers(voices, state, None, awake)
        await voices.learn("Anna", heard(voices, "my name is anna", ANNA))
        await voices.learn("Ben", heard(voices, "my name is ben", BEN))
        mistaken = heard(voices, "i was taken for anna", BEN)
        await state.mailbox.enqueue(mistaken)
        await voices.confirm("Anna", mistaken)
        assert len(voices.store.known()["Anna"]) == 2
        await speakers.correct("ben", mistaken, mistaken.id)
        assert {name: len(each) for name, each in voices.store.known().items()} == {"Anna": 1, "Ben": 2}


@pytest.mark.shows("V27")
async def test_a_voice_is_learnt_only_after_a_yes_and_nothing_is_kept_before(tmp_path: Path) -> None:
    bound, voices = Bound(), the_voices(tmp_path)
    model = ScriptedModel(
        calls(("voice", '{"do": "learn", "name": "Anna"}'), prefix="a"),
        calls(("reply", '{"text": "Welcome, Anna."}'), prefix="b"),
        calls(("reply", '{"text": "Hello."}'), prefix="c"),
    )
    async with a_mind(tmp_path, [model], [voice_tool(bound)], start=Start(now=utc_now)) as mind:
        bound.speakers.append(Speakers(voices, state_of(mind), None, awake))
        await mind.handle(heard(voices, "my name is anna", ANNA))
        assert "keep this voice as Anna's, on this box only" in " ".join(mind.outlet.said)
        assert not voices.store.file.exists()
        yes = heard(voices, "yes please", ANNA)
        late = {"speech_started": yes.metadata["timing"]["speech_started"] + 1e9}  # type: ignore[index,call-overload,operator]
        evidence = {**yes.metadata["evidence"], "confidence": "normal", "score": 0.9, "addressed": "follow_up"}  # type: ignore[dict-item]
        await mind.handle(replace(yes, metadata={**yes.metadata, "evidence": evidence, "timing": late}))
        assert [*voices.store.known()] == ["Anna"]
        assert speaker_of(heard(voices, "and now", ANNA)) == "Anna"


@pytest.mark.shows("V27")
@pytest.mark.parametrize("speaker", ["", "Anna"])
async def test_nothing_is_permitted_because_of_a_voice(tmp_path: Path, speaker: str) -> None:
    """What cannot be undone is asked whoever speaks, and a voice changes neither owner nor rights."""
    done: list[str] = []

    async def unlock() -> str:
        """Unlock the door."""
        done.append("unlocked")
        return "unlocked"

    async def asks(arguments: object) -> str:
        return "unlock the door"

    voices = the_voices(tmp_path)
    if speaker:
        await voices.learn(speaker, heard(voices, "my name is anna", ANNA))
    model = ScriptedModel(calls(("unlock", "{}"), prefix="a"))
    async with a_mind(tmp_path, [model], [tool(unlock, effect="irreversible", asks_first=asks)]) as mind:
        event = heard(voices, "unlock the door", ANNA)
        assert (speaker_of(event), event.owner_key, event.priority) == (speaker, HOUSEHOLD, 10)
        await mind.handle(event)
        assert " ".join(mind.outlet.said) == "I am about to unlock the door. Shall I?"
        assert done == []


async def test_who_speaks_is_told_with_who_is_known_and_a_voice_is_forgotten_by_name(tmp_path: Path) -> None:
    voices = the_voices(tmp_path)
    async with open_state(tmp_path) as state:
        speakers = Speakers(voices, state, None, awake)
        assert await speakers.who(heard(voices, "who am i", ANNA)) == {"speaker": "unknown", "known": []}
        await voices.learn("Anna", heard(voices, "my name is anna", ANNA))
        anna, carl = heard(voices, "who am i", ANNA), heard(voices, "who am i", CARL)
        assert await speakers.who(anna) == {"speaker": "Anna", "known": ["Anna"]}
        assert await speakers.who(carl) == {"speaker": "unknown", "known": ["Anna"]}
        with pytest.raises(ToolFailed, match="not sure"):
            await speakers.forget("", carl)
        with pytest.raises(ToolFailed, match="no voice is known as Dora"):
            await speakers.forget("Dora", anna)
        assert await speakers.forget("", anna) == "Anna's voice is forgotten"
        assert not voices.store.file.exists()


async def test_the_tool_is_the_household_s(tmp_path: Path) -> None:
    visitor = Event("user_text", "who am i", owner_key="ab" * 32)
    with pytest.raises(ToolFailed, match="household"):
        await call_tool(voice_tool(Bound()), '{"do": "who"}', Call("c1", visitor))
