"""What the doctor says of ears."""

from pathlib import Path

import pytest

from appliance.config.load import load
from appliance.doctor.examine import Verdict
from appliance.machines.check import ears
from tests.appliance.machines.ears_box import EARS
from tests.service.process import Household


@pytest.mark.shows("H10")
def test_the_doctor_tells_of_ears_that_do_not_run_and_nothing_of_other_boxes(tmp_path: Path) -> None:
    alone = ears(load(Household(tmp_path / "alone").write(), {"HOME": str(tmp_path)}))
    assert (alone.verdict, alone.fix) == (Verdict.OK, "")
    away = ears(load(Household(tmp_path / "ears", {"machines": EARS}).write(), {"HOME": str(tmp_path)}))
    assert away.verdict is Verdict.WARNING
    assert "nakari run" in away.fix
