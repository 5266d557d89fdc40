"""Remembering and recalling without a model: what is noted, searched for, and quoted."""

from pathlib import Path

import pytest

from tests.agent.intents.household import a_home
from tests.agent.offline_talk import NOTHING_SAID, OFFLINE, TOOLS, Talk, a_hit, a_timer, found, without

INTERRUPTED = "unknown: the machine stopped before this call had a result; look whether it took effect"


@pytest.mark.shows("V30")
async def test_what_is_to_be_remembered_is_left_as_a_task_for_itself(talk: Talk) -> None:
    talk.hear("Remember that my keys are in the drawer.")
    [(name, arguments)] = await talk.calls({"id": "e9"})
    assert name == "create_event"
    assert arguments["type"] == "self_created"
    assert "“my keys are in the drawer”" in arguments["content"]
    assert await talk.says() == "I will keep that: your keys are in the drawer."


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Don't forget that I am allergic to nuts!", "I will keep that: you are allergic to nuts."),
        ("记住，我的钥匙在抽屉里。", "我记住了：你的钥匙在抽屉里。"),
        ("remember that you are my friend", "I will keep that: I am your friend."),
    ],
)
async def test_what_is_remembered_is_said_back(talk: Talk, words: str, said: str) -> None:
    talk.hear(words)
    await talk.calls({"id": "e9"})
    assert await talk.says() == said


async def test_a_note_for_later_that_fails_is_told(talk: Talk) -> None:
    talk.hear("Remember that my keys are in the drawer.")
    await talk.calls("refused: the budget of this event is used up")
    said = await talk.says()
    assert (
        said == "I keep that in my journal, but could not note it down for later: the budget of this event is used up."
    )


@pytest.mark.shows("V30", "D4")
@pytest.mark.parametrize(
    ("question", "searched", "journal", "said"),
    [
        (
            "Where are my keys?",
            "remember key",
            found("Where are my keys?", "Remember that my keys are in the drawer.", "my keys are very old"),
            "You told me: your keys are in the drawer.",
        ),
        (
            "What is my sister called?",
            "remember sister",
            found("Remind me to call my sister in ten minutes", "Remember that my sister is called Anna."),
            "You told me: your sister is called Anna.",
        ),
        (
            "Where did I park?",
            "remember park",
            found("Remember that I parked on level three."),
            "You told me: you parked on level three.",
        ),
        (
            "What am I allergic to?",
            "remember allerg",
            found("I am allergic to nuts, you know."),
            "You told me: you are allergic to nuts, I know.",
        ),
        (
            "What did I say about the plumber?",
            "remember plumber",
            found("The plumber comes on Friday."),
            "You told me: The plumber comes on Friday.",
        ),
        ("When does the plumber come?", "remember plumber", NOTHING_SAID, None),
        ("Where is the spare key?", "remember spare key", found("Remember that my keys are in the drawer."), None),
        (
            "Where are my keys?",
            "remember key",
            found("where are my keys", "Are my keys here?", "tell me where my keys are"),
            None,
        ),
        ("Where are my keys?", "remember key", found("Your keys are in the drawer.", who="you"), None),
        ("Where are my keys?", "remember key", found("I noted that my keys are here", who="you"), None),
        ("Where are my keys?", "remember key", found("set a timer for ten minutes for the keys"), None),
        (
            "我的钥匙在哪？",
            "记 钥匙",
            found("我的钥匙在哪？", "记住我的钥匙在抽屉里。"),
            "你告诉过我：你的钥匙在抽屉里。",
        ),
        ("我的鑰匙在哪？", "记 钥匙", found("記住我的鑰匙在抽屜裡。"), "你告诉过我：你的钥匙在抽屉里。"),
        ("我妹妹叫什么名字？", "记 妹妹", found("记住我妹妹叫安娜"), "你告诉过我：你妹妹叫安娜。"),
        ("水管工什么时候来", "记 水管工 来", found("别忘了水管工星期五来"), "你告诉过我：水管工星期五来。"),
        ("备用钥匙在哪儿", "记 备用钥匙", found("记住我的钥匙在抽屉里"), None),
    ],
)
async def test_a_question_is_answered_with_what_the_person_said_or_not_at_all(
    talk: Talk, question: str, searched: str, journal: object, said: str | None
) -> None:
    talk.hear(question)
    searches = await talk.calls(journal, NOTHING_SAID, NOTHING_SAID)
    assert searches[0] == ("recall", {"words": searched, "limit": 50})
    assert [name for name, _ in searches] == ["recall"] * 3
    if said is None and question.startswith("When"):
        assert await talk.calls("no timer is set") == [("list_timers", {})]
    answer = await talk.says()
    assert answer == said if said else answer.startswith(("I find nothing about that", "这里说过的话里没有找到"))


async def test_the_newest_of_what_was_to_be_remembered_counts(talk: Talk) -> None:
    talk.hear("Where are my keys?")
    drawer = a_hit("Remember that my keys are in the drawer.", when="2026-11-03 10:00:00 UTC")
    hall = a_hit("Remember that my keys are in the hall.", when="2026-11-20 10:00:00 UTC")
    said = a_hit("my keys are lost", when="2026-11-21 10:00:00 UTC")
    await talk.calls({"sureness": "sure", "hits": [drawer, hall, said]}, NOTHING_SAID, NOTHING_SAID)
    assert await talk.says() == "You told me: your keys are in the hall."


async def test_a_search_that_a_crash_interrupted_is_made_again(talk: Talk) -> None:
    talk.hear("Where are my keys?")
    first = await talk.calls(INTERRUPTED, INTERRUPTED, INTERRUPTED)
    assert await talk.calls(found("Remember that my keys are here"), NOTHING_SAID, NOTHING_SAID) == first
    assert await talk.says() == "You told me: your keys are here."


async def test_what_was_only_told_is_searched_for_by_its_own_words(talk: Talk) -> None:
    """Where remembering is much talked about, that would fill the other two searches."""
    talk.hear("What's Ben's number?")
    searches = await talk.calls(NOTHING_SAID, NOTHING_SAID, found("Ben's phone number is 0171 555 123"))
    assert searches[2] == ("recall", {"words": "ben", "limit": 50})
    assert await talk.says() == "You told me: Ben's phone number is 0171 555 123."


@pytest.mark.parametrize(
    "words", ["My car is on level two.", "Ada likes strawberries.", "I lent my drill to Karl.", "我的车在二楼。"]
)
async def test_what_is_only_told_is_said_to_be_found_again(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert (await talk.says()).startswith(
        ("I keep your words; ask me, and I will find them again.", "你的话我留着，问起来我能找到。")
    )


@pytest.mark.parametrize("words", ["Play the next song.", "The sofa.", "Order a pizza.", "Tell me a story."])
async def test_an_order_is_no_statement(talk: Talk, words: str) -> None:
    talk.hear(words)
    assert "find them again" not in await talk.says()


@pytest.mark.shows("V29")
@pytest.mark.parametrize(
    ("words", "about", "nothing"),
    [
        ("Forget the gate code.", "gate code", "Nothing that was said here has that in it: the gate code."),
        (
            "Delete what I said about Al's keys.",
            "al key",
            "Nothing that was said here has that in it: Al's keys.",
        ),
        ("忘掉我的自行车", "自行车", "这里说过的话里没有这个：我的自行车。"),
        ("忘掉我的生日", "生日", "这里说过的话里没有这个：我的生日。"),
    ],
)
async def test_one_thing_is_forgotten_by_the_words_that_name_it(words: str, about: str, nothing: str) -> None:
    talk = Talk(OFFLINE, TOOLS.specs_for(""))
    talk.hear(words)
    assert await talk.answer() == [("device", {"do": "forget", "about": about})]
    talk.result("there was nothing to do")
    assert await talk.says() == nothing


@pytest.mark.parametrize(
    ("words", "minutes"),
    [
        ("Oh, and forget what we've said these last couple of minutes.", 3),
        ("Forget everything I said in the last ten minutes.", 10),
        ("忘掉最近五分钟我说的话", 5),
    ],
)
async def test_the_last_minutes_are_forgotten(words: str, minutes: int) -> None:
    talk = Talk(OFFLINE, TOOLS.specs_for(""))
    talk.hear(words)
    assert await talk.answer() == [("device", {"do": "forget", "minutes": minutes})]


async def test_a_search_that_failed_is_told(talk: Talk) -> None:
    talk.hear("Where are my keys?")
    failed = "error: recall took longer than 20 s and was stopped"
    await talk.calls(failed, failed, failed)
    assert await talk.says() == "That did not work: recall took longer than 20 s and was stopped."


async def test_a_question_of_empty_words_lists_all_that_was_to_be_kept(talk: Talk) -> None:
    talk.hear("What do you know about me?")
    kept = found("Remember that I like tea."), found("Don't forget that my bike is red.", "I am tired")
    await talk.calls(*kept, *[NOTHING_SAID] * 3)
    assert await talk.says() == "You told me: you like tea; your bike is red."


async def test_without_a_note_for_later_it_still_keeps_the_words() -> None:
    talk = Talk(OFFLINE, without("set_volume", "device", "create_event"))
    talk.hear("Remember that my keys are in the drawer.")
    assert await talk.says() == "I will keep that: your keys are in the drawer."


@pytest.mark.parametrize(
    ("question", "told", "said"),
    [
        ("Isn't my bike red?", "my bike is red", "Yes: you told me that your bike is red."),
        (
            "Where did I hide the presents?",
            "I hid the presents in the attic",
            "You told me: you hid the presents in the",
        ),
        ("Which band do I like?", "Ada likes figs", "I find nothing about that"),
        ("Do you know my name?", "my name is Tom", "You told me: your name is Tom."),
        ("When is my birthday?", "Ada's birthday is in May", "I find nothing about that"),
        ("Where is my bike?", "my bike is red", "I don't know that; you told me only this: your bike is red."),
        ("Is my bike red?", "my bike lock is red", "You told me: your bike lock is red."),
    ],
)
async def test_a_question_reaches_what_answers_it_and_no_more(talk: Talk, question: str, told: str, said: str) -> None:
    talk.hear(question)
    await talk.calls(found(f"Remember that {told}."), NOTHING_SAID, NOTHING_SAID)
    if question.startswith("When") and said.startswith("I find nothing"):
        assert await talk.calls("no timer is set") == [("list_timers", {})]
    assert (await talk.says()).startswith(said)


async def test_when_something_will_ring_is_told_where_nobody_said_it(talk: Talk) -> None:
    talk.hear("When's the boiler man coming?")
    await talk.calls(NOTHING_SAID, NOTHING_SAID, NOTHING_SAID)
    timer = a_timer("the boiler man is coming", "2 days", "2026-11-23 08:50:00 CET")
    assert await talk.calls([timer]) == [("list_timers", {})]
    assert await talk.says() == ("This is due at 8:50 in the morning the day after tomorrow: the boiler man is coming.")


@pytest.mark.parametrize(
    ("question", "told", "said"),
    [
        ("Is Mabel a dog?", "Mabel's the cat and Biscuit's the dog", "You told me"),
        ("can Tom have walnuts", "Tom's allergic to walnuts", "You told me"),
        ("And where's the key, please?", "the key is in the shed", "You told me"),
        ("who has got the spare key", "the spare key is with Mr Collins", "You told me"),
        ("Who's got my drill?", "I lent my drill to Karl", "You told me"),
        ("Um, where did I say the spare key was?", "the spare key is under the pot", "You told me"),
    ],
)
async def test_what_does_not_follow_is_quoted_and_not_concluded(
    talk: Talk, question: str, told: str, said: str
) -> None:
    talk.hear(question)
    await talk.calls(found(f"Remember that {told}."), NOTHING_SAID, NOTHING_SAID)
    assert (await talk.says()).startswith(said)


async def test_what_was_told_last_counts_though_nobody_asked_to_keep_it(talk: Talk) -> None:
    talk.hear("Where is the key?")
    pot = a_hit("Remember that the key is under the pot.", when="2026-11-03 10:00:00 UTC")
    shed = a_hit("No wait, I moved the key. It's in the shed now.", when="2026-11-20 10:00:00 UTC")
    await talk.calls({"sureness": "sure", "hits": [pot, shed]}, NOTHING_SAID, NOTHING_SAID)
    assert await talk.says() == "You told me: you moved the key. It's in the shed now."


@pytest.mark.shows("D4")
@pytest.mark.parametrize(
    ("told", "right", "asked", "answer"),
    [
        (
            ["remember my locker code is 31 08 24"],
            "no it's 31 18 24",
            "what's my locker code",
            "You told me: your locker code is 31 18 24.",
        ),
        (
            ["The Schubert is on the second shelf.", "Where did I say the Schubert was?"],
            "I've moved it, it's in the piano stool now.",
            "So where's the Schubert?",
            "You told me: The Schubert is in the piano stool.",
        ),
        (
            ["护照在书房左边第二个抽屉，帮我记着"],
            "我又给挪到保险柜了",
            "护照现在搁哪儿呢",
            "你告诉过我：护照在保险柜。",
        ),
        (
            ["Mum's operation is on the ninth of December at half nine"],
            "actually they moved it to the tenth",
            "when's Mum's operation",
            "You told me: Mum's operation is on the tenth of December at half nine.",
        ),
        (
            ["记住我的储物柜密码是310824"],
            "不对，是310818",
            "我的储物柜密码是多少",
            "你告诉过我：你的储物柜密码是310818。",
        ),
    ],
)
async def test_what_was_put_right_is_told_from_then_on(
    tmp_path: Path, told: list[str], right: str, asked: str, answer: str
) -> None:
    async with a_home(tmp_path) as home:
        for words in told:
            await home.hear(words, follows=True)
        said = await home.hear(right, follows=True)
        assert said.startswith(("I have put it right:", "我改过来了："))
        assert await home.hear(asked) == answer


@pytest.mark.parametrize(
    "words",
    [
        "it's raining now",
        "is it in the shed?",
        "I moved it to the shed",
        "no it was on Friday that I saw him",
        "no it's fine",
        "算了，我在家",
    ],
)
async def test_what_tells_of_something_else_puts_nothing_right(tmp_path: Path, words: str) -> None:
    async with a_home(tmp_path) as home:
        await home.hear("remember my locker code is 31 08 24")
        assert "put it right" not in await home.hear(words, follows=True)


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        ("remember the bin man comes on Tuesday", "what did I tell you today", "the bin man comes on Tuesday"),
        ("remember the bin man comes on Tuesday", "what have I told you so far", "the bin man comes on Tuesday"),
        ("remember the bin man comes on Tuesday", "what did I say this morning", "the bin man comes on Tuesday"),
        ("remember the bin man comes on Tuesday", "what did I tell you yesterday", "I find nothing about that"),
        ("记住钥匙在抽屉里", "我今天跟你说了什么", "钥匙在抽屉里"),
        ("记住钥匙在抽屉里", "到现在为止我都告诉你什么了", "钥匙在抽屉里"),
        ("记住钥匙在抽屉里", "我昨天跟你说了什么", "没有找到"),
    ],
)
async def test_the_day_on_which_something_was_told_is_none_of_what_was_told(
    tmp_path: Path, told: str, asked: str, answer: str
) -> None:
    async with a_home(tmp_path) as home:
        await home.hear(told)
        assert answer in await home.hear(asked)


async def test_what_was_said_again_is_as_new_as_when_it_was_said_last(talk: Talk) -> None:
    """The code was 4321 before it was 1234, and is again."""
    said = {
        "Remember my bike code is 1234": "2026-11-12 10:00:00 UTC",
        "my bike code is 4321": "2026-11-10 10:00:00 UTC",
        "actually my bike code is 4321": "2026-11-15 10:00:00 UTC",
    }
    hits = {"sureness": "sure", "hits": [a_hit(words, when=when) for words, when in said.items()]}
    talk.hear("what is my bike code")
    await talk.calls(*[hits] * 3)
    assert await talk.says() == "You told me: your bike code is 4321."
