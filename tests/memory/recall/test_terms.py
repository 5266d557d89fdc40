"""Terms of what is remembered, made by several threads at a time: of what comes in, and of what is asked."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest
from snowballstemmer import stemmer

from memory.recall.terms import index_terms

ENDINGS = ("ational", "fulness", "iveness", "ingly", "ies", "ization")


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Have Python change threads all the time, as a busy machine may."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("hasty_threads")
def test_threads_that_look_for_stems_do_not_spoil_each_other_s() -> None:
    letters = "bcdfgklmnprst"
    words = [f"{a}o{b}a{c}{end}" for a, b, c, end in product(letters, letters, letters[:6], ENDINGS)]
    halves = words[::2], words[1::2]
    with ThreadPoolExecutor(2) as threads:
        found = [*threads.map(lambda half: index_terms(" ".join(half)), halves)]
    alone = stemmer("english")
    assert found == [[alone.stemWord(word) for word in half] for half in halves]
