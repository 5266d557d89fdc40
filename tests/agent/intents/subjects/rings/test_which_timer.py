"""Which timer is meant: an alarm is called by the time at which it rings."""

import pytest

from agent.intents.dialog_state import read_dialog
from agent.intents.reading.understanding import load_understanding
from agent.intents.subjects.rings.which_timer import meant
from agent.model.messages import Message
from tests.agent.offline_talk import TOOLS

UNDERSTANDING = load_understanding()
DUE = {"seven": "2026-11-23 07:00:00 CET", "quarter": "2026-11-22 18:45:00 CET", "noon": "2026-11-22 12:30:00 CET"}


@pytest.mark.shows("V30")
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("Cancel my seven o'clock alarm.", "seven"),
        ("Cancel the alarm at 7 am.", "seven"),
        ("Cancel my seven pm alarm.", ""),
        ("Cancel the quarter to seven alarm.", "quarter"),
        ("Cancel the six forty-five alarm.", "quarter"),
        ("Move the half past twelve alarm to one.", "noon"),
        ("Cancel the nine o'clock alarm.", ""),
    ],
)
def test_an_alarm_is_called_by_its_time(words: str, wanted: str) -> None:
    state = read_dialog([Message("system", "You are nakari."), Message("user", words)], TOOLS.specs_for(""), "en")
    found = meant(state, [{"id": name, "label": "", "due": due} for name, due in DUE.items()], UNDERSTANDING(words))
    assert (found["id"] if found else "") == wanted
