"""Talk with the offline model: honesty, doubt, small talk, its own work, crashes, and tools that are missing."""

import pytest

from agent.context.history import DIGEST_LINE_CHARACTERS, digest
from agent.context.summary import Front
from agent.model.messages import Message, ToolCall
from tests.agent.offline_talk import OFFLINE, TOOLS, Talk, a_timer, at, without

NEEDS_MODEL = "I need a model to answer that"


@pytest.mark.shows("V30")
@pytest.mark.parametrize("words", ["Turn the volume up.", "Set the volume to ten.", "Quieter.", "大声一点"])
async def test_without_a_tool_for_it_the_volume_stays_and_it_says_so(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert await talk.says() in {"I cannot change the volume yet.", "我现在还不能调节音量。"}


@pytest.mark.shows("V30", "F6")
async def test_what_needs_a_model_is_said_honestly_and_at_length_once(talk: Talk) -> None:
    talk.hear("Tell me a joke.")
    first = await talk.says()
    assert NEEDS_MODEL in first
    assert "tell the time" in first
    talk.hear("Sing me a song.")
    assert await talk.says() == "I need a model for that too, and I still cannot reach one."
    talk.hear("讲个笑话")
    assert (await talk.says()).startswith("我听到了，但是回答这个需要模型")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Who are you?", "I am nakari."),
        ("你是谁？", "我是nakari"),
        ("What can you do?", "Without a model I can"),
        ("你能做什么？", "没有模型的时候，我可以"),
        ("Help.", "Without a model I can"),
        ("帮助", "没有模型的时候，我可以"),
        ("Hello.", "Hello."),
        ("你好", "你好"),
        ("Thank you.", "You are welcome."),
        ("谢谢", "不客气"),
        ("Good night.", "Good night."),
        ("I'm off to bed.", "Good night."),
        ("晚安", "晚安"),
        ("Goodbye.", "Goodbye."),
        ("Never mind.", "All right."),
        ("算了", "好的。"),
        ("Stop.", "All right."),
        ("How are you?", "I am well, but"),
        ("Yes.", "All right."),
        ("No.", "All right, I leave it."),
    ],
)
async def test_small_talk_needs_no_model(talk: Talk, words: str, said: str) -> None:
    talk.hear(words)
    assert (await talk.says()).startswith(said)


async def test_the_last_words_are_said_again(talk: Talk) -> None:
    talk.hear("Say that again.")
    assert await talk.says() == "I have said nothing yet."
    talk.hear("What time is it?", at=at(8))
    await talk.says()
    talk.hear("Say that again.", at=at(9))
    assert await talk.says() == "It is nine o'clock in the morning."


def begin_anew(talk: Talk) -> None:
    """Have a new epoch open: what was said is a digest from now on."""
    system, *left = talk.messages
    talk.messages[:] = [system, Front(lines=tuple(digest(left).splitlines()), left="e").message()]


@pytest.mark.parametrize(("words", "said"), [("Say that again.", "OK."), ("What did I just say?", "You told me: Tell")])
async def test_the_last_words_are_known_where_the_context_began_anew(talk: Talk, words: str, said: str) -> None:
    talk.hear("Tell me a joke.")
    await talk.says()
    talk.messages[-1:] = [Message("assistant", "", (ToolCall("c", "reply", '{"text": "OK."}'),))]
    begin_anew(talk)
    talk.hear(words)
    assert (await talk.says()).startswith(said)


async def test_words_that_are_no_more_at_hand_are_not_said_never_to_have_been(talk: Talk) -> None:
    talk.hear("Help.")
    assert len(await talk.says()) > DIGEST_LINE_CHARACTERS
    begin_anew(talk)
    talk.hear("Say that again.")
    assert await talk.says() == "I do not have my last words at hand any more."


@pytest.mark.shows("V12", "V30")
@pytest.mark.parametrize(
    ("words", "question", "yes"),
    [
        ("set a timer for five minutes", "Did you say: set a timer for five minutes?", "Yes."),
        ("Set a timer for five minutes.", "Did you say: Set a timer for five minutes?", "that is right"),
        ("定一个五分钟的计时器。", "你说的是：定一个五分钟的计时器，对吗？", "是的"),
    ],
)
async def test_what_was_hard_to_hear_is_asked_back_and_done_after_a_yes(
    talk: Talk, words: str, question: str, yes: str
) -> None:
    talk.hear(words, confidence="low")
    assert await talk.says() == question
    talk.hear(yes, confidence="low")
    [(name, arguments)] = await talk.calls(a_timer("", "5 minutes"))
    assert (name, arguments["seconds"]) == ("set_timer", 300)
    assert (await talk.says()) in {"Your timer is set for five minutes.", "5分钟的计时器已经开始了。"}


@pytest.mark.parametrize(
    "words",
    [
        "cancel the timer",
        "set an alarm for noon",
        "turn the volume up",
        "remember that my keys are here",
        "取消所有计时器",
    ],
)
async def test_everything_with_an_effect_is_asked_back(talk: Talk, words: str) -> None:
    talk.hear(words, confidence="low")
    assert (await talk.says()).startswith(("Did you say: ", "你说的是："))


@pytest.mark.parametrize("words", ["what time is it", "hello", "现在几点了"])
async def test_what_has_no_effect_is_answered_though_it_was_hard_to_hear(talk: Talk, words: str) -> None:
    talk.hear(words, confidence="low")
    assert not (await talk.says()).startswith(("Did you say", "你说的是"))


@pytest.mark.shows("V12", "V30")
@pytest.mark.parametrize(
    ("words", "once_more", "tool"),
    [
        ("cancel the timer", "To be sure, once more: cancel the timer?", "cancel_timer"),
        ("forget what i said", "To be sure, once more: forget what i said?", "device"),
        ("关闭麦克风", "再确认一下：关闭麦克风，对吗？", "device"),
    ],
)
async def test_a_guess_at_a_yes_is_not_enough_for_what_no_word_takes_back(
    words: str, once_more: str, tool: str
) -> None:
    talk = Talk(OFFLINE, TOOLS.specs_for(""))
    yes = "是的" if "再" in once_more else "yes"
    talk.hear(words, confidence="low")
    await talk.says()
    talk.hear(yes, confidence="low")
    assert await talk.says() == once_more
    talk.hear(yes, confidence="low")
    assert [name for name, _ in await talk.answer()] == [tool]


@pytest.mark.shows("V12", "V30")
@pytest.mark.parametrize(("answer", "told"), [("no", "All right, I leave it."), ("what time is it", "It is ")])
async def test_asked_once_more_anything_but_a_yes_leaves_it(talk: Talk, answer: str, told: str) -> None:
    talk.hear("cancel all timers", confidence="low")
    await talk.says()
    talk.hear("yes", confidence="low")
    await talk.says()
    talk.hear(answer, confidence="low")
    assert (await talk.says()).startswith(told)
    talk.hear("yes", confidence="low")
    assert await talk.says() == "All right."


async def test_a_sure_yes_is_enough(talk: Talk) -> None:
    talk.hear("cancel the timer", confidence="low")
    await talk.says()
    talk.hear("yes")
    assert [name for name, _ in await talk.answer()] == ["cancel_timer"]


async def test_a_no_leaves_it(talk: Talk) -> None:
    talk.hear("cancel all timers", confidence="low")
    await talk.says()
    talk.hear("No.")
    assert await talk.says() == "All right, I leave it."


async def test_what_is_said_twice_needs_no_yes(talk: Talk) -> None:
    talk.hear("set a timer for five minutes", confidence="low")
    await talk.says()
    talk.hear("Set a timer for 5 minutes.", confidence="low")
    assert [name for name, _ in await talk.answer()] == ["set_timer"]


async def test_another_order_in_place_of_the_yes_is_asked_back_in_its_turn(talk: Talk) -> None:
    talk.hear("set a timer for five minutes", confidence="low")
    await talk.says()
    talk.hear("set a timer for nine minutes", confidence="low")
    assert await talk.says() == "Did you say: set a timer for nine minutes?"


async def test_a_timer_that_rings_in_between_does_not_take_the_yes(talk: Talk) -> None:
    talk.hear("cancel the timer", confidence="low")
    await talk.says()
    talk.happen("Timer 'tea' (3 minutes) is due.", "timer")
    await talk.says()
    talk.hear("Yes.")
    assert [name for name, _ in await talk.answer()] == ["cancel_timer"]


async def test_a_yes_much_later_means_nothing(talk: Talk) -> None:
    talk.hear("cancel the timer", at=at(8), confidence="low")
    await talk.says()
    talk.hear("Yes.", at=at(8, 3))
    assert await talk.says() == "All right."


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("the moon a joke", "I am not sure what I heard. It sounded like: the moon a joke. Please say it again."),
        ("", "I did not catch that. Please say it again."),
    ],
)
async def test_what_makes_no_sense_and_was_hard_to_hear_is_not_blamed_on_the_model(
    talk: Talk, words: str, said: str
) -> None:
    talk.hear(words, confidence="low")
    assert await talk.says() == said


@pytest.mark.shows("V30", "A11")
@pytest.mark.parametrize("event_type", ["self_created", "system", "reflection", "whatever"])
async def test_its_own_work_waits_for_a_model_without_a_word(talk: Talk, event_type: str) -> None:
    talk.happen("Write into your memory …", event_type)
    [(name, arguments)] = await talk.calls("suspended")
    assert name == "suspend_event"
    assert arguments["wake_on"] == "model_available"


async def test_its_own_note_goes_with_it(talk: Talk) -> None:
    talk.happen("Reflect.", "self_created", Note="I had read half of it.")
    [(_, arguments)] = await talk.answer()
    assert arguments["note"] == "I had read half of it."


@pytest.mark.shows("A24")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("What time is it?", "It is eleven o'clock in the morning."),
        ("Tell me a joke.", "I heard you, but I need a model"),
    ],
)
async def test_a_reply_that_a_crash_cut_is_begun_again_with_the_same_words(talk: Talk, words: str, said: str) -> None:
    talk.hear(words)
    [(_, whole), _] = await talk.answer()
    talk.messages.pop()
    cut = str(whole["text"]).split(". ")[0]
    interrupted(talk, cut)
    [(name, again), _] = await talk.answer()
    assert name == "reply"
    assert again == whole
    assert str(again["text"]).startswith(said)


async def test_a_model_that_was_lost_in_mid_sentence_is_missed_aloud(talk: Talk) -> None:
    talk.hear("Tell me a joke.")
    interrupted(talk, "A horse walks into a bar.")
    assert await talk.says() == "Sorry, I lost the model I think with in the middle of that."


async def test_what_a_lost_model_had_done_already_is_told_not_done_again(talk: Talk) -> None:
    talk.hear("Set a timer for five minutes.")
    talk.messages.append(Message("assistant", tool_calls=(ToolCall("m1", "set_timer", '{"seconds": 300}'),)))
    talk.result(a_timer("", "5 minutes"))
    assert await talk.says() == "Your timer is set for five minutes."


async def test_after_a_whole_reply_it_only_ends_the_event(talk: Talk) -> None:
    talk.hear("What time is it?")
    talk.messages.append(Message("assistant", tool_calls=(ToolCall("m1", "reply", '{"text": "Noon."}'),)))
    talk.result("delivered")
    assert [name for name, _ in await talk.answer()] == ["complete_event"]


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("Set a timer for five minutes.", ("set_timer",)),
        ("Cancel all timers.", ("list_timers",)),
        ("Where are my keys?", ("recall",)),
        ("Set an alarm for noon.", ("set_alarm",)),
    ],
)
async def test_without_the_tool_it_says_that_it_cannot(words: str, missing: tuple[str, ...]) -> None:
    talk = Talk(OFFLINE, without("set_volume", "device", *missing))
    talk.hear(words)
    assert await talk.says() == "I have nothing here to do that with."


async def test_without_any_tool_the_answer_is_bare_text() -> None:
    talk = Talk(OFFLINE, ())
    talk.hear("What time is it?")
    assert await talk.answer() == []
    assert talk.messages[-1].content == "It is eleven o'clock in the morning."


@pytest.mark.parametrize(
    ("words", "arguments", "said"),
    [
        ("Set the volume to fifty percent.", {"percent": 50}, "The volume is at 50 percent."),
        ("Mute the speaker.", {"percent": 0}, "The volume is at 0 percent."),
        ("Turn the volume up.", {"change": 15}, "A little louder now."),
        ("Turn the volume down by ten.", {"change": -10}, "A little quieter now."),
        ("小声点", {"change": -15}, "声音调小了一点。"),
        ("把音量调到百分之三十", {"percent": 30}, "音量已调到百分之30。"),
    ],
)
async def test_the_volume_where_there_is_a_tool_for_it(words: str, arguments: dict[str, int], said: str) -> None:
    talk = Talk(OFFLINE, TOOLS.specs_for(""))
    talk.hear(words)
    assert await talk.calls("done") == [("set_volume", arguments)]
    assert await talk.says() == said


@pytest.mark.parametrize(
    ("first", "then"), [("set the volume to forty percent", "actually thirty"), ("音量调到百分之四十", "三十吧")]
)
async def test_how_loud_it_is_to_be_is_put_right(first: str, then: str) -> None:
    talk = Talk(OFFLINE, TOOLS.specs_for(""))
    talk.hear(first)
    await talk.calls("done")
    await talk.says()
    talk.hear(then)
    assert await talk.calls("done") == [("set_volume", {"percent": 30})]


@pytest.mark.parametrize("words", ["I've used the last of the cumin, put it down", "wait, also wood pellets"])
async def test_what_is_only_said_beside_something_else_changes_nothing_of_the_box(words: str) -> None:
    talk = Talk(OFFLINE, TOOLS.specs_for(""))
    talk.hear(words)
    assert not {"set_volume", "device"} & {name for name, _ in await talk.answer()}


async def test_how_loud_it_is_as_the_tool_says() -> None:
    talk = Talk(OFFLINE, TOOLS.specs_for(""))
    talk.hear("What is the volume?")
    assert await talk.calls({"percent": 65}) == [("set_volume", {"change": 0})]
    assert await talk.says() == "The volume is at 65 percent."


def interrupted(talk: Talk, said: str) -> None:
    """What the runtime appends when a reply broke off."""
    talk.messages.append(Message("assistant", tool_calls=(ToolCall("c9", "reply", f'{{"text": "{said}"}}'),)))
    talk.result("interrupted: the machine stopped here; only this much was said, go on after it")
