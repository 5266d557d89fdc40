"""Having it speak: by the door, by the agent's tool and by voice, through a whole box in a scripted room."""

import asyncio
from pathlib import Path

import pytest

from agent.event import HOUSEHOLD, Event
from agent.model.messages import Message
from agent.record import COMMAND, COMMAND_RESULT
from agent.replies import SENTENCE_STARTED
from appliance.cli.talk import speech
from appliance.errors import Exit
from appliance.wiring.box import Box
from memory.json_value import Json
from tests.appliance.door_fakes import Program, visiting
from tests.appliance.wiring.test_box import Room, a_box, taken_up
from tests.fakes import ScriptedModel, calls

ALOUD = "Dinner is ready. Come down, all of you."
SENTENCES = ["Dinner is ready.", "Come down, all of you."]


def replying(arguments: str) -> Message:
    return calls(("reply", arguments))


def said(room: Room) -> list[str]:
    return [sentence for sentence, _ in room.voice.asked]


async def written(program: Program, **request: Json) -> str:
    """Ask at the door; return the answer that is read there, whole."""
    answer = await program.ask({"do": "ask", "stream": False, **request})
    assert answer["event"] == "run_finished", answer
    return str(answer["text"])


@pytest.mark.shows("B12")
@pytest.mark.parametrize(
    ("arguments", "speaks", "heard"),
    [
        (f'{{"text": "{ALOUD}"}}', False, []),
        (f'{{"text": "{ALOUD}", "aloud": true}}', False, SENTENCES),
        (f'{{"aloud": true, "text": "{ALOUD}"}}', False, SENTENCES),
        (f'{{"text": "{ALOUD}"}}', True, SENTENCES),
        (f'{{"text": "{ALOUD}", "aloud": true}}', True, SENTENCES),
    ],
)
async def test_what_was_typed_is_answered_in_writing_and_said_only_when_asked_for(
    tmp_path: Path, arguments: str, speaks: bool, heard: list[str]
) -> None:
    room = Room(model=ScriptedModel(replying(arguments)))
    async with a_box(tmp_path, room) as box, visiting(box.config.socket) as program:
        assert (await written(program, text="Call them to dinner.", speak=speaks)).strip() == ALOUD
        await box.output.speech.quiet()
    assert said(room) == heard


@pytest.mark.shows("B12")
async def test_what_was_said_in_the_room_is_answered_aloud(tmp_path: Path) -> None:
    room = Room(model=ScriptedModel(replying(f'{{"text": "{ALOUD}", "aloud": true}}')))
    async with a_box(tmp_path, room) as box:
        await room.says("nakari say that dinner is ready")
        await taken_up(box, 1)
    assert said(room) == SENTENCES, "once, whatever it asks for"


@pytest.mark.shows("B12", "A24")
async def test_a_text_is_said_once_by_its_id_also_after_a_restart(tmp_path: Path) -> None:
    request: dict[str, Json] = {"do": "say", "text": ALOUD, "id": "call-1"}
    room = Room()
    async with a_box(tmp_path, room) as box, visiting(box.config.socket) as one, visiting(box.config.socket) as two:
        async with asyncio.TaskGroup() as group:
            both = [group.create_task(program.ask(request)) for program in (one, two)]
        assert [task.result() for task in both] == [{"done": "It is said."}] * 2
        assert said(room) == SENTENCES
        await journal_has(box, SENTENCES)
    async with a_box(tmp_path, room) as box, visiting(box.config.socket) as program:
        assert await program.ask(request) == {"done": "It is said."}
        assert said(room) == SENTENCES
        await asyncio.to_thread(speech.say, box.config, "Good night.", None)
        assert said(room) == [*SENTENCES, "Good night."], "the command speaks through the service"


async def journal_has(box: Box, sentences: list[str]) -> None:
    journal = box.input.acting.forgetting.state.journal
    begun = await journal.entries(topic=SENTENCE_STARTED, owner_key=HOUSEHOLD)
    assert [entry.body["words"] for entry in begun] == sentences


@pytest.mark.shows("B12")
async def test_what_could_not_be_said_to_its_end_is_told(tmp_path: Path) -> None:
    room = Room()
    room.voice.failures = {-1: 0}
    async with a_box(tmp_path, room) as box, visiting(box.config.socket) as program:
        answer = await program.ask({"do": "say", "text": ALOUD})
        assert answer["code"] == int(Exit.FAULT)
        assert "not said" in str(answer["error"])
        assert "voice or loudspeaker is missing: `nakari doctor` tells" in str(answer["error"])
        refused = await program.ask({"do": "say", "text": " "})
        assert refused["code"] == int(Exit.USAGE)


@pytest.mark.shows("E19")
async def test_commands_at_the_door_are_envelopes_with_their_own_moment(tmp_path: Path) -> None:
    room = Room()
    room.voice.failures = {-1: 0}
    asked: list[dict[str, Json]] = [
        {"do": "hush", "what": "mute"},
        {"do": "status"},
        {"do": "hush", "what": "unmute"},
        {"do": "model", "use": "offline"},
        {"do": "say", "text": "The secret is in the xylophone."},
        {"do": "settings.set", "name": "mind.tool_calls", "value": 3},
        {"do": "mailbox.withdraw", "id": "nothing"},
        {"do": "forget", "last": 1},
    ]
    async with a_box(tmp_path, room) as box, visiting(box.config.socket) as program:
        commands, results = (aiter(box.household.bus.observe(topic)) for topic in (COMMAND, COMMAND_RESULT))
        seen: list[Event] = []
        for request in asked:
            await program.ask(request)
            if request["do"] != "status":
                seen += [await anext(commands), await anext(results)]
        journal = box.input.acting.forgetting.state.journal
        kept = await journal.entries(topic=(COMMAND, COMMAND_RESULT))
    told = [(each.metadata["command"], each.metadata.get("status")) for each in seen]
    assert told == [
        pair
        for request, status in zip(
            [each for each in asked if each["do"] != "status"],
            ["completed", "completed", "failed", "failed", "completed", "failed", "completed"],
            strict=True,
        )
        for pair in ((request["do"], None), (request["do"], status))
    ]
    for command, result in zip(seen[::2], seen[1::2], strict=True):
        assert (command.type, result.type) == (COMMAND, COMMAND_RESULT)
        assert command.metadata["run_id"] == result.metadata["run_id"] != ""
        assert result.parent_id == command.id
        assert command.created_at <= result.created_at
    assert [entry.id for entry in kept] == [each.id for each in seen], "each of them, in order"
    assert seen[0].metadata["what"] == "mute"
    assert "xylophone" not in str(seen)
