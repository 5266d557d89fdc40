"""What the switches were is kept over a restart, whatever becomes of the file."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest
from structlog.testing import capture_logs

from appliance.reflexes.kept import Kept, KeptSwitches
from audio.loops import running
from tests.appliance.visiting import until


async def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    until = datetime.now(UTC) + timedelta(hours=1)
    assert await KeptSwitches(tmp_path / "switches.json").keep(muted=True, muted_until=until, volume=40)
    assert KeptSwitches(tmp_path / "switches.json").now == Kept(muted=True, muted_until=until, volume=40)


async def test_what_the_disk_refused_is_written_once_it_takes_it(tmp_path: Path) -> None:
    file, rests = tmp_path / "away" / "switches.json", 0

    async def rest(seconds: float) -> None:
        nonlocal rests
        rests += 1
        if rests == 3:
            file.parent.mkdir()

    kept = KeptSwitches(file, rest)
    with capture_logs() as logged:
        assert not await kept.keep(muted=True)
        assert not await kept.keep(volume=30)
        async with running({"switches": kept.run}):
            await until(lambda: len(logged) == 2)
    assert [line["event"] for line in logged] == ["switches_not_kept", "switches_kept_at_last"], "told once"
    assert (rests, KeptSwitches(file).now) == (3, Kept(muted=True, volume=30))


async def test_a_disk_that_does_not_answer_is_waited_for_shortly_and_the_newest_state_comes_last(
    tmp_path: Path,
) -> None:
    file, loop, answers = tmp_path / "switches.json", asyncio.get_running_loop(), Event()
    loop.set_default_executor(ThreadPoolExecutor(1))
    loop.run_in_executor(None, answers.wait)  # what is to be written waits behind it, as on a frozen disk
    kept = KeptSwitches(file, patience=0.1)
    with capture_logs() as logged:
        assert not await kept.keep(muted=True)
        assert not await kept.keep(volume=30)
    assert [line["reason"] for line in logged] == ["the disk does not answer"], "told once"
    answers.set()
    while not await kept.keep():
        pass
    assert KeptSwitches(file).now == Kept(muted=True, volume=30)


NOBODY_KNOWS = (
    "{",
    "{}",
    "[]",
    "null",
    '{"muted": 1}',
    '{"nuted": false}',
    '{"muted": false, "volume": "x"}',
    '{"muted": false, "volume": 500}',
    '{"muted": false, "volume_configured": 1e999}',
)


@pytest.mark.parametrize("text", NOBODY_KNOWS)
def test_where_nobody_knows_what_was_wanted_the_microphone_stays_off(tmp_path: Path, text: str) -> None:
    (tmp_path / "switches.json").write_text(text)
    with capture_logs() as logged:
        assert KeptSwitches(tmp_path / "switches.json").now == Kept(muted=True)
    assert [line["event"] for line in logged] == ["switches_unreadable"]
