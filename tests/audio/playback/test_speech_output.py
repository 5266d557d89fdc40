import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from audio.errors import AudioError, DeviceUnavailable
from audio.playback.queued_sentence import MOST_PIECES
from audio.playback.speech_output import LOOK_AHEAD, MOST_WAITING, SpeechObserver, SpeechOutput, SpokenSentence
from tests.audio.mouth_fakes import ScriptedPlayer, ScriptedVoice
from tests.loops import together


class Told(SpeechObserver):
    """Everything the mouth tells, in order, on the player's own record."""

    def __init__(self, mouth: SpeechOutput, player: ScriptedPlayer) -> None:
        self.happened = player.happened
        self.heard: list[tuple[int, str, bool]] = []
        self.failures: list[tuple[int, str]] = []
        self.first_sounds: list[float] = []
        self.commit = asyncio.Event()
        """Awaited before each first sample."""
        self.commit.set()
        self.committing = asyncio.Event()
        mouth.observe(self)

    async def sentence_started(self, sentence: SpokenSentence) -> None:
        self.happened.append(f"starting {sentence.number}")
        self.committing.set()
        await self.commit.wait()
        self.happened.append(f"started {sentence.number}")

    def first_sound(self, sentence: SpokenSentence, at: float, made_at: float | None = None) -> None:
        self.first_sounds.append(at)

    async def sentence_ended(self, sentence: SpokenSentence, heard: str, whole: bool) -> None:
        self.happened.append(f"ended {sentence.number}")
        self.heard.append((sentence.number, heard, whole))

    def sentence_failed(self, sentence: SpokenSentence, reason: str) -> None:
        self.failures.append((sentence.number, reason))


@asynccontextmanager
async def speaking(voice: ScriptedVoice, player: ScriptedPlayer) -> AsyncIterator[tuple[SpeechOutput, Told]]:
    mouth = SpeechOutput(voice, player)
    told = Told(mouth, player)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(together(mouth.loops()))
        yield mouth, told
        running.cancel()


async def say(mouth: SpeechOutput, *texts: str) -> None:
    for number, text in enumerate(texts):
        await mouth.say(SpokenSentence("reply", number, text, "en"))


@pytest.mark.shows("V18", "V21")
async def test_sentences_are_committed_played_and_accounted_for_in_order() -> None:
    player = ScriptedPlayer()
    async with speaking(ScriptedVoice(), player) as (mouth, told):
        await say(mouth, "One two.", "Three.")
        await mouth.quiet()

    assert told.happened == [
        "starting 0",
        "started 0",
        "play 1000",
        "play 1001",
        "drain",
        "ended 0",
        "starting 1",
        "started 1",
        "play 1000",
        "drain",
        "ended 1",
    ]
    assert told.heard == [(0, "One two.", True), (1, "Three.", True)]
    assert told.failures == []


@pytest.mark.shows("V21")
async def test_the_next_sentences_are_made_while_one_plays_but_not_all_of_them() -> None:
    voice, player = ScriptedVoice(), ScriptedPlayer(at_once=False)
    async with speaking(voice, player) as (mouth, told):
        await say(mouth, "One.", "Two.", "Three.", "Four.", "Five.")
        await player.draining.wait()
        for _ in range(1 + LOOK_AHEAD):
            await voice.made.acquire()
        for _ in range(20):
            await asyncio.sleep(0)  # a fourth would be asked for now

        assert told.heard == []
        assert [text for text, _ in voice.asked] == ["One.", "Two.", "Three."]
        player.at_once = True
        player.go_on.set()
        await mouth.quiet()

    assert len(told.heard) == 5


@pytest.mark.shows("V17", "V22")
async def test_hush_is_silence_at_once_and_tells_which_words_were_heard() -> None:
    player = ScriptedPlayer(at_once=False, unheard=0.5)
    async with speaking(ScriptedVoice(), player) as (mouth, told):
        await say(mouth, "One **two** three, four five.", "Six.", "Seven.")
        await player.draining.wait()

        mouth.hush()
        assert told.happened[-1] == "stop"
        await mouth.quiet()

    assert told.heard == [(0, "One **two", False), (1, "", False), (2, "", False)]
    assert "starting 1" not in told.happened
    assert told.failures == []


@pytest.mark.shows("V22")
async def test_without_word_timings_what_was_heard_is_estimated_by_the_time() -> None:
    player = ScriptedPlayer(at_once=False, unheard=0.5)
    async with speaking(ScriptedVoice(times_words=False), player) as (mouth, told):
        await say(mouth, "One two three four five.")
        await player.draining.wait()
        mouth.hush()
        await mouth.quiet()

    assert told.heard == [(0, "One two", False)]


async def test_hush_after_the_last_sample_was_heard_takes_nothing_back() -> None:
    player = ScriptedPlayer(at_once=False, unheard=0.0)
    async with speaking(ScriptedVoice(), player) as (mouth, told):
        await say(mouth, "One two.")
        await player.draining.wait()
        mouth.hush()
        await mouth.quiet()

    assert told.heard == [(0, "One two.", True)]


async def test_hush_does_not_wait_for_a_voice_that_is_slow_and_the_mouth_speaks_again() -> None:
    voice, player = ScriptedVoice(hold=asyncio.Event()), ScriptedPlayer()
    async with speaking(voice, player) as (mouth, told):
        await say(mouth, "One.", "Two.")
        await voice.held.wait()
        mouth.hush()
        mouth.hush()
        await mouth.quiet()
        assert voice.given_up == 1
        assert told.heard == [(0, "", False), (1, "", False)]
        assert player.levels == []

        voice.hold = None
        await say(mouth, "Three.")
        await mouth.quiet()

    assert told.heard[-1] == (0, "Three.", True)
    assert [text for text, _ in voice.asked] == ["One.", "Three."]


async def test_hush_ends_a_voice_that_waits_for_the_player() -> None:
    voice, player = ScriptedVoice(), ScriptedPlayer(full=True, unheard=0.2)
    async with speaking(voice, player) as (mouth, told):
        await say(mouth, " ".join(["word"] * 3 * MOST_PIECES))
        while voice.words_said < MOST_PIECES + 2:
            await voice.word_said.wait()
            voice.word_said.clear()
        mouth.hush()
        await mouth.quiet()

    assert voice.given_up == 1
    assert told.heard == [(0, "", False)]


@pytest.mark.shows("V17")
async def test_a_sentence_that_is_hushed_while_it_is_committed_makes_no_sound() -> None:
    player = ScriptedPlayer()
    async with speaking(ScriptedVoice(), player) as (mouth, told):
        told.commit.clear()
        await say(mouth, "One.")
        await told.committing.wait()
        mouth.hush()
        told.commit.set()
        await mouth.quiet()

    assert player.levels == []
    assert told.heard == [(0, "", False)]


@pytest.mark.shows("V19")
async def test_a_sentence_that_no_voice_can_say_is_told_and_the_next_one_is_said() -> None:
    voice, player = ScriptedVoice(failures={0: 0, 1: 2}), ScriptedPlayer()
    async with speaking(voice, player) as (mouth, told):
        await say(mouth, "One two three.", "Four five six.", "Seven.")
        await mouth.quiet()

    reason = "scripted failed as its script says"
    assert told.failures == [(0, reason), (1, reason)]
    assert told.heard == [(0, "", False), (1, "Four five", False), (2, "Seven.", True)]
    assert told.happened.count("started 0") == 1


async def test_what_sounded_of_a_failed_sentence_without_timings_is_not_taken_for_words() -> None:
    voice, player = ScriptedVoice(failures={0: 2}, times_words=False), ScriptedPlayer()
    async with speaking(voice, player) as (mouth, told):
        await say(mouth, "One two three.")
        await mouth.quiet()

    assert told.heard == [(0, "", False)]


@pytest.mark.shows("V3")
@pytest.mark.parametrize("gone", [DeviceUnavailable, AudioError])
async def test_a_loudspeaker_that_goes_away_is_told_and_never_blocks_what_comes_after(gone: type[AudioError]) -> None:
    voice, player = ScriptedVoice(), ScriptedPlayer(fails=gone)
    long = " ".join(["word"] * (MOST_PIECES + 50))
    async with speaking(voice, player) as (mouth, told):
        await say(mouth, long, "Two.")
        await mouth.quiet()
        player.fails = None
        await say(mouth, "Three.")
        await mouth.quiet()

    reason = "the loudspeaker is gone: plug it in"
    assert told.failures == [(0, reason), (1, reason)]
    assert [whole for _, _, whole in told.heard] == [False, False, True]


async def test_markup_is_not_said_and_a_sentence_of_nothing_else_is_over_at_once() -> None:
    voice, player = ScriptedVoice(), ScriptedPlayer()
    async with speaking(voice, player) as (mouth, told):
        await say(mouth, "---", "It is **hot**.")
        await mouth.quiet()

    assert voice.asked == [("It is hot.", "en")]
    assert told.heard == [(0, "---", True), (1, "It is **hot**.", True)]


@pytest.mark.shows("V25")
async def test_the_moment_of_the_first_sound_is_that_of_the_loudspeaker() -> None:
    player = ScriptedPlayer(latency=0.25)
    async with speaking(ScriptedVoice(), player) as (mouth, told):
        before = time.monotonic()
        await say(mouth, "One two three.")
        await mouth.quiet()

    assert len(told.first_sounds) == 1
    assert told.first_sounds[0] - before >= 0.25
    assert told.first_sounds[0] < player.busy_until


async def test_saying_more_than_fits_waits_and_giving_up_to_wait_says_nothing() -> None:
    player = ScriptedPlayer(at_once=False)
    async with speaking(ScriptedVoice(), player) as (mouth, told):
        async with asyncio.TaskGroup() as group:
            saying = group.create_task(say(mouth, *["More."] * 2 * MOST_WAITING))
            for _ in range(20 * MOST_WAITING):
                await asyncio.sleep(0)
            assert not saying.done()
            saying.cancel()
        mouth.hush()
        await mouth.quiet()

    assert MOST_WAITING < len(told.heard) <= MOST_WAITING + LOOK_AHEAD + 2


async def test_nothing_said_is_quiet() -> None:
    async with speaking(ScriptedVoice(), ScriptedPlayer()) as (mouth, told):
        await mouth.quiet()
        mouth.hush()
        await mouth.quiet()

    assert told.heard == []
