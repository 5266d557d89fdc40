"""Where an index is on its way, whether the store is free, and when it is quiet: told by a clock of the test's own."""

import pytest

from memory.graph.embedded.stages import LONGEST, QUIET, Stage, Stages

pytestmark = pytest.mark.shows("C9")


def test_the_store_is_free_unless_an_index_is_being_made() -> None:
    stages = Stages(lambda: 0.0)
    for stage in Stage:
        stages.enter("near", stage)
        assert stages.free.is_set() == (stage is not Stage.MAKING)
    stages.enter("near", Stage.MAKING)
    stages.enter("words", Stage.MAKING)
    stages.leave(["near"])
    assert not stages.free.is_set()
    stages.leave(["words", "nobody"])
    assert stages.free.is_set()


def test_what_is_said_of_an_index_is_its_stage_and_what_comes_with_it() -> None:
    stages = Stages(lambda: 0.0)
    stages.enter("near", Stage.BUILDING, " over 1500 vectors")
    stages.enter("words", Stage.REFUSED, ": it is there")
    assert stages.told() == {"near": "being built over 1500 vectors", "words": "it was not made: it is there"}
    assert (stages.of("near"), stages.of("other")) == (Stage.BUILDING, None)
    assert stages.names(Stage.BUILDING, Stage.WAITING) == ["near"]


def test_a_store_that_starts_anew_remembers_only_what_it_refused() -> None:
    stages = Stages(lambda: 0.0)
    for stage in Stage:
        stages.enter(stage.name, stage)
    stages.begin_anew()
    assert (stages.names(*Stage), stages.free.is_set()) == (["REFUSED"], True)


def test_a_stage_lasts_from_when_it_was_entered_first() -> None:
    time = [5.0]
    stages = Stages(lambda: time[0])
    stages.enter("near", Stage.MAKING)
    time[0] = 7.0
    stages.enter("near", Stage.MAKING, " over 9 nodes")
    stages.enter("words", Stage.MAKING)
    assert (stages.since(Stage.MAKING), stages.since(Stage.WAITING)) == (5.0, None)
    stages.enter("near", Stage.BUILDING)
    assert (stages.since(Stage.MAKING), stages.since(Stage.BUILDING)) == (7.0, 7.0)


def test_it_is_quiet_some_time_after_the_last_statement() -> None:
    time = [0.0]
    stages = Stages(lambda: time[0])
    time[0] = 3.0
    assert stages.quiet_in() == QUIET - 3.0
    stages.asked()
    assert stages.quiet_in() == QUIET
    time[0] += QUIET
    assert stages.quiet_in() == 0


def test_an_index_does_not_wait_for_ever_for_a_quiet_that_never_comes() -> None:
    time = [0.0]
    stages = Stages(lambda: time[0])
    stages.enter("words", Stage.WAITING)
    while stages.quiet_in() > 0:
        time[0] += QUIET / 2
        stages.asked()
        stages.enter("words", Stage.WAITING)
    assert time[0] == LONGEST
