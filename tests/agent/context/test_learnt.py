"""How long a list may be: never below what a server names or what there is at least, nor for ever."""

import pytest

from agent.context.carried import ROOM, Learnt
from agent.errors import ContextTooLong
from agent.model.window import DOUBTED_AFTER

pytestmark = pytest.mark.shows("F5")

PREFIX = 1546


def refused(window: int = 0, asked: int = 0) -> ContextTooLong:
    return ContextTooLong("…", window, asked)


def test_the_number_that_a_server_names_is_turned_into_what_is_counted_here() -> None:
    assert Learnt().after_refusal(6000, PREFIX, refused(4096, 6000)).most == int(4096 * 0.85)
    assert Learnt().after_refusal(5000, PREFIX, refused(4096, 6000)).most == int(4096 / 1.2 * 0.85)


def test_what_a_refusal_says_of_a_list_that_it_cannot_be_about_teaches_nothing() -> None:
    known = Learnt().after_refusal(6000, PREFIX, refused(4096, 6000))
    for short in (1690, 1600):
        for refusal in (refused(4096, 6000), refused(4096), refused(6000, 9000), refused()):
            known = known.after_refusal(short, PREFIX, refusal)
    assert known.most == int(4096 * 0.85)


def test_without_a_number_it_is_less_than_what_was_refused_and_never_less_than_prompt_and_tools() -> None:
    known = Learnt().after_refusal(6000, PREFIX, refused())
    assert known.most == 4000
    for tokens in (4000, 2600, 1900, 1600):
        known = known.after_refusal(tokens, PREFIX, refused())
    assert known.most == int(PREFIX * ROOM)


@pytest.mark.parametrize("refusal", [refused(4096, 6000), refused()])
def test_a_list_that_was_refused_before_and_is_accepted_ends_it(refusal: ContextTooLong) -> None:
    known = Learnt().after_refusal(6000, PREFIX, refusal)
    assert known.after_answer(2000).most == known.most
    assert known.after_answer(6000).most == 0


def test_a_guess_is_tried_again_after_some_answers_and_a_number_is_not() -> None:
    guess = Learnt().after_refusal(6000, PREFIX, refused())
    told = Learnt().after_refusal(6000, PREFIX, refused(4096, 6000))
    for _ in range(DOUBTED_AFTER):
        guess, told = guess.after_answer(1600), told.after_answer(1600)
    assert (guess.most, told.most) == (0, int(4096 * 0.85))
