"""The sentences of a mind elsewhere: each spoken once, old and late ones not, and silence is obeyed here at once."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.event import Event
from appliance.machines.wire import Sentence, Stop
from appliance.reflexes.verbs import Order
from tests.appliance.machines.ears_box import EarsBox, live
from tests.engine_fake import FakeEngine, FakeServer
from tests.room.virtual_time import passed

STORY = ["Once there was a king here.", "He had three daughters.", "They lived by the sea."]


def said(number: int, text: str, epoch: int = 1, until: str = "") -> Sentence:
    return Sentence(epoch, "q", "r", number, text, "en", until)


@pytest.mark.shows("H10")
def test_a_sentence_that_is_sent_again_and_doubled_is_spoken_once(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        ears.mind_comes()
        await ears.there()
        assert isinstance(ears.mind.engine, FakeEngine)
        ears.mind.engine.link.double = 3
        event = Event("asr_transcript", "a story", id="q")
        await ears.mind.say(event, STORY, "r")
        await ears.mind.say(event, STORY, "r")
        assert ears.heard == STORY
        assert ears.mind.heard["q"] == STORY * 2, "the second time it is told what was heard the first time"

    live(tmp_path, story)


@pytest.mark.shows("H10")
def test_a_sentence_that_was_begun_before_a_death_is_not_begun_again(tmp_path: Path) -> None:
    server, begin = FakeServer(), datetime.now(UTC)

    async def dies(ears: EarsBox) -> None:
        ears.mind_comes()
        await ears.there()
        for number, text in enumerate(STORY[:2], 1):
            await ears.mind.send(said(number, text))

    async def after(ears: EarsBox) -> None:
        ears.mind_comes()
        await ears.there()
        await ears.mind.say(Event("asr_transcript", "a story", id="q"), STORY, "r")
        assert ears.heard == STORY[2:]

    live(tmp_path, dies, server, begin)
    live(tmp_path, after, server, begin + timedelta(minutes=1))


@pytest.mark.shows("H10")
def test_late_sentences_and_those_of_an_older_mind_are_not_spoken_but_told_of(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        ears.mind.epoch = 3
        ears.mind_comes()
        await ears.there()
        old = await ears.mind.send(said(1, "I am stale.", epoch=2))
        gone = (ears.now() - timedelta(seconds=1)).isoformat()
        late = await ears.mind.send(said(2, "I am late.", epoch=3, until=gone))
        soon = (ears.now() + timedelta(seconds=60)).isoformat()
        good = await ears.mind.send(said(3, "I am in time.", epoch=3, until=soon))
        assert (old.state, late.state, good.state) == ("old", "late", "heard")
        assert ears.heard == ["I am in time."]

    live(tmp_path, story)


@pytest.mark.shows("H10")
def test_stop_silences_at_once_without_the_mind_which_is_told_what_was_heard(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        ears.mind.answer = lambda event: STORY
        ears.mind_comes()
        await ears.there()
        event = await ears.says("tell me a story")
        await ears.until(lambda: ears.box.output.speech.current is not None)
        await passed(0.5)
        ears.engine.link.cut()
        assert ears.box.input.acting.verbs.act(Order("stop")) == "stopped"
        await passed(0.2)
        assert ears.box.output.speech.current is None
        ears.engine.link.mend()
        await ears.until(lambda: ears.mind.interrupts)
        assert [each.event_id for each in ears.mind.interrupts] == [""]
        await passed(30)
        assert len(ears.heard) <= 1, "nothing more of it is said, whatever the mind still sends"
        states = [
            await ears.mind.send(Sentence(1, event.id, f"reply-{event.id}", n, STORY[n - 1], "en")) for n in (2, 3)
        ]
        assert [each.state for each in states] == ["dropped", "dropped"]

    live(tmp_path, story)


@pytest.mark.shows("H10")
def test_the_mind_can_silence_the_ears(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        ears.mind.answer = lambda event: STORY
        ears.mind_comes()
        await ears.there()
        await ears.says("tell me a story")
        await ears.until(lambda: ears.box.output.speech.current is not None)
        await ears.mind.order(Stop(1))
        await passed(1)
        assert ears.box.output.speech.current is None
        assert len(ears.heard) <= 1

    live(tmp_path, story)


@pytest.mark.shows("H10")
def test_its_own_remote_words_are_known_as_its_own(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        from tests.appliance.rooms.home import turn_of

        ears.mind_comes()
        await ears.there()
        clock = ears.box.input.intake.clock
        began = clock()
        await ears.mind.send(said(1, "The weather will be fine tomorrow morning."))
        heard = turn_of("the weather will be fine tomorrow morning", began, clock())
        assert ears.box.output.own_words(heard) != ""
        assert [each.text for each in ears.box.output.speech.last_reply] == [
            "The weather will be fine tomorrow morning."
        ]

    live(tmp_path, story)
