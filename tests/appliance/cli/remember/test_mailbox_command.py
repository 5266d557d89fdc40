"""The mailbox as the door and the command show it."""

import json
from pathlib import Path

import pytest

from agent.event import HOUSEHOLD
from agent.mailbox import Wake
from appliance.api.client import ANSWER_BYTES
from appliance.api.register import BadRequest, parse
from appliance.api.requests.mailbox import (
    LONGEST_CHARACTER,
    MODELS,
    TEXTS,
    ListMailbox,
    Retry,
    Withdraw,
    answer_of,
    within,
)
from appliance.cli.remember.events import lines_of
from appliance.errors import Exit, Problem
from appliance.http.access.middleware import MOST_BYTES
from memory.json_value import Json
from tests.agent.mailboxes import SqliteRig, filed, handled, work
from tests.appliance.command import nakari


@pytest.mark.shows("A24")
async def test_the_dead_letter_is_listed_with_its_reason_and_tried_again(tmp_path: Path) -> None:
    rig = SqliteRig(tmp_path / "nakari.db")
    await rig.start()
    await filed(rig, work("count the\nplums", id="p"), work("wait", id="w", not_before=rig.clock.after(60)))
    await rig.take_now()
    await rig.mailbox.charge("p", tool_calls=3, model_calls=4)
    await rig.mailbox.fail("p", "the budget was used up 3 times")
    answer = await answer_of(rig.mailbox, ListMailbox(do="mailbox"))
    json.dumps(answer)
    assert lines_of(answer) == [
        "pending 1, suspended 0, in hand 0, completed 0, dead 1, withdrawn 0",
        "p  self_created: count the plums  (the budget was used up 3 times)",
    ]
    assert lines_of(await answer_of(rig.mailbox, Retry(do="mailbox.retry", id="p"))) == ["It is tried again."]
    hand = await rig.take_now()
    assert (hand.event.id, hand.attempt, hand.tool_calls, hand.model_calls) == ("p", 1, 0, 0)
    await rig.mailbox.suspend("p", "half", Wake("event", name="door"))
    suspended = await answer_of(rig.mailbox, ListMailbox(do="mailbox", state="suspended"))
    assert lines_of(suspended)[1:] == ["p  self_created: count the plums  (door)"]
    await filed(rig, work("what is a quark", id="q"))
    await rig.take_now()
    await rig.mailbox.suspend("q", "", Wake("event", name="model_available"), reason="the answer of m was empty")
    waiting = await answer_of(rig.mailbox, ListMailbox(do="mailbox", state="waiting"))
    assert lines_of(waiting)[1:] == ["q  self_created: what is a quark  (the answer of m was empty)"]
    await rig.mailbox.withdraw("q", "done with")
    assert lines_of(await answer_of(rig.mailbox, Withdraw(do="mailbox.withdraw", id="p"))) == ["It is withdrawn."]
    with pytest.raises(Problem, match="no event p in the dead letter"):
        await answer_of(rig.mailbox, Retry(do="mailbox.retry", id="p"))
    with pytest.raises(Problem, match="no event x is waiting"):
        await answer_of(rig.mailbox, Withdraw(do="mailbox.withdraw", id="x"))
    rig.clock.advance(60)
    assert await handled(rig) == ["wait"]
    await rig.stop()


@pytest.mark.shows("F12", "G4")
async def test_an_owner_is_shown_and_may_touch_their_own_alone_and_the_household_reads_no_other_s(
    tmp_path: Path,
) -> None:
    rig = SqliteRig(tmp_path / "nakari.db")
    await rig.start()
    ada, ben = "a" * 64, "b" * 64
    later = rig.clock.after(60)
    for owner in (ada, ben, HOUSEHOLD):
        await filed(rig, work(f"of {owner}", id=f"{owner[0]}1", owner_key=owner, not_before=later))
        await filed(rig, work(f"dead, of {owner}", id=f"{owner[0]}2", owner_key=owner))
        await rig.mailbox.fail((await rig.take_now()).event.id, "broken")
    pending = ListMailbox(do="mailbox", state="pending")
    seen = json.loads(json.dumps(await answer_of(rig.mailbox, pending, ada)))
    assert [event["content"] for event in seen["events"]] == [f"of {ada}"]
    assert (seen["counts"]["pending"], seen["counts"]["dead"]) == (1, 1)
    for request in (Withdraw(do="mailbox.withdraw", id="b1"), Retry(do="mailbox.retry", id="b2")):
        with pytest.raises(Problem):
            await answer_of(rig.mailbox, request, ada)
    seen = json.loads(json.dumps(await answer_of(rig.mailbox, pending)))
    assert [event.get("content") for event in seen["events"]] == [f"of {HOUSEHOLD}", None, None]
    assert (f"of {ada}" in str(seen), seen["counts"]["pending"]) == (False, 3)
    await answer_of(rig.mailbox, Withdraw(do="mailbox.withdraw", id="b1"))
    await rig.stop()


async def test_events_that_pass_an_answer_s_length_together_are_cut_and_say_so(tmp_path: Path) -> None:
    rig = SqliteRig(tmp_path / "nakari.db")
    await rig.start()
    long = "猫" * (MOST_BYTES // 3)
    await filed(rig, *(work(long, id=f"e{number}") for number in range(20)), work("short", id="s"))
    answer = await answer_of(rig.mailbox, ListMailbox(do="mailbox", state="pending", limit=50))
    assert len(json.dumps(answer, ensure_ascii=False).encode()) < ANSWER_BYTES
    short, *rest = json.loads(json.dumps(answer["events"]))
    assert (short["content"], "cut" in short) == ("short", False)
    assert [event["cut"] for event in rest] == [{"content": len(long)}] * 20
    assert all(len(event["content"]) > 10_000 for event in rest)
    answer = await answer_of(rig.mailbox, ListMailbox(do="mailbox", state="pending", limit=2))
    assert [event["content"] for event in json.loads(json.dumps(answer["events"]))] == ["short", long]
    await rig.stop()


def test_the_worst_of_texts_have_the_room_they_are_given() -> None:
    events: list[dict[str, Json]] = [dict.fromkeys(TEXTS, "\x01" * 10000) for _ in range(10)]
    found = within(events, 100_000)
    assert 90_000 < sum(len(str(event[text])) for event in found for text in TEXTS) * LONGEST_CHARACTER <= 100_000
    assert within([], 0) == []


def test_the_door_knows_these_requests() -> None:
    assert parse(b'{"do": "mailbox"}', MODELS) == ListMailbox(do="mailbox")
    assert parse(b'{"do": "mailbox.retry", "id": "p"}', MODELS) == Retry(do="mailbox.retry", id="p")
    with pytest.raises(BadRequest, match="id"):
        parse(b'{"do": "mailbox.withdraw"}', MODELS)
    with pytest.raises(BadRequest, match="state"):
        parse(b'{"do": "mailbox", "state": "lost"}', MODELS)


def test_how_a_timer_repeats_is_told_in_words(tmp_path: Path) -> None:
    assert nakari(tmp_path, "ask", "wake me at seven on weekdays").returncode == Exit.OK
    listed = nakari(tmp_path, "timers")
    assert "every weekday" in listed.stdout
    assert "FREQ=" not in listed.stdout
    assert json.loads(nakari(tmp_path, "timers", "--json").stdout)["timers"][0]["repeats"].startswith("FREQ=")


def test_what_waits_is_listed_and_withdrawn_without_a_service(tmp_path: Path) -> None:
    """`nakari ask` without one names the command that takes a question back."""
    away = '[model]\nprovider = "openai"\nbase_url = "http://127.0.0.1:9/v1"\nname = "m"\n[memory]\nenabled = false\n'
    (tmp_path / "nakari.toml").write_text(away)
    command = ("--config", tmp_path / "nakari.toml")
    assert nakari(tmp_path, *command, "ask", "tell me a joke").returncode == Exit.UNAVAILABLE
    listed = nakari(tmp_path, *command, "mailbox", "--state", "waiting", "--json")
    waits = json.loads(listed.stdout)["events"]
    assert [each["content"] for each in waits] == ["tell me a joke"]
    done = nakari(tmp_path, *command, "mailbox", "--withdraw", waits[0]["id"])
    assert (done.returncode, done.stderr) == (Exit.OK, "")
