"""Forgetting what was just heard: out of the file, the context, the mailbox and the search, by a real loop's traces."""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.attachments.attachment import Document, in_metadata
from agent.context.carried import ContextLimits
from agent.event import ASR_TRANSCRIPT, REFLECTION, TIMER, Event, utc_now
from agent.mailbox import Mailbox
from agent.model.messages import Message
from agent.record import step
from agent.tools.journal import recall_tool
from agent.tools.timers import timer_tools
from agent.tools.tool import Tool, tool
from appliance.input.suppressed import EARS_SUPPRESSED
from appliance.reflexes.forget import FORGOTTEN, Forgetting, mindless, no_graph
from appliance.reflexes.words import Forgot, beginnings, forgotten
from appliance.wiring.memory.state import State
from memory.errors import StateUnusable
from memory.json_value import Json
from memory.recall import Recall
from memory.state.images import FOLDER, Images
from memory.state.journal import ERASED, Journal
from memory.vectors.embedding import NoEmbedder
from tests.agent.mind import TestMind, a_mind
from tests.fakes import ScriptedModel, calls


def said(words: str, minutes_ago: float = 0.0, **metadata: str) -> Event:
    at = utc_now() - timedelta(minutes=minutes_ago)
    return Event(ASR_TRANSCRIPT, words, source="mic", priority=10, created_at=at, metadata={**metadata})


def replies(count: int, text: str = "Noted.") -> ScriptedModel:
    return ScriptedModel(*(calls(("reply", f'{{"text": "{text}"}}'), prefix=f"c{n}") for n in range(count)))


@dataclass
class Dropped:
    """A place that notes when it is emptied."""

    name: str
    happened: list[str]

    def forget(self) -> None:
        self.happened.append(self.name)


def forgetting(
    mind: TestMind, erase_event: Callable[[str], Awaitable[int]] = no_graph, sound: Sequence[Dropped] = ()
) -> Forgetting:
    database = mind.journal.database
    state = State(mind.journal, mind.mailbox, mind.mind.bus, Images(database.path.parent / FOLDER, database))
    recall = Recall(mind.journal, NoEmbedder())
    interrupt, hold = mind.loop.interrupt, mind.attention.hold
    return Forgetting(state, mind.mind.contexts, interrupt, erase_event, recall, sound, hold=hold)


def on_disk(folder: Path, words: str) -> bool:
    return any(words.encode() in file.read_bytes() for file in folder.iterdir())


@pytest.mark.shows("V29")
async def test_the_last_turn_is_gone_everywhere_and_what_was_before_it_is_not(tmp_path: Path) -> None:
    model = replies(3, "Noted, the xylophone.")
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(said("my keys are in the drawer", 2))
        secret = said("the xylophone is under the apple tree", 1)
        await mind.handle(secret)
        assert on_disk(tmp_path, "apple tree")
        assert (await forgetting(mind).last()).did == "forgotten"
        assert not on_disk(tmp_path, "apple tree")
        assert await mind.journal.search("apple tree", "household") == []
        assert await mind.journal.search("keys", "household")
        filed = await mind.mailbox.find(secret.id)
        assert filed is not None
        assert (filed.state, filed.event.content, filed.summary) == ("completed", "", "")
        assert all(ERASED in entry.body for entry in await mind.journal.entries(event_id=secret.id))
        await mind.handle(said("what do you know"))
    sent = "".join(message.content for message in model.requests[-1])
    assert "my keys" in sent
    assert "apple tree" not in sent


@pytest.mark.shows("V29")
async def test_it_stays_forgotten_over_a_restart(tmp_path: Path) -> None:
    model = replies(2)
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(said("the apple tree"))
        await forgetting(mind).last()
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(said("what do you know"))
    assert not on_disk(tmp_path, "apple tree")
    assert "apple tree" not in "".join(message.content for message in model.requests[-1])


@pytest.mark.shows("V29", "E12")
async def test_what_a_later_block_told_of_it_out_of_the_tiers_is_gone_too(tmp_path: Path) -> None:
    short = ContextLimits(history_messages=2)
    async with a_mind(tmp_path, [replies(9)], limits=short) as mind:
        secret = said("remember the xylophone under the apple tree", 2)
        await mind.handle(secret)
        for number in range(8):  # so many that the digest of the next epoch has it no more
            await mind.handle(said(f"what is {number} and {number}", 1))
        await mind.tiers.fill()
    model = ScriptedModel(*(calls(("reply", '{"text": "Yes."}'), prefix=f"d{n}") for n in range(2)), name="another")
    async with a_mind(tmp_path, [model], limits=short) as mind:
        await mind.handle(said("what was it?"))
        assert "<Recent>" in model.requests[0][-1].content
        assert "apple tree" in model.requests[0][-1].content
        await forgetting(mind).these([secret.id])
        assert not on_disk(tmp_path, "apple tree")
        await mind.handle(said("and what do you know?"))
    sent = "".join(message.content for message in model.requests[1])
    assert "what was it?" in sent
    assert "apple tree" not in sent


@pytest.mark.shows("V29", "G15")
async def test_what_the_agent_wrote_when_it_looked_back_on_it_is_gone_too(tmp_path: Path) -> None:
    erased: list[str] = []

    async def erase_event(event_id: str) -> int:
        erased.append(event_id)
        return 1

    def noted(what: str) -> Callable[[Sequence[Message]], Message]:
        return lambda _: calls(("complete_event", json.dumps({"summary": what})), prefix=f"look{len(what)}")

    secret, before, after = said("the apple tree", 2), look_back(), look_back()
    model = ScriptedModel(noted("nothing"), *replies(1).script, noted(f"apple tree, says {secret.id}"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(before)
        await mind.handle(secret)
        await mind.handle(after)
        assert on_disk(tmp_path, "apple tree, says")
        await forgetting(mind, erase_event).last()
        assert not on_disk(tmp_path, "apple tree")
        assert erased == [secret.id, after.id]
        assert any(ERASED not in entry.body for entry in await mind.journal.entries(event_id=before.id))


def look_back() -> Event:
    return Event(REFLECTION, "Look back.", source="self", session_id="looks", priority=-5)


@pytest.mark.shows("V29")
async def test_the_last_minutes_reach_what_waits_and_what_nobody_was_meant_to_get(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [replies(3)]) as mind:
        await mind.handle(said("an old plum", 30))
        await mind.handle(said("the apple tree", 4))
        waiting = said("the apple tree again", 1)
        await mind.mailbox.enqueue(waiting)
        held_back = Event(EARS_SUPPRESSED, source="mic", metadata={"reason": "x", "text_spoken": "apple tree, too"})
        await mind.mind.bus.publish(held_back)
        assert (await forgetting(mind).since(10)).did == "forgotten"
        assert not on_disk(tmp_path, "apple tree")
        assert on_disk(tmp_path, "plum")
        filed = await mind.mailbox.find(waiting.id)
        assert filed is not None
        assert filed.state == "withdrawn"
        (told,) = await mind.journal.entries(topic=FORGOTTEN)
        assert told.body["events"] == 2
        assert waiting.id in told.body["event_ids"]  # type: ignore[operator]


@pytest.mark.shows("V29")
async def test_what_the_bus_holds_of_it_is_forgotten_too(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [replies(1)]) as mind:
        secret = said("the apple tree")
        await mind.handle(secret)
        mind.mind.bus.hold(step("context.message", secret, "", {"message": {"content": "an apple tree, then"}}))
        assert (await forgetting(mind).last()).did == "forgotten"
        await mind.mind.bus.publish()
    assert not on_disk(tmp_path, "apple tree")


@pytest.mark.shows("V29")
async def test_a_sentence_said_with_a_pause_is_forgotten_whole(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [replies(1)]) as mind:
        first = said("under the apple tree", 1)
        await mind.mailbox.enqueue(first)
        await mind.handle(said("there is a box", 0.5, continues=first.id))
        assert (await forgetting(mind).last()).did == "forgotten"
        assert not on_disk(tmp_path, "apple tree")
        assert not on_disk(tmp_path, "there is a box")


@pytest.mark.shows("V29")
async def test_a_turn_that_is_being_answered_is_stopped_first(tmp_path: Path) -> None:
    model = replies(1, "You said apple tree, and I answer at length.")
    model.hold[0] = asyncio.Event()
    async with a_mind(tmp_path, [model]) as mind:
        event = said("the apple tree")
        forget = forgetting(mind)
        async with mind.at_work(event):
            while not model.requests:
                await mind.noticed()
                await mind.mailbox.counts()
            assert (await forget.last()).did == "forgotten"
        assert await mind.state_of(event) == "completed"
        assert not on_disk(tmp_path, "apple tree")


@pytest.mark.shows("V29")
async def test_sound_is_dropped_and_the_graph_is_asked_even_where_there_were_no_words(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [replies(1)]) as mind:
        dropped: list[str] = []
        erased: list[str] = []

        async def erase_event(event_id: str) -> int:
            erased.append(event_id)
            return 3

        forget = forgetting(mind, erase_event, [Dropped("phrases", dropped)])
        assert (await forget.last()).did == "nothing to forget"
        assert dropped == ["phrases"]
        event = said("the apple tree")
        await mind.handle(event)
        assert (await forget.last()).did == "forgotten"
        assert erased == [event.id]
        assert (await mind.journal.entries(topic=FORGOTTEN))[0].body["graph_statements"] == 3
        assert (await forget.last()).did == "nothing to forget", "an event without words is none"


@pytest.mark.shows("V29")
async def test_what_is_in_memory_goes_first_and_again_once_a_reply_under_way_has_ended(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [replies(2)]) as mind:
        dropped: list[str] = []
        forget = forgetting(mind, sound=[Dropped("disk", dropped)])
        forget.empties(Dropped("words", dropped))
        assert (await forget.last()).did == "nothing to forget"
        assert dropped == ["words", "disk"]
        await mind.handle(said("the apple tree"))
        assert any("apple tree" in event.content for event in mind.mind.bus.recent)
        assert (await forget.last()).did == "forgotten"
        assert dropped[2:] == ["words", "disk", "words"]
        assert [event.type for event in mind.mind.bus.recent if event.content] == []


async def test_a_disk_that_refuses_is_told(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [replies(1)]) as mind:
        await mind.handle(said("the apple tree"))

        async def full(event_id: str) -> int:
            raise StateUnusable("the disk is full")

        assert (await forgetting(mind, full).last()).did == "not forgotten"


@pytest.mark.shows("V29")
async def test_while_another_program_reads_the_journal_the_graph_forgets_and_the_log_of_the_file_is_told_of(
    tmp_path: Path,
) -> None:
    async with a_mind(tmp_path, [replies(1)]) as mind:
        event, erased = said("the apple tree"), []
        await mind.handle(event)
        await mind.journal.database.read(lambda c: c.execute("PRAGMA busy_timeout = 10").fetchone())

        async def erase_event(event_id: str) -> int:
            erased.append(event_id)
            return 1

        forget = forgetting(mind, erase_event)
        with closing(sqlite3.connect(tmp_path / "nakari.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM journal").fetchone()
            assert (await forget.last()).did == "not forgotten"
        assert erased == [event.id]


@pytest.mark.shows("V29")
async def test_the_database_is_whole_afterwards(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [replies(5)]) as mind:
        for number in range(5):
            await mind.handle(said(f"apple tree number {number}"))
        await forgetting(mind).last(3)
    with closing(sqlite3.connect(tmp_path / "nakari.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.execute("INSERT INTO journal_words (journal_words) VALUES ('integrity-check')")


@pytest.mark.parametrize(
    ("texts", "language", "told"),
    [
        (["the dentist is on Friday"], "en", "Forgotten: “the dentist is on Friday”."),
        (["one two three four five six seven"], "en", "Forgotten: “one two three four five six …”."),
        (["a\nb"], "en", "Forgotten: “a b”."),
        (["一", "二", "三", "四"], "zh", "已经忘掉了：… “二”; “三”; “四”。"),
        (
            ["Tom is allergic to nuts", "can Tom eat cake", "what is Tom allergic to", "who is Tom"],
            "en",
            "Forgotten: … “Tom is allergic to nuts”; “what is Tom allergic to”; “who is Tom”.",
        ),
        (["x" * 99], "en", f"Forgotten: “{'x' * 40} …”."),
        (
            ["我明天下午三点要去看牙医请你一定记得提前一小时说"],
            "zh",
            "已经忘掉了：“我明天下午三点要去看牙医请你一定记得提前 …”。",
        ),
    ],
)
def test_what_goes_is_named_by_its_first_words(texts: list[str], language: str, told: str) -> None:
    assert forgotten(Forgot("forgotten", beginnings(texts)), language) == told


def test_nothing_is_named_where_nothing_went() -> None:
    assert forgotten(Forgot("nothing to forget"), "zh") == "没有什么可以忘掉的。"
    assert forgotten(Forgot("not forgotten"), "en") == "I could not forget all of it."


async def test_what_was_shown_goes_and_nothing_that_was_said_since(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [replies(2)]) as mind:
        await mind.handle(said("my dentist is on Friday", 2))
        forget = forgetting(mind)
        shown = await forget.would_go(1)
        assert [event.content for event in shown] == ["my dentist is on Friday"]
        assert await forget.would_go(5, minutes=10) == shown
        await mind.handle(said("my keys are in the drawer", 1))
        forgot = await forget.these([event.id for event in shown])
        assert (forgot.did, forgot.words) == ("forgotten", "“my dentist is on Friday”")
        assert [event.content for event in await forget.would_go(5)] == ["my keys are in the drawer"]


async def test_all_that_was_said_of_one_thing_goes_and_nothing_else(tmp_path: Path) -> None:
    """Also what only the answer had the words of, and however much was said since."""
    told = [
        "the spare key is under the blue pot",
        "my bicycle is in the cellar",
        "where did I put it?",
        "备用钥匙在花盆下面",
        "the KEYS that are spare hang by the door",
        "the keyboard is new",
    ]
    async with a_mind(tmp_path, [replies(len(told))]) as mind:
        for number, words in enumerate(told):
            event = said(words, 10 - number)
            await mind.handle(event)
            if words == "where did I put it?":
                spoken = step("speech.sentence_started", event, "r", words="Your spare key is under the pot.")
                await mind.mind.bus.publish(spoken)
        forget = forgetting(mind)
        shown = await forget.would_go(about="Spare key")
        assert [event.content for event in shown] == [
            "the spare key is under the blue pot",
            "where did I put it?",
            "the KEYS that are spare hang by the door",
        ]
        assert [event.content for event in await forget.would_go(about="备用钥匙")] == ["备用钥匙在花盆下面"]
        assert await forget.would_go(about="the moon") == []
        assert await forget.would_go(about="  ") == []
        assert (await forget.these([event.id for event in shown])).did == "forgotten"
        assert await forget.would_go(about="spare key") == []
        assert len(await forget.would_go(9)) == 3
        assert not on_disk(tmp_path, "blue pot")
        assert not on_disk(tmp_path, "under the pot")


@pytest.mark.parametrize(
    ("about", "found"),
    [
        ("Will", [0]),
        ("hello", [1]),
        ("pass", [2]),
        ("tonne", [2]),
        ("4711", [2]),
        ("我的", [3]),
        ("is", [0, 2]),
        ("s", []),
        ("unicorn", [1]),  # of a document
    ],
)
async def test_words_are_found_however_common_and_within_others(tmp_path: Path, about: str, found: list[int]) -> None:
    told = [
        "remember that Will is in prison",
        "hello one",
        "the superpassword of the Mülltonne is KEY-4711",
        "我的猫叫咪咪",
    ]
    document = Document("text/plain", "Of unicorns and hills.")
    async with a_mind(tmp_path, [replies(len(told))]) as mind:
        for number, words in enumerate(told):
            event = said(words, 10 - number)
            metadata = in_metadata((document,)) if "hello" in words else {}
            await mind.handle(replace(event, metadata=metadata))
            answer = "I will keep that. 我记住你的了。"  # says common words of all of them
            await mind.mind.bus.publish(step("speech.sentence_started", event, "r", words=answer))
        events = await forgetting(mind).would_go(about=about)
        assert [event.content for event in events] == [told[number] for number in found]


async def test_timers_go_with_the_wish_and_with_those_that_came_of_them(tmp_path: Path) -> None:
    label, done = "wvbx", ("complete_event", '{"summary": "set"}')
    timer = ("set_timer", f'{{"seconds": 1200, "label": "{label}"}}')
    alarm = ("set_alarm", '{"at": "07:30", "label": "others"}')
    said_so = ("reply", '{"text": "It is set."}')
    model = ScriptedModel(calls(timer, said_so, done), calls(alarm, said_so, done, prefix="b"))
    make: Callable[[Journal, Mailbox], Sequence[Tool]] = lambda _, mailbox: timer_tools(mailbox, utc_now)  # noqa: E731
    async with a_mind(tmp_path, [model], make) as mind:
        await mind.handle(said(f"set a timer for twenty minutes for {label}", 2))
        await mind.handle(said("wake me at half past seven", 1))
        (first,) = [each for each in await mind.mailbox.waiting(TIMER, "household") if label in each.content]
        await mind.mailbox.enqueue(replace(first, id="snoozed", parent_id=first.id))
        forget = forgetting(mind)
        gone = await forget.would_go(about=label)
        assert (await forget.these([event.id for event in gone])).did == "forgotten"
        (left,) = await mind.mailbox.waiting(TIMER, "household")
        assert left.metadata["label"] == "others"
        assert not on_disk(tmp_path, label)


@pytest.mark.shows("V29")
async def test_what_was_found_again_for_another_question_goes_too(tmp_path: Path) -> None:
    searched = ScriptedModel(
        *(calls(("reply", '{"text": "Noted."}'), prefix=f"c{n}") for n in range(2)),
        calls(("recall", '{"words": "garden"}'), prefix="s"),
        calls(("reply", '{"text": "Two things, as it seems."}'), prefix="a"),
        calls(("reply", '{"text": "Yes?"}'), prefix="b"),
    )
    look: Callable[[Journal, Mailbox], Sequence[Tool]] = lambda journal, _: [recall_tool(Recall(journal, NoEmbedder()))]  # noqa: E731
    async with a_mind(tmp_path, [searched], look) as mind:
        await mind.handle(said('the garden\'s "gate" opens with marmalade, says Anna', 9))
        await mind.handle(said("the garden hose leaks", 6))
        other = said("what do you know of the garden?", 3)
        await mind.handle(other)
        assert on_disk(tmp_path, "marmalade")
        forget = forgetting(mind)
        gone = await forget.would_go(about="opens garden")
        assert (await forget.these([event.id for event in gone])).did == "forgotten"
        assert not on_disk(tmp_path, "marmalade")
        assert await mind.journal.search("hose", "household")
        filed = await mind.mailbox.find(other.id)
        assert filed is not None
        assert filed.event.content == "what do you know of the garden?", "which nobody wanted to be forgotten"
        await mind.handle(said("hello"))
    sent = "".join(message.content for message in searched.requests[-1])
    assert "marmalade" not in sent
    assert "hose" in sent


@pytest.mark.shows("V29")
@pytest.mark.parametrize(("about", "gone"), [("", ["the cat is ill"]), ("bike red", ["my bike is red"])])
async def test_an_agent_that_is_told_to_forget_does_so_when_it_has_answered(
    tmp_path: Path, about: str, gone: list[str]
) -> None:
    minds: list[TestMind] = []
    soon: list[Callable[[], Awaitable[Forgot]]] = []

    async def lose(event: Event) -> list[Json]:
        """Forget."""
        forget = forgetting(minds[0])
        meant = await forget.asked(event, about)
        soon.append(forget.after(event, {each.id for each in meant}))
        return [each.content for each in await forget.news(meant)]

    noted = [calls(("reply", '{"text": "Noted."}'), prefix=f"c{n}") for n in range(4)]
    model = ScriptedModel(*noted[:3], calls(("lose", "{}"), prefix="l"), noted[3])
    async with a_mind(tmp_path, [model], [tool(lose)]) as mind:
        minds.append(mind)
        await mind.handle(said("my bike is red", 9))
        await mind.handle(replace(said("the dog is well", 7), session_id="kitchen"))
        await mind.handle(said("the cat is ill", 5))
        await mind.handle(said("please lose that"))
        assert json.dumps(gone) in model.requests[-1][-1].content
        assert (await soon[0]()).did == "forgotten"
        left = ["my bike is red", "the dog is well", "the cat is ill"]
        told = await forgetting(mind).would_go(9)
        assert [event.content for event in told] == [words for words in left if words not in gone]
        assert not on_disk(tmp_path, gone[0])
        assert not on_disk(tmp_path, "please lose that")


async def test_who_asks_on_at_once_is_answered_when_it_is_forgotten(tmp_path: Path) -> None:
    minds: list[TestMind] = []
    soon: list[Callable[[], Awaitable[Forgot]]] = []

    async def lose(event: Event) -> str:
        """Forget."""
        forget = forgetting(minds[0])
        soon.append(forget.after(event, {each.id for each in await forget.asked(event, "bike red")}))
        return "I am forgetting it."

    noted = [calls(("reply", '{"text": "Noted."}'), prefix=f"c{n}") for n in range(3)]
    model = ScriptedModel(noted[0], calls(("lose", "{}"), prefix="l"), *noted[1:])
    async with a_mind(tmp_path, [model], [tool(lose)]) as mind:
        minds.append(mind)
        await mind.handle(said("my bike is red", 9))
        await mind.handle(said("please lose that"))
        asked = len(model.requests)
        late = asyncio.Event()  # the disk is slow: another event would have begun long before
        asyncio.get_running_loop().call_later(0.5, late.set)
        async with asyncio.TaskGroup() as talk:
            talk.create_task(mind.handle(said("what colour is my bike?")))
            await late.wait()
            assert len(model.requests) == asked, "what is asked on waits"
            assert (await soon[0]()).did == "forgotten"
        assert "red" not in "".join(message.content for message in model.requests[-1])


async def test_nothing_is_forgotten_where_nothing_was_said_before(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [replies(1)]) as mind:
        wish = said("forget it")
        await mind.handle(wish)
        assert await forgetting(mind).asked(wish) == []
        assert await forgetting(mind).asked(wish, "the moon") == []


async def test_words_of_others_are_not_found_nor_forgotten(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [replies(1)]) as mind:
        theirs = replace(said("my spare key is at home", 2), owner_key="visitor")
        await mind.handle(theirs)
        forget = forgetting(mind)
        assert await forget.would_go(about="spare key") == []
        assert (await forget.these([theirs.id])).did == "nothing to forget"


async def test_where_no_mind_is_nothing_is_found_by_words(tmp_path: Path) -> None:
    async with a_mind(tmp_path, []) as mind:
        with pytest.raises(StateUnusable, match="only where the mind is"):
            await mindless(forgetting(mind).state).would_go(about="spare key")


async def test_what_saying_it_kept_is_dropped_again(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [replies(1)]) as mind:
        await mind.handle(said("my dentist is on Friday", 2))
        dropped: list[str] = []
        forgot = await forgetting(mind, sound=[Dropped("phrases", dropped)]).last()
        dropped.clear()
        assert forgot.drop
        await forgot.drop()
    assert dropped == ["phrases"]
