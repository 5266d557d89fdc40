"""A made-up life: the same of the same seed, in order, and every question of it has the answer that was told."""

from datetime import UTC, date, timedelta

import pytest

from appliance.bench.generator import FORGET, KINDS, UNKNOWN, Examination, Generator, Life, Probe, written
from benchmarks.self.understanding import question, statement

MONDAY = date(2026, 3, 2)


def life(seed: int = 1, weeks: int = 26) -> Life:
    return Generator(seed, weeks, MONDAY, UTC).life(Examination())


def test_a_seed_makes_one_life_and_another_seed_another() -> None:
    assert life(1) == life(1)
    assert life(1) != life(2)


def test_half_a_year_has_every_kind_of_question_in_the_order_of_time() -> None:
    made = life()
    moments = [each.at for each in made.said]
    assert moments == sorted(moments)
    assert {probe.kind for probe in made.probes} == set(KINDS)
    assert made.days == 26 * 7 + 1
    assert len({probe.at.date() for probe in made.probes}) == 7, "it is examined every four weeks, and at the end"


def test_both_languages_are_spoken_and_asked_in() -> None:
    made = life()
    for lines in (made.probes, made.said):
        chinese = sum(any("\u4e00" <= letter <= "\u9fff" for letter in each.words) for each in lines)
        assert len(lines) // 4 < chinese < len(lines) * 3 // 4


def test_a_right_answer_was_told_before_it_is_asked_for() -> None:
    made = life()
    for place, probe in enumerate(made.said):
        if not isinstance(probe, Probe) or probe.kind in UNKNOWN:
            continue
        told = [each for each in made.said[:place] if not isinstance(each, Probe)]
        if probe.kind in ("now", "before"):
            assert any(probe.expected[0] in each.words for each in told), probe
        elif probe.kind == "who":
            assert set(probe.expected) <= {each.speaker for each in told}
        else:
            assert any(each.at.date().isoformat() in probe.expected for each in told)


@pytest.mark.parametrize("seed", range(1, 9))
def test_what_is_so_now_is_what_was_said_last(seed: int) -> None:
    newest: dict[tuple[str, str], str] = {}
    for each in life(seed).said:
        if isinstance(each, Probe):
            asked = question(each.words)
            if each.kind == "now" and asked:
                assert each.expected == (newest[asked.who, asked.topic],), each
        elif so := statement(each.words):
            newest[so.who or each.speaker.lower(), so.topic] = so.value


def test_a_secret_is_said_once_and_forgotten_seconds_later_or_the_next_morning() -> None:
    made = life()
    waits = []
    for secret in made.secrets:
        (place,) = [at for at, each in enumerate(made.said) if secret in each.words]
        said, then = made.said[place : place + 2]
        assert (then.words, then.speaker) == (FORGET, said.speaker)
        waits.append(then.at - said.at)
    assert sorted(waits) == [timedelta(seconds=9)] * 4 + [timedelta(hours=10)] * 4


def test_nobody_says_anything_of_those_who_are_asked_for_in_vain() -> None:
    made = life()
    told = " ".join(each.words for each in made.said if not isinstance(each, Probe))
    for name in ("Zelda", "Yuri", "Walter", "Viola", "泽尔达", "尤里", "birthday", "生日", "shoe", "鞋"):
        assert name not in told


def test_a_date_is_known_in_the_ways_in_which_people_write_it() -> None:
    assert {"2026-03-04", "March 4", "4 March", "3月4"} <= set(written(date(2026, 3, 4)))
