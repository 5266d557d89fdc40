"""Barge-in as little stories: somebody speaks over a reply."""

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.echo.duplex import Mode
from audio.pcm import CHUNK_SECONDS
from audio.turns.barge_in import (
    CALM_SECONDS,
    DUCKED_SPEECH_SECONDS,
    NOISE_SECONDS,
    PATIENCE_SECONDS,
    PEEK_AFTER_SECONDS,
    PEEK_EVERY_SECONDS,
    Action,
    Actions,
    BargeIn,
    Commit,
    Duck,
    Pause,
    Peek,
    Resume,
    is_backchannel,
)
from tests.audio.heard import heard


def speaking(mode: Mode = Mode.FULL) -> BargeIn:
    """A reply that has been spoken since 10.0."""
    machine = BargeIn(mode)
    assert machine.reply_began(10.0) == ()
    return machine


def until(machine: BargeIn, end: float) -> list[tuple[float, Action]]:
    """Let time pass, and tell it at every moment that is due."""
    happened: list[tuple[float, Action]] = []
    while (due := machine.due) is not None and due <= end:
        happened += [(round(due, 3), action) for action in machine.time_passed(due)]
    return happened


@pytest.mark.shows("V17")
def test_a_word_ends_the_reply() -> None:
    machine = speaking()
    assert machine.speech_started(12.0, 12.1) == (Pause(),)
    assert machine.words_so_far(heard("no wait, I meant", 12.0, 13.0)) == (), "it is quiet already"
    assert machine.due is None, "and waits for the end, however long that takes"
    assert machine.turn_ended(heard("no wait, I meant Berlin", 12.0, 16.0)) == (Commit("no wait, I meant Berlin"),)
    assert machine.due is None
    assert machine.reply_ended() == ()


@pytest.mark.shows("V17", "V11")
def test_words_so_far_that_turn_out_to_be_nothing_let_it_go_on() -> None:
    machine = speaking()
    machine.speech_started(12.0, 12.1)
    assert machine.words_so_far(heard("thank you for watching", 12.0, 13.0)) == ()
    assert until(machine, 18.0) == []
    assert machine.turn_ended(None) == (Resume(),)
    assert machine.speech_started(19.0, 19.1) == (Pause(),)
    assert until(machine, 22.0)[-1][1] == Resume(), "the next time two seconds count again"


@pytest.mark.shows("V17")
@pytest.mark.parametrize("mode", [Mode.HALF, Mode.DUCKED])
def test_words_so_far_quiet_it_in_every_mode(mode: Mode) -> None:
    machine = BargeIn(mode)
    machine.reply_began(10.0)
    machine.speech_started(12.0, 12.1)
    assert machine.words_so_far(heard("what time", 12.0, 12.8)) == (Pause(),)
    assert machine.turn_ended(heard("what time is it", 12.0, 13.0)) == (Commit("what time is it"),)


@pytest.mark.shows("V17")
def test_after_a_cough_it_goes_on() -> None:
    machine = speaking()
    assert machine.speech_started(12.0, 12.1) == (Pause(),)
    assert machine.turn_ended(None) == (Resume(),)
    assert machine.speech_started(14.0, 14.1) == (Pause(),), "and the next time it is the same"


@pytest.mark.shows("V17")
def test_what_nobody_gets_lets_it_go_on() -> None:
    """A guard held the words back: told as a turn without words."""
    machine = speaking()
    machine.speech_started(12.0, 12.1)
    assert machine.turn_ended(None) == (Resume(),)


@pytest.mark.shows("V17")
def test_noise_that_does_not_end_keeps_it_quiet_for_two_seconds_and_no_longer() -> None:
    machine = speaking()
    machine.speech_started(12.0, 12.1)
    happened = until(machine, 30.0)
    assert happened[-1] == (12.1 + PATIENCE_SECONDS, Resume())
    assert machine.turn_ended(None) == (), "it went on long ago"


@pytest.mark.shows("V17")
def test_while_somebody_talks_on_the_words_are_asked_for_before_the_turn_ends() -> None:
    machine = speaking()
    machine.speech_started(12.0, 12.1)
    first = round(12.1 + PEEK_AFTER_SECONDS, 3)
    assert until(machine, 13.5) == [(first, Peek()), (round(first + PEEK_EVERY_SECONDS, 3), Peek())]
    assert machine.words_so_far(heard("", 12.0, 13.4)) == (), "nothing understood yet"
    assert machine.words_so_far(heard("well", 12.0, 13.6)) == ()
    assert until(machine, 20.0) == [], "who says something is listened to until he has ended"
    assert machine.turn_ended(heard("well then", 12.0, 20.0)) == (Commit("well then"),)


@pytest.mark.shows("V17")
@pytest.mark.parametrize(("words", "language"), [("Mhm.", "en"), ("ok", "en"), ("嗯", "zh"), ("对对", "zh")])
def test_company_does_not_end_a_reply(words: str, language: str) -> None:
    machine = speaking()
    machine.speech_started(12.0, 12.1)
    assert machine.words_so_far(heard(words, 12.0, 12.3, language)) == (), "there may be more to come"
    assert machine.turn_ended(heard(words, 12.0, 12.3, language)) == (Resume(),)


@pytest.mark.shows("V17")
def test_company_that_turns_into_a_question_does() -> None:
    machine = speaking()
    machine.speech_started(12.0, 12.1)
    assert machine.words_so_far(heard("ok", 12.0, 12.3)) == ()
    assert machine.turn_ended(heard("ok but what about tomorrow", 12.0, 14.0)) == (
        Commit("ok but what about tomorrow"),
    )


@pytest.mark.shows("V17")
def test_words_that_come_late_still_end_the_reply() -> None:
    machine = speaking()
    machine.speech_started(12.0, 12.1)
    assert until(machine, 15.0)[-1][1] == Resume()
    assert machine.turn_ended(heard("what time is it", 12.0, 14.0)) == (Commit("what time is it"),)


@pytest.mark.shows("V17")
def test_a_turn_ends_one_reply_only() -> None:
    machine = speaking()
    machine.speech_started(12.0, 12.1)
    assert machine.words_so_far(heard("stop that and", 12.0, 13.0)) == ()
    assert machine.words_so_far(heard("stop that and tell me", 12.0, 14.0)) == ()
    ended = machine.turn_ended(heard("stop that and tell me the time", 12.0, 14.5))
    assert ended == (Commit("stop that and tell me the time"),)
    assert machine.turn_ended(heard("stop that and tell me the time", 12.0, 14.5)) == ()
    assert machine.speech_started(15.0, 15.1) == (Pause(),), "the next turn is another matter"


def test_while_it_says_nothing_nothing_happens() -> None:
    machine = BargeIn(Mode.FULL)
    assert machine.speech_started(12.0, 12.1) == ()
    assert machine.words_so_far(heard("hello", 12.0, 12.5)) == ()
    assert machine.turn_ended(heard("hello there", 12.0, 12.8)) == ()
    assert machine.due is None


def test_a_question_whose_words_come_after_the_answer_to_the_one_before_began_does_not_end_it() -> None:
    machine = BargeIn(Mode.FULL)
    machine.speech_started(8.0, 8.1)
    machine.reply_began(10.0)
    machine.time_passed(10.0 + PATIENCE_SECONDS)
    assert machine.turn_ended(heard("and what day is it", 8.0, 9.5)) == ()


@pytest.mark.shows("V17")
def test_it_does_not_begin_while_somebody_speaks() -> None:
    machine = BargeIn(Mode.FULL)
    machine.speech_started(9.0, 9.1)
    assert machine.reply_began(10.0) == (Pause(),)
    assert machine.turn_ended(heard("in Berlin, I mean", 9.0, 11.0)) == (Commit("in Berlin, I mean"),)


def test_it_begins_after_all_when_it_was_nothing() -> None:
    machine = BargeIn(Mode.FULL)
    machine.speech_started(9.0, 9.1)
    assert machine.reply_began(10.0) == (Pause(),)
    assert until(machine, 30.0)[-1] == (10.0 + PATIENCE_SECONDS, Resume())


def test_a_second_cough_that_comes_before_the_first_is_known_to_be_one_keeps_it_quiet() -> None:
    machine = speaking()
    machine.speech_started(12.0, 12.1)
    assert machine.speech_started(13.0, 13.1) == (), "it is quiet already"
    assert machine.turn_ended(heard("hm", 12.0, 12.4)) == (), "the second one goes on"
    assert machine.turn_ended(None) == (Resume(),)


def test_a_reply_that_ends_while_it_is_quiet_lets_the_next_one_begin() -> None:
    machine = speaking()
    machine.speech_started(12.0, 12.1)
    assert machine.reply_ended() == (Resume(),)
    assert machine.due is None
    assert not machine.is_over_reply


@pytest.mark.shows("V17")
def test_ducked_it_is_quieter_first_and_silent_when_the_speech_goes_on() -> None:
    machine = speaking(Mode.DUCKED)
    assert machine.speech_started(12.0, 12.1) == (Duck(),)
    chunks = [machine.chunk_came(0.9, 12.2) for _ in range(round(DUCKED_SPEECH_SECONDS / CHUNK_SECONDS) + 1)]
    assert [action for actions in chunks for action in actions] == [Pause()]
    assert chunks[-1] == (Pause(),)
    assert machine.chunk_came(0.9, 12.5) == ()
    assert machine.turn_ended(None) == (Resume(),)


@pytest.mark.shows("V17")
def test_ducked_what_was_left_of_itself_never_pauses_it() -> None:
    machine = speaking(Mode.DUCKED)
    assert machine.speech_started(12.0, 12.1) == (Duck(),)
    assert not any(machine.chunk_came(0.2, 12.2) for _ in range(100))
    assert machine.turn_ended(None) == (Resume(),)


@pytest.mark.shows("V4", "V17")
@pytest.mark.parametrize("mode", [Mode.FULL, Mode.DUCKED])
def test_doubtful_speech_counts_as_far_as_its_own_voice_does_not_explain_it(mode: Mode) -> None:
    needed = DUCKED_SPEECH_SECONDS / CHUNK_SECONDS
    for explained, chunks in ((0.0, needed), (0.75, 4 * needed)):
        machine = speaking(mode)
        machine.speech_started(12.0, 12.1, is_doubtful=True)
        assert not any(machine.chunk_came(0.9, 12.2, explained) for _ in range(ceil(chunks) - 1))
        assert Pause() in machine.chunk_came(0.9, 12.2, explained) + machine.chunk_came(0.9, 12.2, explained)
    machine = speaking(mode)
    machine.speech_started(12.0, 12.1, is_doubtful=True)
    assert not any(machine.chunk_came(0.9, 12.2, 1.0) for _ in range(100))


@pytest.mark.shows("V17")
def test_in_half_duplex_it_is_never_paused_but_words_from_a_gap_end_the_reply() -> None:
    machine = speaking(Mode.HALF)
    assert machine.speech_started(12.0, 12.1) == ()
    assert machine.due is None
    assert machine.turn_ended(heard("stop the music", 12.0, 13.0)) == (Commit("stop the music"),)


def test_a_change_of_mode_holds_from_the_next_speech_on() -> None:
    machine = speaking(Mode.FULL)
    machine.speech_started(12.0, 12.1)
    machine.mode = Mode.HALF
    assert machine.turn_ended(None) == (Resume(),)
    assert machine.speech_started(14.0, 14.1) == ()


@pytest.mark.shows("V17")
def test_a_sudden_sound_quiets_it_before_it_is_known_to_be_speech() -> None:
    machine = speaking()
    assert machine.startled(12.0) == (Pause(),)
    assert machine.speech_started(12.0, 12.3) == (), "it is quiet already"
    assert until(machine, 13.0) == [(13.0, Peek())]
    assert machine.turn_ended(heard("what time is it", 12.0, 13.0)) == (Commit("what time is it"),)


@pytest.mark.shows("V17")
def test_after_a_sudden_sound_that_was_no_speech_it_goes_on_and_is_calm() -> None:
    machine = speaking()
    assert machine.startled(12.0) == (Pause(),)
    assert until(machine, 20.0) == [(12.0 + NOISE_SECONDS, Resume())]
    assert machine.startled(13.0) == (), "not so soon again"
    after = 12.0 + NOISE_SECONDS + CALM_SECONDS
    assert machine.startled(after) == (Pause(),)
    until(machine, after + NOISE_SECONDS)
    assert machine.startled(after + CALM_SECONDS + 1.0) == (), "twice as long"
    assert machine.speech_started(after + 2.0, after + 2.1) == (Pause(),), "speech is another matter"


@pytest.mark.shows("V17")
def test_what_was_too_short_to_be_words_may_still_be_one_that_is_spotted() -> None:
    machine = speaking()
    assert machine.startled(12.0) == (Pause(),)
    assert machine.speech_started(12.0, 12.3) == (), "it is quiet already"
    assert machine.turn_ended(None) == (), "it was too short"
    assert until(machine, 20.0) == [(12.0 + NOISE_SECONDS, Resume())]
    assert machine.startled(13.5) == (Pause(),), "it was a voice: the next one counts"


def test_words_that_are_none_late_in_a_turn_let_it_go_on_at_once() -> None:
    machine = speaking()
    machine.startled(12.0)
    machine.speech_started(12.0, 12.3)
    assert machine.turn_ended(None) == ()
    assert machine.time_passed(12.0 + NOISE_SECONDS + 1.0) == (Resume(),)


@pytest.mark.shows("V17")
@pytest.mark.parametrize("mode", [Mode.DUCKED, Mode.HALF])
def test_with_more_residual_echo_nothing_startles_it(mode: Mode) -> None:
    assert speaking(mode).startled(12.0) == ()


@pytest.mark.shows("V4", "V17")
def test_a_doubtful_beginning_quiets_it_when_speech_goes_on_or_somebody_stands_out() -> None:
    machine = speaking()
    assert machine.speech_started(12.0, 12.1, is_doubtful=True) == ()
    assert not any(machine.chunk_came(0.9, 12.1) for _ in range(3)), "what is left of its own voice is as short"
    assert machine.turn_ended(None) == (), "it was nothing, and nobody noticed"
    assert machine.speech_started(14.0, 14.1, is_doubtful=True) == ()
    chunks = [machine.chunk_came(0.9, 14.2) for _ in range(round(DUCKED_SPEECH_SECONDS / CHUNK_SECONDS) + 1)]
    assert [each for each in chunks if each] == [(Pause(),)]
    assert until(machine, 30.0)[-1][1] == Resume(), "without a word it goes on, as ever"
    machine.turn_ended(None)
    machine.speech_started(40.0, 40.1, is_doubtful=True)
    assert machine.startled(40.1) == (Pause(),)
    assert [action for _, action in until(machine, 41.0)] == [Peek()], "speech has begun already"


def test_words_after_a_doubtful_beginning_end_the_reply_all_the_same() -> None:
    machine = speaking()
    machine.speech_started(12.0, 12.1, is_doubtful=True)
    assert machine.turn_ended(heard("what time is it", 12.0, 13.0)) == (Commit("what time is it"),)


class Scene:
    """Anything may happen in any order; it keeps the account of what it was told to be."""

    def __init__(self, mode: Mode) -> None:
        self.machine, self.now, self.speech_at, self.is_quiet = BargeIn(mode), 100.0, 0.0, False

    def step(self, name: str) -> None:
        self.now += 0.3
        if name == "speech":
            self.speech_at = self.now
        self._take(
            {
                "begin": lambda: self.machine.reply_began(self.now),
                "end": lambda: self.machine.reply_ended(),
                "speech": lambda: self.machine.speech_started(self.now, self.now),
                "nothing": lambda: self.machine.turn_ended(None),
                "company": lambda: self.machine.turn_ended(heard("mhm", self.speech_at, self.now)),
                "words": lambda: self.machine.turn_ended(heard("what is that", self.speech_at, self.now)),
                "chunk": lambda: self.machine.chunk_came(0.9, self.now),
                "bang": lambda: self.machine.startled(self.now),
                "time": lambda: self.machine.time_passed(self.now),
            }[name]()
        )

    def wait(self) -> None:
        self._take(tuple(action for _, action in until(self.machine, self.now + 60.0)))

    def _take(self, actions: Actions) -> None:
        for action in actions:
            assert not isinstance(action, Resume) or self.is_quiet, "only who is quiet can go on"
            if not isinstance(action, Peek):
                self.is_quiet = isinstance(action, Pause | Duck)


STEPS = ("begin", "end", "speech", "nothing", "company", "words", "chunk", "bang", "time")


@given(st.lists(st.sampled_from(STEPS), max_size=60), st.sampled_from(Mode))
def test_whatever_happens_it_is_never_left_quiet(steps: list[str], mode: Mode) -> None:
    """Each pause or ducking is followed by a resume or the end of the reply: by time alone if by nothing else."""
    scene = Scene(mode)
    for step in steps:
        scene.step(step)
        assert not (scene.is_quiet and mode is Mode.HALF)
    scene.wait()
    assert not scene.is_quiet


ENGLISH = (
    *("Mhm.", "mm-hmm", "Mmm", "Hm.", "Hmm...", "uh-huh", "Uh huh.", "uh", "um", "Ah!", "Oh.", "ok", "OK.", "Okay,"),
    *("Right.", "Yeah yeah.", "Yes.", "Sure.", "All right.", "I see.", "Got it.", "Okay, right.", "Oh, I see.", "Wow!"),
    *("Uh-huh, yeah, okay.", "That's right."),
)
CHINESE = (
    *(
        "嗯",
        "嗯。",
        "嗯嗯",
        "嗯，好的。",
        "对",
        "对对对",
        "对，对。",
        "好",
        "好的",
        "好的好的",
        "是的。",
        "哦",
        "哦，这样啊。",
        "没错",
    ),
    *("知道了", "明白了。", "真的吗？", "對", "嗯 嗯", "OK。", "好的，ok"),
)
MEANT = (
    *(
        "stop",
        "Okay, but what about tomorrow?",
        "No.",
        "What?",
        "right now",
        "Turn left",
        "yes please call her",
        "nakari",
    ),
    *("okay stop", "good morning", "I see a bear", "oh no", "hey", "umbrella", "hum the song", "sure enough it broke"),
    *("停", "不对", "不是", "好的，那明天呢？", "等一下", "什么", "对不起", "好听吗", "好冷", "是谁", "行李"),
    *("yeah yeah yeah yeah yeah", "对对对对对"),
)


@pytest.mark.shows("V17")
@pytest.mark.parametrize("words", ENGLISH)
def test_english_company(words: str) -> None:
    assert is_backchannel(words, "en")
    assert is_backchannel(words)


@pytest.mark.shows("V17")
@pytest.mark.parametrize("words", CHINESE)
def test_chinese_company(words: str) -> None:
    assert is_backchannel(words, "zh")
    assert is_backchannel(words, "")
    assert is_backchannel(words, "yue"), "a language that is not known here gets them all"


@pytest.mark.shows("V17")
@pytest.mark.parametrize("words", MEANT)
@pytest.mark.parametrize("language", ["en", "zh", ""])
def test_what_is_meant_to_be_heard(words: str, language: str) -> None:
    assert not is_backchannel(words, language)


def test_no_words_are_none() -> None:
    assert not any(is_backchannel(nothing) for nothing in ("", "   ", "...", "。"))


@given(st.sampled_from(ENGLISH + CHINESE), st.sampled_from(["stop", "what time is it", "停下", "几点了"]))
def test_a_real_word_in_front_or_behind_is_always_heard(company: str, words: str) -> None:
    assert not is_backchannel(f"{company} {words}")
    assert not is_backchannel(f"{words} {company}")
