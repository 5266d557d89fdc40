"""What is sampled is the same in every run of a commit, and all of it is tried over the commits."""

import subprocess
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.sample import commit, sample

pytestmark = pytest.mark.shows("X22")


def test_a_sample_is_the_same_for_a_commit_and_keeps_the_order() -> None:
    once = sample(range(100), 10, whole=False, seed="a")
    assert once == sample(range(100), 10, whole=False, seed="a") == sorted(once)
    assert len({*once}) == 10


def test_each_is_tried_at_some_commit() -> None:
    chosen = [tuple(sample("abcdefgh", 3, whole=False, seed=str(number))) for number in range(40)]
    assert len({*chosen}) > 20
    assert {each for some in chosen for each in some} == {*"abcdefgh"}


def test_the_whole_is_the_whole() -> None:
    assert sample("abc", 1, whole=True) == ["a", "b", "c"]


def test_the_seed_is_the_commit(tmp_path: Path) -> None:
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert commit() == head.stdout.strip()
    assert commit(tmp_path) == "", "an archive of the source is no clone"
