"""What is said unasked, and when: gaps, company, quiet hours over changes of clocks, merging, age, a day's share."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.time.quiet import quiet_hours
from agent.unasked.announcement import TERMS, Announcement, Kind
from agent.unasked.decide import (
    COMPANY,
    GAP,
    LOOK_AWAY,
    LOOK_SELDOM,
    MOST_IN_BREATH,
    REST,
    Decision,
    Facts,
    Rules,
    decide,
)
from agent.unasked.past import Fate, Matter, Outcome, last_breath

NOON = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
THERE = Facts(NOON, company={"room": 10.0})


def made(words: str, kind: Kind = "own", age: float = 60.0, about: str = "", cause: str = "") -> Announcement:
    """Return one that was made so many seconds before noon."""
    at = NOON - timedelta(seconds=age)
    return Announcement(words, words, kind, about or words, cause or words, at, at + TERMS[kind].useful)


def over(words: str, outcome: Outcome = "said", minutes: float = 10.0, *, answered: bool = False) -> Fate:
    return Fate(words, words, words, "own", outcome, NOON - timedelta(minutes=minutes), is_answered=answered)


def says(decision: Decision) -> list[str]:
    return [each.words for each in decision.say]


def drops(decision: Decision) -> dict[str, Outcome]:
    return {each.words: outcome for each, outcome in decision.drop}


def noon(
    *waiting: Announcement, facts: Facts = THERE, past: Sequence[Fate] = (), rules: Rules | None = None
) -> Decision:
    return decide(waiting, facts, past, rules or Rules())


@pytest.mark.shows("V24")
@pytest.mark.parametrize(
    "busy",
    [
        {"is_speaking": True},
        {"is_engaged": True},
        {"silent_for": GAP - 0.1},
        {"rested_for": GAP - 0.1},
        {"breath_ago": REST - 0.1},
    ],
    ids=lambda busy: next(iter(busy)),
)
def test_it_waits_for_a_gap(busy: dict[str, float]) -> None:
    assert says(noon(made("The plants are dry."))) == ["The plants are dry."]
    held = noon(made("The plants are dry."), facts=replace(THERE, **busy))
    assert says(held) == []
    assert held.look_in is not None
    assert held.look_in < 1


@pytest.mark.shows("V24")
def test_what_can_wait_waits_until_somebody_is_heard() -> None:
    alone = replace(THERE, company={"room": COMPANY + 1})
    held = noon(made("An idea."), made("The wash is done.", "awaited"), facts=alone)
    assert (says(held), held.look_in) == ([], LOOK_SELDOM)
    long_ago = made("The wash is done.", "awaited", age=601)
    assert says(noon(made("An idea."), long_ago, facts=alone)) == ["The wash is done."]
    assert says(noon(made("An idea."), facts=replace(THERE, company=None))) == ["An idea."]


def test_where_somebody_was_heard_is_a_value() -> None:
    assert Facts(NOON, company={"kitchen": 20.0, "room": 90.0}).room == "kitchen"
    assert Facts(NOON, company={"kitchen": COMPANY + 1}).room == ""


@pytest.mark.shows("V24")
def test_it_is_one_breath_the_most_important_first() -> None:
    idea, heavy = made("An idea.", age=500), replace(made("Rent is due.", age=5), importance=0.9)
    wash, notice = made("The wash is done.", "awaited", age=5), made("A parcel came.", "notice", age=90)
    breath = ["The wash is done.", "A parcel came.", "Rent is due.", "An idea."]
    assert says(noon(idea, notice, heavy, wash)) == breath
    many = [made(f"{word} came.", "notice") for word in ("Anna", "Bert", "Cleo", "Dora", "Emil", "Fritz")]
    assert len(noon(*many).say) == MOST_IN_BREATH


@pytest.mark.shows("V24")
def test_a_newer_one_of_the_same_matter_stands_for_the_older() -> None:
    older = made("It is 24 degrees inside.", age=900, about="sensor.room", cause="a")
    newer = made("It is 26 degrees inside now.", age=5, about="sensor.room", cause="b")
    decision = noon(older, newer)
    assert (says(decision), drops(decision)) == (["It is 26 degrees inside now."], {older.words: "merged"})


def test_two_sentences_of_one_event_are_two_things() -> None:
    one, two = made("Anna called.", about="calls", cause="a"), made("So did the bank.", about="calls", cause="a")
    assert len(noon(one, two).say) == 2


def test_two_doors_are_two_things() -> None:
    garage, cellar = made("The door of the garage is open."), made("The door of the cellar is open.")
    assert len(noon(garage, cellar).say) == 2
    assert len(noon(made("车库的门还开着"), made("地下室的门还开着")).say) == 2


@pytest.mark.shows("V24")
def test_it_loses_its_point_with_time() -> None:
    for kind in ("own", "awaited", "notice", "urgent"):
        old = made("Too late.", kind, age=TERMS[kind].useful.total_seconds())
        decision = noon(old)
        assert (says(decision), drops(decision)) == ([], {"Too late.": "expired"})
    given_by_agent = replace(made("The bus goes in five minutes."), expires_at=NOON)
    assert drops(noon(given_by_agent)) == {given_by_agent.words: "expired"}


@pytest.mark.shows("V24")
def test_what_was_ignored_twice_is_not_offered_a_third_time() -> None:
    idea = made("Shall I play some jazz?")
    once, twice = [over(idea.words, minutes=90)], [over(idea.words, minutes=90), over(idea.words, minutes=40)]
    assert says(noon(idea, past=once)) == [idea.words]
    assert drops(noon(idea, past=twice)) == {idea.words: "ignored"}
    answered = [*twice, over(idea.words, minutes=30, answered=True)]
    assert says(noon(idea, past=answered)) == [idea.words]
    long_ago = [over(idea.words, minutes=60 * 24 * 31), over(idea.words, minutes=60 * 24 * 31)]
    assert says(noon(idea, past=long_ago)) == [idea.words]
    waited_for = replace(idea, kind="awaited")
    assert says(noon(waited_for, past=twice)) == [idea.words]


def test_a_breath_is_what_was_said_together() -> None:
    before, one, two = over("One.", minutes=1.5), over("Two.", minutes=0.5), over("Three.", minutes=0.4)
    assert last_breath([before, one, two]) == (one, two)
    assert last_breath([]) == ()


@pytest.mark.shows("G14")
def test_so_many_ideas_a_day_of_the_household() -> None:
    rules = Rules(zone=BERLIN, per_day=2)
    told = [over("One.", minutes=60), over("Two.", "expired", minutes=60)]
    fresh = [made("Cheese is cheap."), made("Tea is out."), made("The wash is done.", "awaited")]
    assert says(noon(*fresh, past=told, rules=rules)) == ["The wash is done.", "Cheese is cheap."]
    before_midnight = [over("One.", minutes=14 * 60), over("Two.", minutes=15 * 60)]  # 12:00 UTC is 13:00 there
    assert len(noon(*fresh, past=before_midnight, rules=rules).say) == 3
    assert says(noon(*fresh, rules=replace(rules, per_day=0))) == ["The wash is done."]


@pytest.mark.shows("G14")
def test_what_is_unwanted_is_not_said_nor_the_like_of_it() -> None:
    rules = Rules(unwanted=(Matter("You might like some jazz."), Matter("Anything", about="look at the garden")))
    like, same = made("You might like some new jazz."), made("The roses!", about="look at the garden")
    other = made("The wash is done.")
    decision = noon(like, same, other, rules=rules)
    assert (says(decision), drops(decision)) == ([other.words], {like.words: "unwanted", same.words: "unwanted"})


@pytest.mark.shows("V24")
def test_what_is_urgent_waits_for_a_full_stop_alone() -> None:
    quiet = quiet_hours("11:00-13:00", UTC)
    rules = Rules(quiet=quiet, per_day=0, unwanted=(Matter("Smoke in the kitchen!"),))
    smoke, idea = made("Smoke in the kitchen!", "urgent", age=1), made("An idea.")
    at_night = Facts(NOON, is_engaged=True, breath_ago=1.0, rested_for=0.0)
    assert says(noon(smoke, idea, facts=at_night, rules=rules)) == [smoke.words]
    for talk in (replace(at_night, is_speaking=True), replace(at_night, silent_for=0.1)):
        assert says(noon(smoke, facts=talk, rules=rules)) == []
        assert says(noon(smoke, facts=talk, rules=replace(rules, urgent_wait=0.0))) == [smoke.words]
        assert says(noon(replace(smoke, made_at=NOON - timedelta(seconds=11)), facts=talk, rules=rules)) == [
            smoke.words
        ]


@pytest.mark.shows("V24", "G13")
@pytest.mark.parametrize("day", [(2026, 3, 28), (2026, 10, 24)], ids=["clocks go forward", "clocks go back"])
def test_quiet_hours_are_kept_over_a_change_of_clocks(day: tuple[int, int, int]) -> None:
    """Every five minutes of two days: an idea made just now is said by day at once, and never by night."""
    rules = Rules(quiet_hours("22:00-07:00", BERLIN), BERLIN, per_day=10_000)
    begins = datetime(*day, 12, tzinfo=BERLIN).astimezone(UTC)
    said_at: list[datetime] = []
    for step in range(12 * 36):
        now = begins + timedelta(minutes=5 * step)
        idea = replace(made("An idea."), made_at=now, expires_at=now + timedelta(hours=3))
        if decide([idea], replace(THERE, now=now), (), rules).say:
            said_at.append(now.astimezone(BERLIN))
    by_night = [at for at in said_at if at.hour >= 22 or at.hour < 7]
    assert by_night == []
    assert f"{max(at for at in said_at if at.day == day[2]):%H:%M}" == "21:55"
    assert f"{min(at for at in said_at if at.day != day[2]):%H:%M}" == "07:00"


@given(
    st.lists(st.tuples(st.sampled_from(list(TERMS)), st.integers(0, 30_000)), max_size=8),
    st.booleans(),
    st.booleans(),
    st.floats(0, 10),
    st.one_of(st.none(), st.floats(0, 1000)),
)
def test_nothing_that_can_wait_is_said_over_people(
    kinds: list[tuple[Kind, int]], is_speaking: bool, is_engaged: bool, silent_for: float, heard: float | None
) -> None:
    facts = Facts(NOON, silent_for, is_speaking, is_engaged, company={} if heard is None else {"room": heard})
    waiting = [made(f"{kind} {at}", kind, age) for at, (kind, age) in enumerate(kinds)]
    decision = decide(waiting, facts, (), Rules())
    said, dropped = set(decision.say), {each for each, _ in decision.drop}
    assert not said & dropped
    assert all(each.expires_at > NOON for each in said)
    if is_speaking or is_engaged or silent_for < GAP:
        assert all(each.kind == "urgent" for each in said)


@pytest.mark.shows("V28")
def test_an_answer_waits_for_its_room_alone_and_for_nobody_in_it() -> None:
    answer = replace(made("At ten past nine.", "answer"), room="kitchen")
    empty = Facts(NOON, company={})
    there, away = replace(empty, away={"study"}), replace(empty, away={"kitchen"})
    night = Rules(quiet=quiet_hours("11:00-13:00", UTC), unwanted=(Matter("At ten past nine."),))
    assert says(noon(answer, facts=there, rules=night)) == ["At ten past nine."], "somebody asked"
    assert (says(noon(answer, facts=away)), noon(answer, facts=away).look_in) == ([], LOOK_AWAY)
    other = replace(answer, id="other", room="study", made_at=NOON)
    assert says(noon(answer, other, facts=empty)) == ["At ten past nine."] * 2, (
        "two rooms that asked the same are two answers"
    )
    assert drops(noon(replace(answer, expires_at=NOON), facts=there)) == {"At ten past nine.": "expired"}
