"""The microphone's supervision and the news of devices, by scripted faults on a clock of their own."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import numpy as np
import pytest

from appliance.input.devices.devices import FAULTY_PAUSE, SETTLE_SECONDS, Around, DeviceNews, MicrophoneSupervision
from audio.capture.health import DeviceFault, Fault
from audio.capture.live import LiveMicrophone
from audio.devices.hotplug import RETRY_PAUSES
from audio.errors import DeviceUnavailable
from audio.pcm import CHUNK_SAMPLES
from audio.playback.reopening import PlayedSound
from audio.playback.speech_output import SpeechOutput, SpokenSentence
from audio.speech import SpeechAudio
from tests.audio.capture.test_microphone import ScriptedCard
from tests.audio.mouth_fakes import ScriptedPlayer, ScriptedVoice


class Time:
    """A clock that only sleeping moves; it ends what sleeps when its hours are over."""

    def __init__(self, until: float = 60.0) -> None:
        self.now = 0.0
        self.until = until
        self.slept: list[float] = []
        self.looks = 0
        """Times that a look was waited for."""

    async def next_look(self) -> None:
        """Nothing tells of a change for a minute."""
        self.looks += 1
        await self._pass(60.0)

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        await self._pass(seconds)

    async def _pass(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)
        if self.now > self.until:
            raise TimeoutError


def gone() -> DeviceUnavailable:
    return DeviceUnavailable("there is no microphone on this machine; plug one in")


class Scripted:
    """A supervised microphone whose listening follows a script."""

    def __init__(self, *script: Exception | None, until: float = 600.0) -> None:
        self.time = Time(until)
        self.microphone = LiveMicrophone(ScriptedCard(), "a card", clock=self.time.clock)
        self.changes: list[Fault | None] = []
        self.rests = 0
        self.supervision = MicrophoneSupervision(
            self.microphone,
            self.changes.append,
            self.time.next_look,
            PlayedSound(),
            Around(self.time.clock, self.time.sleep),
        )
        self._script = list(script)

    async def listen(self) -> None:
        """An exception is raised at the opening; None listens for a while and then loses the device."""
        step = self._script.pop(0) if self._script else gone()
        if step is not None:
            raise step
        self.microphone.trust()
        self.supervision.chunk()
        raise DeviceFault(Fault.GONE, "the microphone 'a card' went away")

    def rest(self) -> None:
        self.rests += 1

    async def run(self) -> None:
        with pytest.raises(TimeoutError):
            await self.supervision.keep(self.listen, self.rest)


@pytest.mark.shows("V3")
async def test_it_is_opened_again_for_ever_and_told_once() -> None:
    scripted = Scripted(None)
    await scripted.run()
    assert scripted.time.slept[: len(RETRY_PAUSES)] == list(RETRY_PAUSES)
    assert len(scripted.time.slept) - len(RETRY_PAUSES) == scripted.time.looks > 5, "then only on the system's word"
    assert scripted.changes == [Fault.GONE]
    assert scripted.rests == len(scripted.time.slept), "the heart beat rests whenever nobody listens"
    assert scripted.supervision.describe() == {"state": "gone", "times_lost": 1, "reason": str(gone())}


@pytest.mark.shows("V3")
async def test_once_it_is_back_that_is_told_and_the_next_loss_is_answered_at_once() -> None:
    scripted = Scripted(None, gone(), gone(), None, None)
    await scripted.run()
    assert scripted.changes == [Fault.GONE, None, Fault.GONE, None, Fault.GONE]
    assert scripted.time.slept[:6] == [*RETRY_PAUSES[:3], RETRY_PAUSES[0], RETRY_PAUSES[0], RETRY_PAUSES[1]]
    assert scripted.supervision.describe()["times_lost"] == 3


async def test_one_that_never_was_there_is_awaited_in_silence() -> None:
    scripted = Scripted()
    scripted.supervision.absent("there is none")
    assert scripted.supervision.is_awaited
    await scripted.run()
    assert len(scripted.time.slept) == scripted.time.looks > 5, "it is never looked for without a word"
    assert scripted.changes == []
    scripted.microphone.trust()
    scripted.supervision.chunk()
    assert scripted.changes == [None]
    assert not scripted.supervision.is_awaited


@pytest.mark.shows("V3")
async def test_one_that_can_be_opened_and_gives_no_sound_is_tried_again_without_a_word() -> None:
    scripted = Scripted(*[DeviceFault(Fault.ZEROS, "the microphone gives nothing but zeros")] * 1000)
    await scripted.run()
    assert set(scripted.time.slept[len(RETRY_PAUSES) :]) == {FAULTY_PAUSE}
    assert scripted.time.looks == 0


async def test_a_recording_is_listened_to_once() -> None:
    supervision, heard = MicrophoneSupervision(None, lambda fault: None, Time().next_look), []

    async def listen() -> None:
        heard.append("it")

    await supervision.keep(listen, lambda: None)
    await supervision.watch()
    assert heard == ["it"]
    assert supervision.first_heard.is_set()
    assert supervision.describe() == {"state": "open", "times_lost": 0}


def tone(value: int) -> bytes:
    return np.full(CHUNK_SAMPLES, value, np.int16).tobytes()


async def watched(card: ScriptedCard, answer: bool | None, *, zeros: bool = True) -> list[str]:
    """Return what an open microphone raises when it hears zeros (or sound), and the server answers so."""
    time, asked = Time(until=20.0), 0
    microphone = LiveMicrophone(card, "a card")

    async def records_itself() -> bool | None:
        nonlocal asked
        asked += 1
        return answer

    supervision = MicrophoneSupervision(
        microphone,
        lambda fault: None,
        time.next_look,
        PlayedSound(),
        Around(time.clock, time.sleep, records_itself),
    )
    raised: list[str] = []

    async def listen() -> None:
        try:
            async with aclosing(microphone.chunks()) as chunks:
                for number in range(80):
                    await anext(chunks)
                    supervision.chunk()
                    if number == 69:
                        heard.set()
        except DeviceFault as error:
            raised.append(error.fault.value)

    heard = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        listening = group.create_task(listen())
        assert await asyncio.to_thread(card.begun.wait, 10)
        card.hand_over(*[tone(0 if zeros else 5)] * 70)
        await heard.wait()
        with pytest.raises(TimeoutError):
            await supervision.watch()
        card.hand_over(*[tone(0)] * 20)
        await listening
    return [*raised, f"asked {asked}"]


@pytest.mark.shows("V3", "V4")
async def test_zeros_are_asked_about_and_the_loudspeakers_monitor_is_given_up() -> None:
    assert await watched(ScriptedCard(), True) == ["monitor", "asked 1"]
    assert await watched(ScriptedCard(), False) == ["asked 1"]
    assert await watched(ScriptedCard(), None) == ["asked 1"]


async def test_sound_that_is_not_its_own_is_not_asked_about() -> None:
    assert await watched(ScriptedCard(), True, zeros=False) == ["asked 0"]


class RecordingMouth(SpeechOutput):
    """A mouth whose announcements are heard at once, unless it is in the middle of a reply."""

    def __init__(self, said: list[str]) -> None:
        super().__init__(ScriptedVoice(), ScriptedPlayer())
        self._said = said
        self.is_free = asyncio.Event()
        self.is_free.set()

    async def announce(
        self, sound: SpeechAudio, sentence: SpokenSentence, unless: Callable[[], bool] | None = None
    ) -> bool:
        assert len(sound.samples)
        await self.is_free.wait()
        if unless is not None and unless():
            return False
        self._said.append(sentence.text)
        return True


class Household:
    """News, a loudspeaker that is there or not, and what was said."""

    def __init__(self, language: str = "en") -> None:
        self.is_loud = True
        self.said: list[str] = []
        self.slept: list[float] = []
        self.mouth = RecordingMouth(self.said)
        self.news = DeviceNews(self.mouth, lambda: self.is_loud, language, self._lull, self._sleep)

    async def _lull(self) -> None:
        """Nobody speaks."""

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def loudspeaker(self, is_there: bool) -> None:
        self.is_loud = is_there
        self.news.loudspeaker(is_there)

    async def after(self, *steps: Callable[[], None]) -> list[str]:
        """Return what is said when these things happen, with time between them."""
        async with asyncio.TaskGroup() as group:
            running = group.create_task(self.news.run())
            for step in steps:
                step()
                for _ in range(8):
                    await asyncio.sleep(0)
            running.cancel()
        return self.said


@pytest.mark.shows("V3")
async def test_a_lost_microphone_is_told_once_and_its_return_too() -> None:
    home = Household()
    said = await home.after(
        lambda: home.news.microphone(Fault.GONE),
        lambda: home.news.microphone(Fault.STALLED),
        lambda: home.news.microphone(None),
    )
    assert said == ["My microphone is gone. I cannot hear you.", "My microphone is back."]
    assert set(home.slept) == {SETTLE_SECONDS}


@pytest.mark.shows("V3")
async def test_what_is_back_before_a_reply_has_ended_was_never_gone() -> None:
    home = Household()
    said = await home.after(
        home.mouth.is_free.clear,
        lambda: home.news.microphone(Fault.GONE),
        lambda: home.news.microphone(None),
        home.mouth.is_free.set,
    )
    assert said == []


@pytest.mark.shows("V3")
async def test_in_chinese_too() -> None:
    home = Household("zh")
    said = await home.after(lambda: home.news.microphone(Fault.ZEROS), lambda: home.news.microphone(None))
    assert said == ["我的麦克风没有任何声音，可能被静音了。", "我的麦克风恢复了。"]


@pytest.mark.shows("V3")
async def test_what_nobody_could_hear_is_told_once_the_loudspeaker_is_back() -> None:
    home = Household()
    said = await home.after(
        lambda: home.loudspeaker(is_there=False),
        lambda: home.news.microphone(Fault.STALLED),
        lambda: home.news.microphone(None),
        lambda: home.loudspeaker(is_there=True),
    )
    assert said == ["My microphone and my loudspeaker are back."]


async def test_the_loudspeaker_alone() -> None:
    home = Household()
    said = await home.after(lambda: home.loudspeaker(is_there=False), lambda: home.loudspeaker(is_there=True))
    assert said == ["My loudspeaker is back."]


async def test_a_microphone_that_is_still_gone_when_the_loudspeaker_is_back() -> None:
    home = Household()
    said = await home.after(
        lambda: home.loudspeaker(is_there=False),
        lambda: home.news.microphone(Fault.MONITOR),
        lambda: home.loudspeaker(is_there=True),
        lambda: home.news.microphone(None),
    )
    assert said == ["My microphone is gone: I hear only my own loudspeaker.", "My microphone is back."]


async def test_one_that_was_missing_at_the_start_is_told_only_when_it_comes() -> None:
    home = Household()
    home.news.absent(Fault.GONE)
    assert await home.after(lambda: home.news.microphone(None)) == ["My microphone is back."]


async def test_a_moment_without_is_not_worth_a_word() -> None:
    home = Household()

    def blink() -> None:
        home.news.microphone(Fault.GONE)
        home.news.microphone(None)

    assert await home.after(blink) == []
