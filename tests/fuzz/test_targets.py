"""Parsers that strangers reach, each fed a short sample, the same every time."""

import pytest

from benchmarks.fuzz.__main__ import TARGETS, fed, main
from benchmarks.fuzz.target import Target


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_nothing_comes_out_but_the_parts_own_errors(target: Target) -> None:
    fed(target, examples=target.examples, derandomize=True)


def test_it_is_fed_for_a_stated_time_and_tells_how_it_went(capsys: pytest.CaptureFixture[str]) -> None:
    main(["image", "--seconds", "0.1"])
    assert capsys.readouterr().out.startswith("yes image: ")


def test_a_parser_that_there_is_not_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert "no such parser: nothing" in capsys.readouterr().err
