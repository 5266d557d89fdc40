"""Sentences that are whole, that ask for more, and of which nobody can say."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from audio.turns.completeness import (
    LIKELY_SILENCE,
    LONGEST_SILENCE,
    SHORTEST_SILENCE,
    SURE_SILENCE,
    Completeness,
    commit_silence,
    completeness_of,
)


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


WHOLE = lines("""
    what time is it
    What time is it?
    what's the time
    turn it off
    please turn it up
    stop
    yes
    no thank you
    thank you
    thanks
    good night
    never mind
    okay
    hey nakari what time is it
    wake up
    come in
    go on
""")

FINISHED = lines("""
    what is the weather like
    how are you
    who is that for
    where are you from
    what is it about
    what are you looking at
    is it raining
    is the door locked
    can you help me
    could you turn on the light
    do you know the way
    turn on the light
    turn the light on
    switch off the lamp in the kitchen
    play some music
    stop the music
    set a timer for ten minutes
    set a timer for 10 minutes
    set an alarm at seven thirty in the morning
    remind me to buy milk
    remind me about the dentist tomorrow
    call my mother
    tell me a joke
    add milk to the shopping list
    the kitchen light please
""")

UNFINISHED = lines("""
    remind me to
    remind me
    remind me tomorrow to
    set a timer for
    set a timer for ten
    set a timer for 10
    turn on
    turn on the
    switch off
    turn on the light and
    turn on the light in
    tell me a story about
    turn on the light in the
    what is the
    what is
    what time
    how much
    can you
    could you please
    i would like to
    i want
    i was thinking about my
    it was because
    because
    he was
    had he married a more amiable woman he might
    i can
    if it rains
    unless to be rather cold hearted
    the soup is rather
    um
    so um
    turn on the light uh
    the weather is very
    my number is five five five
    my number is 555
    dial zero one seven
    four nine three
    the code is two
    tell me about
    remember that
    i think that
    if
    when i come home i want
    let me see
    well
    call
    i put it between
    he went with
    play something by
    wait for the...
    and then,
    well, you know…
""")

NEUTRAL = lines("""
    the kitchen light
    i went to the shop yesterday
    it rained all day
    my sister lives in paris
    i know what it is
    yes it is
    i will come as soon as i can
    if it rains tomorrow close the window in the kitchen
    set a timer
    remind me tomorrow morning
    twelve
    the first one
    alice
""")

ZH_WHOLE = lines("""
    大声一点
    为什么
    谢谢
    你好
    停
    好的
    是
    再说一遍
""")

ZH_FINISHED = lines("""
    现在几点
    现在几点了？
    今天天气怎么样
    你叫什么
    这是什么
    打开客厅的灯
    把灯打开
    把客厅的灯关掉
    请把声音调大一点
    设一个十分钟的闹钟
    播放音乐
    你吃饭了吗
    明天会下雨吗
    我们走吧
    我到家了
    告诉我今天的新闻
""")

ZH_UNFINISHED = lines("""
    把
    把客厅的灯
    请把
    然后
    我去了超市然后
    因为
    我想
    我要
    提醒我
    提醒我明天
    提醒我明天下午三点
    打开
    关掉
    嗯
    我的电话是一三八
    定一个三
    那个
    如果
    帮我
    我觉得
    你能
    给
    我和
    明天，
    播放
    告诉我
    设一个
""")

ZH_NEUTRAL = lines("""
    我喜欢猫
    昨天很热
    三
    北京
    苹果和香蕉
""")


def in_both(english: list[str], chinese: list[str]) -> list[tuple[str, str]]:
    """Return (text, language) of each."""
    return [*((text, "en") for text in english), *((text, "zh") for text in chinese)]


@pytest.mark.shows("V7")
@pytest.mark.parametrize(("text", "language"), in_both(WHOLE, ZH_WHOLE))
def test_nothing_is_added_to_an_answer_and_a_few_questions(text: str, language: str) -> None:
    assert completeness_of(text, language) is Completeness.WHOLE


@pytest.mark.shows("V7")
@pytest.mark.parametrize(("text", "language"), in_both(FINISHED, ZH_FINISHED))
def test_a_whole_question_order_or_answer_is_finished(text: str, language: str) -> None:
    assert completeness_of(text, language) is Completeness.FINISHED


@pytest.mark.shows("V7")
@pytest.mark.parametrize(("text", "language"), in_both(UNFINISHED, ZH_UNFINISHED))
def test_words_that_ask_for_more_are_unfinished(text: str, language: str) -> None:
    assert completeness_of(text, language) is Completeness.UNFINISHED


@pytest.mark.parametrize(("text", "language"), in_both(NEUTRAL, ZH_NEUTRAL))
def test_a_statement_may_go_on_and_is_neutral(text: str, language: str) -> None:
    assert completeness_of(text, language) is Completeness.NEUTRAL


@pytest.mark.parametrize("language", ["", "de", "fr", "ja"])
def test_other_languages_are_neutral_whatever_is_said(language: str) -> None:
    for text in ("wie spät ist es?", "und dann...", "", "turn on the"):
        assert completeness_of(text, language) is Completeness.NEUTRAL


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_words_are_neutral(language: str) -> None:
    for text in ("", "   ", "?", "."):
        assert completeness_of(text, language) is Completeness.NEUTRAL


def test_case_and_a_full_stop_change_nothing() -> None:
    for text in (*WHOLE, *FINISHED, *NEUTRAL):
        assert completeness_of(text.upper(), "en") is completeness_of(text, "en")
        assert completeness_of(text.rstrip("?") + ".", "en") is completeness_of(text.rstrip("?"), "en")


ENDS, GOES_ON, NOTHING = 1.0, -1.0, 0.0
"""What a voice says."""


@pytest.mark.shows("V7")
def test_where_the_voice_says_nothing_the_silence_follows_the_words() -> None:
    silences = [commit_silence(each, NOTHING, 0.7) for each in Completeness]
    assert silences == [SHORTEST_SILENCE, SURE_SILENCE, 0.7, LONGEST_SILENCE]


@pytest.mark.shows("V7")
def test_a_voice_that_ends_shortens_the_silence_but_not_after_words_that_ask_for_more() -> None:
    silences = [commit_silence(each, ENDS, 0.7) for each in Completeness]
    assert silences == [SHORTEST_SILENCE, SURE_SILENCE, SURE_SILENCE, LONGEST_SILENCE]


@pytest.mark.shows("V7")
def test_a_voice_that_goes_on_lengthens_it_even_after_a_whole_order_but_not_after_an_answer() -> None:
    silences = [commit_silence(each, GOES_ON, 0.7) for each in Completeness]
    assert silences == [SHORTEST_SILENCE, LONGEST_SILENCE, LONGEST_SILENCE, LONGEST_SILENCE]


@pytest.mark.shows("V7")
def test_a_voice_that_has_rather_ended_than_not_is_given_a_little_longer() -> None:
    silences = [commit_silence(each, 0.2, 0.7) for each in Completeness]
    assert silences == [SHORTEST_SILENCE, SURE_SILENCE, LIKELY_SILENCE, LONGEST_SILENCE]
    assert commit_silence(Completeness.FINISHED, -0.3, 0.7) == LIKELY_SILENCE
    assert commit_silence(Completeness.NEUTRAL, 0.2, 1.2) == 1.2


@pytest.mark.shows("V7")
@given(st.floats(-3, 3), st.floats(0, 3), st.floats(0.2, 1.2))
def test_more_evidence_of_an_end_never_lengthens_the_silence(voice: float, more: float, neutral: float) -> None:
    assume(voice and voice + more)
    for each in Completeness:
        assert commit_silence(each, voice + more, neutral) <= commit_silence(each, voice, neutral)


@pytest.mark.shows("V7")
def test_who_asks_for_a_shorter_silence_than_the_sure_one_gets_it() -> None:
    assert commit_silence(Completeness.NEUTRAL, ENDS, 0.4) == 0.4
    assert commit_silence(Completeness.NEUTRAL, NOTHING, 0.4) == 0.4


@given(st.text(max_size=60), st.sampled_from(["en", "zh", "de"]))
def test_whatever_is_recognized_there_is_an_answer(text: str, language: str) -> None:
    assert isinstance(completeness_of(text, language), Completeness)
