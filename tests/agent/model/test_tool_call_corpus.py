"""Outputs of models out of public test suites: read right, however they are cut."""

from collections import Counter

import pytest

from tests.agent.dialect_corpus import Case, cases, damaged, is_right, outcome, read, splits

pytestmark = pytest.mark.shows("F1", "B12", "X6")

CORPUS = cases()


@pytest.mark.parametrize("case", CORPUS, ids=str)
def test_an_output_is_read_right_and_alike_however_it_is_cut(case: Case) -> None:
    whole = outcome(read(case, [case.text]))
    assert is_right(case, whole) == (not case.wrong)
    for pieces in (list(case.text), *splits(case.text, 5, seed=len(case.text))):
        assert outcome(read(case, pieces)) == whole


def test_a_damaged_output_is_read_alike_however_it_is_cut() -> None:
    for number, case in enumerate(damaged(CORPUS, 400, seed=7)):
        whole = outcome(read(case, [case.text]))
        for pieces in splits(case.text, 2, seed=number):
            assert outcome(read(case, pieces)) == whole, (case.text, pieces)


def test_the_share_of_right_outputs() -> None:
    counted = Counter((case.share, not case.wrong) for case in CORPUS)
    assert (counted["seen", True], counted["seen", False]) == (71, 1)
    assert (counted["held back", True], counted["held back", False]) == (216, 7)


def test_every_notation_is_held_back_too() -> None:
    seen, held = ({case.format for case in CORPUS if case.share == share} for share in ("seen", "held back"))
    assert seen <= held
    assert len(held) >= 20
