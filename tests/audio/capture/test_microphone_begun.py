"""A microphone that records before anybody listens, and before there is an event loop."""

import threading
from contextlib import aclosing

import pytest

from audio.capture.health import DeviceFault, Fault
from audio.capture.input import InputFormat, Taker
from audio.capture.live import LiveMicrophone
from audio.devices.portaudio import SoundThread
from audio.errors import DeviceUnavailable
from tests.audio.capture.test_microphone import ScriptedCard, pcm


class Refusing(ScriptedCard):
    """A card that somebody else uses, at first."""

    refusals = 1

    def begin(self, take: Taker) -> None:
        if self.refusals:
            self.refusals -= 1
            raise DeviceUnavailable("another program is using it")
        super().begin(take)


class Heard:
    """A microphone that was begun, and its card."""

    def __init__(self, card: ScriptedCard | None = None) -> None:
        self.card = card or ScriptedCard(InputFormat("a card", 16000, 1))
        self.thread = SoundThread()
        self.now = 100.0
        self.microphone = LiveMicrophone(self.card, "any", clock=lambda: self.now, thread=self.thread)
        self.microphone.begin()

    def hear_once_it_is_begun(self, value: int) -> None:
        assert self.card.begun.wait(10)
        self.hear(value)

    def settle(self) -> None:
        """Return when the card has done all that it was told."""
        self.thread.call(lambda: None, 10.0)

    def hear(self, *values: int) -> None:
        self.settle()
        self.card.hand_over(*map(pcm, values))

    async def next(self, count: int) -> list[int]:
        async with aclosing(self.microphone.chunks()) as chunks:
            return [int((await anext(chunks)).samples[0]) for _ in range(count)]


@pytest.mark.shows("H9", "V1")
async def test_what_was_heard_before_anybody_listened_comes_first() -> None:
    heard = Heard()
    heard.hear(1, 2, 3)
    assert await heard.next(3) == [1, 2, 3]
    assert heard.card.log == ["open", "begin", "close"]
    assert heard.microphone.dropped_chunks == 0


async def test_it_is_opened_anew_for_whoever_listens_next() -> None:
    heard = Heard()
    heard.hear(1)
    await heard.next(1)
    heard.card.begun.clear()
    later = threading.Thread(target=heard.hear_once_it_is_begun, args=(2,))
    later.start()
    assert await heard.next(1) == [2]
    later.join()
    assert heard.card.log == ["open", "begin", "close"] * 2


async def test_sound_keeps_the_time_at_which_it_was_recorded() -> None:
    heard = Heard()
    heard.hear(1)
    heard.now += 2.0
    async with aclosing(heard.microphone.chunks()) as chunks:
        assert (await anext(chunks)).ended_at == pytest.approx(100.0)


async def test_a_card_that_refused_is_told_of_to_whoever_listens_and_tried_again() -> None:
    heard = Heard(Refusing())
    with pytest.raises(DeviceUnavailable, match="another program"):
        await heard.next(1)
    later = threading.Thread(target=heard.hear_once_it_is_begun, args=(4,))
    later.start()
    assert await heard.next(1) == [4]
    later.join()


async def test_a_card_that_went_while_nobody_listened_is_noticed_at_once() -> None:
    heard = Heard()
    heard.hear(1)
    heard.card.hand_over(b"")
    with pytest.raises(DeviceFault) as raised:
        await heard.next(2)
    assert raised.value.fault is Fault.GONE


def test_a_card_that_nobody_listened_to_is_closed() -> None:
    heard = Heard()
    heard.hear(1)
    heard.microphone.end()
    heard.microphone.end()
    heard.settle()
    assert heard.card.log == ["open", "begin", "close"]


async def test_a_card_that_somebody_listened_to_is_closed_once() -> None:
    heard = Heard()
    heard.hear(1)
    await heard.next(1)
    heard.microphone.end()
    heard.settle()
    assert heard.card.log == ["open", "begin", "close"]
