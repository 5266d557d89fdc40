"""What the switches were is kept over a restart, whatever becomes of the file."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from appliance.reflexes.kept import Kept, KeptSwitches


async def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    until = datetime.now(UTC) + timedelta(hours=1)
    assert await KeptSwitches(tmp_path / "switches.json").keep(muted=True, muted_until=until, volume=40)
    assert KeptSwitches(tmp_path / "switches.json").now == Kept(muted=True, muted_until=until, volume=40)


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
