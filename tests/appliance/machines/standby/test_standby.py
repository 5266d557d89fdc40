"""A standby takes over, in the same state; a mind that lost its turn says nothing more; and it is given back."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.errors import Exit
from appliance.machines.standby.standby import give_back
from memory.errors import EngineUnreachable, NobodyServes
from tests.appliance.machines.household import household, until
from tests.room.virtual_time import passed, run_virtually
from tests.service.process import SECONDS

pytestmark = pytest.mark.shows("H10", "X18")


def test_the_second_takes_over_within_ten_seconds_of_the_firsts_death(tmp_path: Path) -> None:
    async def story() -> tuple[float, list[str], str]:
        async with household(tmp_path, "attic", "cellar") as (attic, cellar), asyncio.TaskGroup() as group:
            first = group.create_task(attic.run())
            await until(lambda: attic.leads)
            second = group.create_task(cellar.run())
            await passed(20)
            assert not cellar.terms
            attic.engine.link.cut()  # a dead one neither renews nor releases
            first.cancel()
            seconds = await until(lambda: cellar.leads)
            await passed(5)
            second.cancel()
            return seconds, await cellar.said(), cellar.terms[0].before

    seconds, said, before = run_virtually(story())
    assert seconds < 7.5
    assert before == "attic"
    assert said[:20] == ["attic"] * 20, "it goes on in the same state"
    assert said[-5:] == ["cellar"] * 5


def test_one_that_was_cut_off_comes_back_and_stays_quiet(tmp_path: Path) -> None:
    async def story() -> None:
        async with household(tmp_path, "attic", "cellar") as (attic, cellar), asyncio.TaskGroup() as group:
            running = [group.create_task(attic.run())]
            await until(lambda: attic.leads)
            running.append(group.create_task(cellar.run()))
            await passed(10)
            attic.pause = 1_000.0  # it is in the middle of a long thought when its cable goes
            await passed(2)
            attic.engine.link.cut()
            await until(lambda: cellar.leads)
            count = len(await attic.said())
            attic.engine.link.mend()
            await until(lambda: attic.ended == ["lost"])
            await passed(20)
            said = await attic.said()
            assert said[count:] == ["cellar"] * (len(said) - count)
            assert len(said) - count > 15, "its copy follows"
            assert attic.told.lines[-1].startswith("WATCHDOG")
            assert [line for line in attic.told.lines if line.startswith("STATUS")][-1].startswith(
                "STATUS=follows cellar"
            )
            for task in running:
                task.cancel()

    run_virtually(story())


def test_what_a_stale_mind_writes_is_refused_before_it_knows(tmp_path: Path) -> None:
    async def story() -> None:
        async with household(tmp_path, "attic", "cellar") as (attic, cellar), asyncio.TaskGroup() as group:
            running = [group.create_task(attic.run())]
            await until(lambda: attic.leads)
            await cellar.state.lead(attic.terms[0].epoch + 1)  # as one that took the lease while this stood still
            await until(lambda: attic.ended == ["lost"])
            assert (await cellar.said()).count("attic") == len(await cellar.said())
            for task in running:
                task.cancel()

    run_virtually(story())


def test_it_is_given_to_the_other_at_once_by_a_command(tmp_path: Path) -> None:
    async def story() -> None:
        async with household(tmp_path, "attic", "cellar") as (attic, cellar), asyncio.TaskGroup() as group:
            running = [group.create_task(attic.run())]
            await until(lambda: attic.leads)
            with pytest.raises(NobodyServes, match="no other machine follows"):
                await give_back(attic.engine)
            running.append(group.create_task(cellar.run()))
            await passed(5)
            assert await give_back(cellar.engine) == "attic"
            assert await until(lambda: cellar.leads) < 2
            assert attic.ended == ["asked for"]
            await passed(60)
            assert len(attic.terms) == len(cellar.terms) == 1, "and stays there"
            assert await give_back(attic.engine) == "cellar"
            assert await until(lambda: attic.leads) < 2
            for task in running:
                task.cancel()

    run_virtually(story())


def test_a_stop_leaves_the_lease_to_the_other_at_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with household(tmp_path, "attic", "cellar") as (attic, cellar), asyncio.TaskGroup() as group:
            group.create_task(attic.run())
            await until(lambda: attic.leads)
            second = group.create_task(cellar.run())
            await passed(3)
            attic.stop.set()
            assert await until(lambda: cellar.leads) < 3
            assert attic.ended == ["stopped"]
            second.cancel()

    run_virtually(story())


def test_systemd_hears_of_both_roles(tmp_path: Path) -> None:
    async def story() -> None:
        async with household(tmp_path, "attic", "cellar") as (attic, cellar), asyncio.TaskGroup() as group:
            running = [group.create_task(attic.run())]
            await until(lambda: attic.leads)
            assert attic.told.lines[:2] == ["READY=1", "STATUS=listening"] or "READY=1" in attic.told.lines
            running.append(group.create_task(cellar.run()))
            await passed(12)
            assert cellar.told.lines.count("READY=1") == 1
            assert "STATUS=follows attic, to take over when that is gone" in cellar.told.lines
            assert cellar.told.lines.count("WATCHDOG=1") >= 3, "a follower is alive too"
            for task in running:
                task.cancel()

    run_virtually(story())


def test_without_an_engine_it_is_ready_and_waits(tmp_path: Path) -> None:
    async def story() -> None:
        async with household(tmp_path, "attic") as (attic,), asyncio.TaskGroup() as group:
            attic.engine.server.kill()
            running = group.create_task(attic.run())
            await passed(30)
            assert not attic.terms
            assert "STATUS=waits until it may lead the household" in attic.told.lines
            with pytest.raises(EngineUnreachable):
                await give_back(attic.engine)
            attic.engine.server.start()
            await until(lambda: attic.leads)
            running.cancel()

    run_virtually(story())


def test_a_machine_that_is_empty_yet_leaves_the_lease_to_one_that_is_not(tmp_path: Path) -> None:
    async def story() -> None:
        async with household(tmp_path, "attic", "cellar") as (attic, cellar), asyncio.TaskGroup() as group:
            running = group.create_task(attic.run())
            await until(lambda: attic.leads)
            await passed(30)
            attic.stop.set()
            await until(lambda: running.done())
            second = group.create_task(cellar.run())
            await until(lambda: cellar.leads)
            assert (await cellar.said())[:30] == ["attic"] * 30
            second.cancel()

    run_virtually(story())


def test_a_box_that_does_not_close_costs_the_process_and_not_the_lead_for_ever(tmp_path: Path) -> None:
    """Else it would keep the lease for as long as it hangs, and nobody would answer."""
    program = [sys.executable, "-m", "tests.appliance.machines.standby.hanging_program", str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == Exit.UNAVAILABLE, done.stderr
    assert "mind_asked_for" in done.stdout + done.stderr
    assert "stop_cut_short" in done.stdout + done.stderr
