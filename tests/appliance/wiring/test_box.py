"""The box as it is wired, on a scripted room: whoever leaves a line of the wiring out, or mixes two up, fails here."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from agent.event import HOUSEHOLD, TIMER, Event, utc_now
from agent.model.interface import ChatModel, StreamItem
from agent.model.messages import Message, ToolSpec
from appliance.api.caller import Caller
from appliance.api.handler import published
from appliance.api.requests.box import Hush
from appliance.cli.look_after.status import in_words
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.config.sections import EarsSettings, VoiceSettings
from appliance.input.hearing.choose import Hearing, HearingSettings
from appliance.input.names import KnownNames
from appliance.input.not_understood import NOT_UNDERSTOOD
from appliance.input.suppressed import EARS_SUPPRESSED
from appliance.model.catalog import ModelCatalog
from appliance.reflexes.verbs import Order
from appliance.rooms.rooms import Room as OneRoom
from appliance.service import APART, LOOPS, serve
from appliance.wiring.box import Box, open_box
from appliance.wiring.environment import Environment
from audio.echo.self_echo import REASON as OWN_WORDS
from audio.interfaces import AudioSource, Player, VoiceDetector, always_awake
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples
from audio.playback.speech_output import SpeechObserver, SpeechOutput, SpokenSentence
from audio.recognizer.faster_whisper import Hotwords, no_hotwords
from audio.reflexes.addressing import NOT_ADDRESSED
from audio.speech import Transcript, Utterance
from audio.tts.http_speech import OpenAiSpeechSynthesizer, SovitsSynthesizer
from tests.architecture.source import ROOT, sources
from tests.audio.mouth_fakes import ScriptedPlayer, ScriptedVoice
from tests.fakes import ScriptedModel, calls
from tests.memory.state.door import Door, until_reached
from tests.service.process import Household

SILENCE, SPEECH = 20.0, 6000.0
"""RMS of the room's noise, and amplitude of somebody who hums in it: no word can be spotted in that."""

STORY = "Once there was a king who lived in a castle by the sea."


class AnotherRoom(ScriptedPlayer):
    """A loudspeaker whose sound never reaches the microphone: nothing has to be cancelled, nothing is covered."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, 0.0 if name == "busy_until" else value)


@dataclass
class Room(VoiceDetector):
    """Somebody speaks when a test says so; what was said is what the test says it was. One clock for all."""

    player: AnotherRoom = field(default_factory=AnotherRoom)
    voice: ScriptedVoice = field(default_factory=ScriptedVoice)
    model: ScriptedModel = field(default_factory=ScriptedModel)
    words: list[str] = field(default_factory=list)
    """What the recognizer will understand, turn by turn; the last one again and again."""
    understood: Mapping[str, float] = field(default_factory=dict)
    """The recognizer's evidence."""
    expected: Hotwords = no_hotwords
    """What the box has told the recognizer to expect."""
    now: float = 1000.0
    name: str = "a scripted room"
    sends_to = ()
    is_live: bool = True
    dropped_chunks: int = 0
    _waiting: asyncio.Queue[float] = field(default_factory=asyncio.Queue)
    _random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    # AudioSource
    async def chunks(self, is_at_rest: Callable[[], bool] = always_awake) -> AsyncIterator[AudioChunk]:
        while True:
            loudness = await self._waiting.get()
            hum = np.sin(2 * np.pi * 220.0 * np.arange(CHUNK_SAMPLES) / SAMPLE_RATE) * loudness
            samples = (hum + self._random.normal(0.0, SILENCE, CHUNK_SAMPLES)).astype(np.int16)
            began, self.now = self.now, self.now + CHUNK_SECONDS
            yield AudioChunk(samples, began)
            self._waiting.task_done()

    # VoiceDetector
    def probability(self, samples: Samples) -> float:
        return 0.95 if float(np.abs(samples).mean()) > 1000 else 0.01

    def reset(self) -> None:
        """Keep nothing."""

    # Recognizer
    def warm(self) -> None:
        """Be warm."""

    def transcribe(self, utterance: Utterance) -> Transcript:
        said = self.words.pop(0) if len(self.words) > 1 else self.words[0]
        return Transcript(said, "en", self.name, evidence=self.understood)

    async def says(self, words: str, seconds: float = 1.2, then: float = 2.0) -> None:
        """Have somebody say this, and pause; return when the turn is over and known, or the pause that is shorter."""
        self.words = [words]
        for loudness, length in ((SILENCE, 1.0), (SPEECH, seconds), (SILENCE, then)):
            for _ in range(round(length / CHUNK_SECONDS)):
                self._waiting.put_nowait(loudness)
        await self._waiting.join()

    def environment(self) -> Environment:
        async def player(settings: VoiceSettings, options: RunOptions) -> Player:
            return self.player

        async def models(catalog: ModelCatalog, room: object) -> Sequence[ChatModel]:
            return [self.model]

        def source(ears: EarsSettings, options: RunOptions) -> AudioSource:
            return self

        def hearing(settings: HearingSettings, names: Hotwords) -> Hearing:
            self.expected = names
            return Hearing(self)

        def detector(is_plain: Callable[[], bool] = bool) -> VoiceDetector:
            return self

        return Environment(
            source, player, lambda settings, state_folder: self.voice, models, lambda: self.now, detector, hearing
        )


@asynccontextmanager
async def a_box(folder: Path, room: Room, **settings: dict[str, object]) -> AsyncIterator[Box]:
    """Open a box in the room and let all its loops run."""
    home = Household(folder, {"reflexes": {"enabled": True}, **settings})
    config = load(home.write(), {"HOME": str(folder)})
    over = asyncio.Event()

    async def until_over() -> None:
        await over.wait()

    async with (
        open_box(config, RunOptions(), room.environment()) as box,
        asyncio.timeout(120),
        asyncio.TaskGroup() as group,
    ):
        group.create_task(serve(box, until_over), name="the box")
        assert box.input.ears is not None
        await box.input.ears.listener.ready.wait()
        try:
            yield box
        finally:
            over.set()


async def passing() -> None:
    """Let everything else have its turn."""
    await asyncio.sleep(0)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Return once it holds."""
    async with asyncio.timeout(120):
        while not await holds():
            await passing()


async def suppressed(box: Box, reason: str) -> None:
    """Return once the journal has a turn that was held back for this reason."""
    journal = box.input.acting.forgetting.state.journal

    async def is_kept() -> bool:
        return reason in [entry.body["reason"] for entry in await journal.entries(topic=EARS_SUPPRESSED)]

    await until(is_kept)


async def taken_up(box: Box, count: int) -> None:
    """Return once so many events were answered."""

    async def are_done() -> bool:
        return (await box.household.mailbox.counts())["completed"] >= count

    await until(are_done)


def answers(text: str) -> ScriptedModel:
    return ScriptedModel(calls(("reply", f'{{"text": "{text}"}}')))


@pytest.mark.shows("X1", "A8")
async def test_words_reach_the_mind_and_its_answer_the_loudspeaker(tmp_path: Path) -> None:
    room = Room(model=answers(STORY))
    async with a_box(tmp_path, room) as box:
        await room.says("tell me a story please")
        await taken_up(box, 1)
        assert [text for text, _ in room.voice.asked] == [STORY]
        assert room.voice.expected == 1, "it got ready while the model thought"
        assert box.agent.beat.age >= 0.0
        assert box.input.ears is not None
        assert box.input.ears.beat.age > 0.0, "the ears' heart beats with each chunk"


@pytest.mark.shows("V12")
@pytest.mark.parametrize(
    ("language", "told"), [("en", "I only understand simple English"), ("zh", "我只听得懂简单的英语")]
)
async def test_speech_that_was_not_understood_is_told_and_reaches_nobody(
    tmp_path: Path, language: str, told: str
) -> None:
    room = Room(understood={"understood": 0.1})
    async with a_box(tmp_path, room, ears={"language": language}) as box:
        await room.says("for forty three on three")
        await suppressed(box, NOT_UNDERSTOOD)

        async def is_told() -> bool:
            return any(told in text for text, _ in room.voice.asked)

        await until(is_told)
        await room.says("what you call old utah for you")
        assert sum((await box.household.mailbox.counts()).values()) == 0
        assert sum(told in text for text, _ in room.voice.asked) == 1


@pytest.mark.shows("V13")
@pytest.mark.parametrize("has_memory", [True, False])
async def test_the_recognizer_is_given_the_names_of_the_memory(tmp_path: Path, has_memory: bool) -> None:
    room, home = Room(), Household(tmp_path, {"memory": {"enabled": has_memory}})
    keeping = {"ears: names to be expected", "ears: names that the memory is asked for"}
    async with open_box(load(home.write(), {"HOME": str(tmp_path)}), RunOptions(), room.environment()) as box:
        assert isinstance(room.expected, KnownNames)
        assert room.expected("en") == []
        assert set(box.loops()) & keeping == (keeping if has_memory else set())


class SilentAtFirst(ScriptedModel):
    """A model that says nothing until a test lets it."""

    def __init__(self, text: str) -> None:
        super().__init__(calls(("reply", f'{{"text": "{text}"}}')))
        self.speaks = asyncio.Event()

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        await self.speaks.wait()
        async for item in super().stream(messages, tools):
            yield item


@pytest.mark.shows("X1", "A7")
@pytest.mark.parametrize(("kind", "said"), [("sound", []), ("words", ["One moment."])])
async def test_a_model_that_does_not_begin_is_bridged_as_the_configuration_says(
    tmp_path: Path, kind: str, said: list[str]
) -> None:
    model = SilentAtFirst(STORY)
    room = Room(model=model)
    async with a_box(tmp_path, room, voice={"thinking_sign": kind}) as box:
        await room.says("tell me a story please")

        async def is_heard() -> bool:
            return any(each.startswith("play") for each in room.player.happened)

        await until(is_heard)
        assert [text for text, _ in room.voice.asked] == said
        model.speaks.set()
        await taken_up(box, 1)
        assert [text for text, _ in room.voice.asked] == [*said, STORY]


@pytest.mark.shows("X1", "V4")
async def test_its_own_words_are_nobody_s(tmp_path: Path) -> None:
    room = Room(model=answers(STORY))
    room.player.at_once = False
    async with a_box(tmp_path, room) as box:
        await room.says("tell me a story please")
        await room.player.draining.wait()
        await room.says("there was a king who lived in a castle", 2.2)
        await suppressed(box, OWN_WORDS)
        room.player.at_once = True
        room.player.go_on.set()
        await taken_up(box, 1)


class Attic(SpeechOutput):
    """The speech of another room, which says nothing by itself."""

    @property
    def observers(self) -> Sequence[SpeechObserver]:
        return self._observers


@pytest.mark.shows("X1", "V4")
async def test_its_words_in_another_room_are_nobody_s_in_this_one(tmp_path: Path) -> None:
    room, attic = Room(), Attic(ScriptedVoice(), ScriptedPlayer())
    async with a_box(tmp_path, room) as box:
        box.output.rooms.add(OneRoom("attic", attic, box.output.voice, lambda: True, "a device"))
        for observer in attic.observers:
            observer.first_sound(SpokenSentence("a reply", 1, STORY, "en"), room.now)
        await room.says("there was a king who lived in a castle", 2.2)
        await suppressed(box, OWN_WORDS)


@pytest.mark.shows("X1", "V15")
async def test_with_a_wake_word_what_was_said_to_somebody_else_is_held_back(tmp_path: Path) -> None:
    room = Room()
    async with a_box(tmp_path, room, ears={"wake_word": "alexa"}) as box:
        await room.says("what is for dinner tonight")
        await suppressed(box, NOT_ADDRESSED)


@pytest.mark.shows("X1", "V11")
async def test_what_carries_no_evidence_is_held_back(tmp_path: Path) -> None:
    room = Room()
    async with a_box(tmp_path, room) as box:
        await room.says("thank you for watching this video and do not forget to subscribe to the channel", 0.3)
        assert box.input.ears is not None
        counters = box.input.ears.listener.counters

        async def is_counted() -> bool:
            return bool(counters.suppressed)

        await until(is_counted)
        assert counters.transcripts == 0


@pytest.mark.shows("X1", "V16")
async def test_a_reflex_stops_the_reply_and_the_mind_is_told_in_the_next_block(tmp_path: Path) -> None:
    room = Room(model=answers(STORY))
    room.player.at_once = False
    async with a_box(tmp_path, room) as box:
        await room.says("tell me a story please")
        await room.player.draining.wait()
        await room.says("stop", 0.5)
        await taken_up(box, 1)
        assert box.input.reflexes.counts == {"stop": 1}
        assert "stop" in room.player.happened
        room.model.script.append(calls(("reply", '{"text": "Good."}'), prefix="second"))
        room.player.at_once = True
        await room.says("how are you today my friend")
        await taken_up(box, 2)
        assert "<Reflexes>stop" in room.model.requests[-1][-1].content


@pytest.mark.shows("X1", "V16")
async def test_stop_silences_what_is_said_when_no_run_is_in_hand(tmp_path: Path) -> None:
    room = Room(model=answers(STORY))
    async with a_box(tmp_path, room) as box:
        await room.says("tell me a story please")
        await taken_up(box, 1)
        room.player.at_once = False
        await room.says("repeat that", 0.8)
        await room.player.draining.wait()
        assert "stop" not in room.player.happened
        await room.says("stop", 0.5)

        async def is_silenced() -> bool:
            return "stop" in room.player.happened

        await until(is_silenced)


@pytest.mark.shows("X1", "V29")
async def test_muted_it_hears_nothing_and_forgetting_reaches_every_place(tmp_path: Path) -> None:
    room = Room(model=answers("Well."))
    async with a_box(tmp_path, room) as box:
        await room.says("the secret is an apple tree in the garden", 2.2)
        await taken_up(box, 1)
        assert box.output.speech.last_reply
        assert await box.input.forget(1) != ""
        assert not box.output.speech.last_reply
        assert box.household.bus.recent == type(box.household.bus.recent)() or not any(
            "apple" in event.content for event in box.household.bus.recent
        )
        await box.input.reflexes.told(Order("mute"))
        before = (await box.household.mailbox.counts())["pending"]
        await room.says("nobody may hear this sentence at all")
        assert (await box.household.mailbox.counts())["pending"] == before
        assert box.input.acting.verbs.mute.dropped_chunks > 0


@pytest.mark.shows("X1", "V23")
async def test_a_timer_rings_and_a_word_ends_it(tmp_path: Path) -> None:
    room = Room()
    async with a_box(tmp_path, room) as box:
        timer = Event(TIMER, "Timer 'tea' is due.", priority=20, not_before=utc_now(), metadata={"label": "tea"})
        room.model.script.append(calls(("complete_event", '{"summary": "rang"}')))
        await box.household.mailbox.enqueue(timer)
        ringer = box.output.ringer
        assert ringer is not None

        async def rings() -> bool:
            return ringer.is_ringing

        async def is_silent() -> bool:
            return not ringer.is_ringing

        await until(rings)
        await room.says("stop", 0.5)
        await until(is_silent)


@pytest.mark.shows("X1")
async def test_every_long_lived_task_is_one_that_the_service_started(tmp_path: Path) -> None:
    room = Room()
    async with a_box(tmp_path, room, ears={"wake_word": "alexa"}) as box:
        await room.says("what is for dinner tonight")
        await suppressed(box, NOT_ADDRESSED)
        named = set(box.loops())
        assert named <= set(LOOPS), "service.py names every loop on one screen"
        running = {task.get_name() for task in asyncio.all_tasks()} - {asyncio.current_task().get_name()}  # type: ignore[union-attr]
        others = {"the box", "end: until somebody stops us"}
        ended = {"warm: connections and voices, off the start path", "memory: the sentence model, once"}
        sockets = {name for name in running if name.startswith("doors: ")}  # one for each, in the doors' own group
        assert running - others - sockets <= named
        assert len(named - running - ended) <= 4, sorted(named - running)


async def test_what_the_words_bring_back_is_looked_up_before_the_end_of_the_turn(tmp_path: Path) -> None:
    words = "what is for dinner tonight"
    async with a_box(tmp_path, room := Room(), ears={"wake_word": "alexa"}) as box:
        recalled = box.agent.recalled

        async def is_found() -> bool:
            return recalled.is_found(words, HOUSEHOLD)

        await room.says(words, then=0.4)
        await until(is_found)
        assert not await box.input.acting.forgetting.state.journal.entries(topic=EARS_SUPPRESSED), "it may go on"
        await box.input.forget(1)
        assert not await is_found()


async def test_forgetting_reaches_what_a_page_s_words_bring_back_where_there_is_no_microphone(tmp_path: Path) -> None:
    config = load(Household(tmp_path).write(), {"HOME": str(tmp_path)})
    deaf = replace(Room().environment(), source=lambda ears, options: None)
    async with open_box(config, RunOptions(), deaf) as box:
        await box.agent.recalled.look_ahead("where are my keys", HOUSEHOLD)
        assert box.agent.recalled.is_found("where are my keys", HOUSEHOLD)
        await box.input.forget(1)
        assert not box.agent.recalled.is_found("where are my keys", HOUSEHOLD)


def test_the_screen_names_no_loop_that_nobody_hands_over() -> None:
    code = "".join((ROOT / path).read_text(encoding="utf-8") for path in sources() if path.name != "service.py")
    connections = [f"speech: the connection to {each.name}" for each in (SovitsSynthesizer, OpenAiSpeechSynthesizer)]
    assert [name for name in LOOPS if name.partition(": ")[2] not in code and name not in connections] == []
    assert [kind for kind in APART if not any(name.startswith(kind) for name in LOOPS)] == []


@pytest.mark.shows("C15")
async def test_it_is_muted_at_once_while_the_disk_does_not_answer(tmp_path: Path) -> None:
    request, caller = Hush(what="mute"), Caller()
    async with a_box(tmp_path, Room(model=answers(STORY))) as box:
        door = Door()
        async with asyncio.TaskGroup() as group:
            group.create_task(box.household.mailbox._database.write(door))
            await until_reached(door)
            try:
                async with published(box.household.bus, request, caller):
                    told = await box.household.hush(request)
            finally:
                await door.open()
        assert told.startswith("I am muted")
        assert box.input.reflexes.describe()["muted"] is True


async def test_the_status_answers_while_the_disk_does_not(tmp_path: Path) -> None:
    async with a_box(tmp_path, Room(model=answers(STORY))) as box:
        door = Door()
        async with asyncio.TaskGroup() as group:
            group.create_task(box.household.mailbox._database.write(door))
            await until_reached(door)
            try:
                told = await box.household.status()
            finally:
                await door.open()
        rows = [" ".join(row) for row in in_words(told)]
        assert any(row.startswith("state the state database does not answer") for row in rows), rows
        assert any(row.startswith("disk does not answer") for row in rows), rows
        assert not any(row.startswith(("mailbox", "timers")) for row in rows), rows
        assert "unread" not in await box.household.status()
