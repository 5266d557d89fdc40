"""`nakari status` on one screen: what is so in words, and no more than 24 lines of 80 columns."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from appliance.cli.look_after.status import duration, in_words
from appliance.cli.terminal import cell_width, columns
from appliance.doctor.examine import Verdict
from appliance.doctor.machine import judge_space
from memory.json_value import Json

QUESTIONS: dict[str, Any] = {"waiting": [{"tool": "home_say", "until": "2026-11-22T06:30:00+00:00"}]}
DEVICE = {"state": "here", "times_lost": 0, "reason": ""}
USAGE = {"calls": 3, "prompt_tokens": 900, "cached_share": 0.5, "completion_tokens": 90, "cost_usd": 0.0123}
STATUS: dict[str, Any] = {
    "version": "0.1.0",
    "uptime_seconds": 93_784.0,
    "mailbox": {"pending": 2, "suspended": 1, "in_hand": 1, "completed": 40, "dead": 1, "withdrawn": 0},
    "own_work": {
        "model_calls_today": 37,
        "model_calls_per_day": 300,
        "usd_today": 0.0251,
        "usd_per_day": 1.0,
        "waits_until": "",
    },
    "timers": {"waiting": 2, "next": "2026-11-22T06:30:00+00:00"},
    "run": {"run_id": "x", "owner_key": "household", "status": "AWAITING_LLM_DECISION"},
    "ears": {"source": "USB mic", "microphone": DEVICE, "recognizer": "faster-whisper:base", "chunks": 1},
    "loudspeaker": {"device": "speaker", **DEVICE},
    "reflexes": {"muted": False, "volume": 70},
    "models": {"thinks": "openai/m", "in_order": ["openai/m", "offline"], "today": USAGE},
    "graph": {"state": "ready", "reason": "", "embeddings": "local:m", "visitors": {"graphs": 0}},
    "mcp": {"files": {"state": "connected", "tools": 2}, "mail": {"state": "lost", "reason": "gone"}},
    "egress": {"leaves": ["what nakari says, to Microsoft's read-aloud service ([voice] engine)"]},
    "state": {"bytes": 131_848, "disk": "has room", "disk_free_bytes": 80_999_677_952},
}


def told(status: dict[str, Any], heard: str = "") -> dict[str, str]:
    """Return the text of each title."""
    found: dict[str, str] = {}
    title = ""
    for name, text in in_words(status, heard):
        title = name or title
        found[title] = f"{found.get(title, '')} {text}".strip()
    return found


@pytest.mark.shows("F28")
def test_who_heard_last_is_told_and_who_is_left_out() -> None:
    engines = {"openai:whisper-1": "rests 8 s: the recognizer at speech.home refused", "faster-whisper:base": "ready"}
    ears = {"source": "USB mic", "microphone": DEVICE, "recognizer": "faster-whisper:base", "engines": engines}
    assert told({**STATUS, "ears": ears})["microphone"] == (
        "listening on USB mic, with faster-whisper:base; "
        "openai:whisper-1 rests 8 s: the recognizer at speech.home refused"
    )


@pytest.mark.shows("H10")
def test_who_leads_and_which_ears_there_are_is_told() -> None:
    ears = {"kitchen": {"room": "kitchen", "there": True}, "bedroom": {"room": "", "there": False}}
    mind = {"role": "mind", "machine": "study", "epoch": 3, "engine": "connected", "ears": ears}
    term = {"machine": "study", "state": "leads", "epoch": 3, "since": "2026-11-22T06:30:00+00:00", "before": "attic"}
    line = told({**STATUS, "machines": mind, "standby": term})["machines"]
    since = datetime.fromisoformat(str(term["since"])).astimezone()
    assert line == f"study leads, after attic, since {since:%Y-%m-%d %H:%M}; ears kitchen there; ears bedroom away"
    line = told({**STATUS, "machines": {**mind, "engine": "away", "ears": {}}})["machines"]
    assert line == "study leads, the server between them is away"


@pytest.mark.shows("H5")
def test_what_a_person_wants_to_know_is_said_in_words() -> None:
    assert told(STATUS, "Saturday 18:00: what time is it") == {
        "nakari": "0.1.0, running for 1 day 2 h",
        "microphone": "listening on USB mic, with faster-whisper:base",
        "last heard": "Saturday 18:00: what time is it",
        "loudspeaker": "speaker, volume 70 %",
        "model": "openai/m, then offline; 3 calls today, 0.01 USD",
        "at work on": "awaiting llm decision",
        "mailbox": "2 waiting, 1 put off, 1 in hand, 1 given up, 40 done",
        "own work": "37 of 300 model calls today, 0.03 of 1.00 USD",
        "timers": told(STATUS)["timers"],
        "memory": "the graph is ready; vectors by local:m",
        "tool servers": "files connected, mail lost",
        "disk": "has room, 81.0 GB free; the journal takes 0.1 MB",
        "leaves house": "what nakari says, to Microsoft's read-aloud service ([voice] engine)",
    }
    assert told(STATUS)["timers"].startswith("2 waiting, the next at ")


def test_times_are_those_of_the_household_not_of_the_shell() -> None:
    rows = [tuple(row) for row in in_words(STATUS, zone=ZoneInfo("Asia/Shanghai"))]
    assert ("timers", "2 waiting, the next at Sunday 14:30") in rows


@pytest.mark.parametrize(
    ("free", "how"), [(10**9, "has room"), (10**9 - 1, "has little room"), (10**8, "has too little room")]
)
def test_the_disk_has_room_where_the_doctor_says_so_too(free: int, how: str) -> None:
    line = told(STATUS | {"state": {"bytes": 0, "disk": "has room", "disk_free_bytes": free}})["disk"]
    assert line.startswith(f"{how}, ")
    assert (judge_space(free).verdict is Verdict.OK) == (how == "has room")


def test_what_is_wrong_is_said() -> None:
    now = datetime.now().astimezone()
    failed = {"m": {"at": now.isoformat(), "reason": "m rejects the API key: correct the key in the configuration"}}
    told_of = told(STATUS | {"models": {**STATUS["models"], "failed": failed}})["model"]
    assert f"failed at {now:%H:%M}: m rejects the API key: correct the key in the configuration" in told_of
    gone = {"state": "gone", "reason": "there is no microphone on this machine"}
    muted = STATUS | {"reflexes": {"muted": True, "volume": 70}}
    assert told(muted)["microphone"].startswith("muted on USB mic")
    at = datetime.fromisoformat("2026-11-21T14:05").astimezone().isoformat()
    until = STATUS | {"reflexes": {"muted": True, "muted_until": at}}
    assert told(until)["microphone"].startswith("muted until 14:05, on USB mic")
    deaf = STATUS | {"ears": {"source": "none", "microphone": gone}, "loudspeaker": {"device": "none", **gone}}
    assert told(deaf)["microphone"] == "not listening: there is no microphone on this machine"
    assert told(deaf)["loudspeaker"].startswith("none: ")
    damaged = STATUS | {"graph": {"state": "failed", "reason": "it is damaged", "embeddings": "none"}}
    assert told(damaged)["memory"] == "the graph is failed (it is damaged); vectors by none"


@pytest.mark.shows("G16")
def test_what_the_last_night_took_is_told() -> None:
    night = {"at": "2026-11-22T02:00:00+00:00", "tokens": 12_345, "most_tokens": 200_000, "usd": 0.02, "most_usd": 0.25}
    line = told(STATUS | {"own_work": STATUS["own_work"] | {"night": night}})["own work"]
    assert line.endswith("; the last night 12,345 of 200,000 tokens, 0.02 of 0.25 USD")


@pytest.mark.shows("B7", "A16")
def test_own_work_that_waits_for_the_next_day_is_told() -> None:
    spent = STATUS["own_work"] | {"model_calls_today": 300, "waits_until": "2026-11-22 23:00:00 UTC"}
    line = told(STATUS | {"own_work": spent})["own work"]
    assert line == "300 of 300 model calls today, 0.03 of 1.00 USD; the rest tomorrow"


def test_nothing_is_said_to_leave_where_nothing_does() -> None:
    assert told(STATUS | {"egress": {"leaves": []}})["leaves house"] == "nothing leaves this machine"


def test_a_visitor_is_told_what_is_theirs() -> None:
    theirs = {"version": "0.1.0", "uptime_seconds": 5.0, "mailbox": {}, "timers": {"waiting": 0}, "run": None}
    assert told(theirs) == {
        "nakari": "0.1.0, running for 5 s",
        "at work on": "nothing",
        "mailbox": "empty",
        "timers": "none",
    }


@pytest.mark.shows("H5")
def test_it_fits_one_screen_whatever_there_is_to_say() -> None:
    long = "a very long reason indeed, which goes on " * 30
    wordy = STATUS | {
        "ears": {"source": long, "microphone": {"reason": long}, "recognizer": "x"},
        "loudspeaker": {"device": long},
        "models": {"thinks": "m", "in_order": [f"model-{n}" for n in range(99)], "today": USAGE},
        "graph": {"state": "failed", "reason": long, "embeddings": long},
        "mcp": {f"server-{n}": {"state": "connected"} for n in range(20)},
        "egress": {"leaves": [f"what the tools of {n} are given, to host{n}.example ([mcp.{n}])" for n in range(30)]},
    }
    lines = columns(in_words(wordy, long))
    assert len(lines) <= 24
    assert max(map(cell_width, lines)) <= 80
    narrow = columns(in_words(wordy, long, columns=40))
    assert max(map(cell_width, narrow)) <= 40
    assert len(" ".join(narrow).split()) >= len(" ".join(lines).split()), "more lines, and no fewer words"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (5.9, "5 s"),
        (60, "1 min"),
        (3_599, "59 min"),
        (7_260, "2 h 1 min"),
        (90_000, "1 day 1 h"),
        (400_000, "4 days 15 h"),
    ],
)
def test_a_duration_is_told_in_its_two_largest_units(seconds: float, said: str) -> None:
    assert duration(seconds) == said


@pytest.mark.shows("X13")
def test_who_came_by_wyoming_is_told_or_why_nobody_can() -> None:
    came = datetime.fromisoformat("2026-11-22T06:30:00+00:00")
    door = {"address": "0.0.0.0:10300", "connections": 2, "last": came.isoformat(), "problem": ""}
    assert told({**STATUS, "wyoming": door})["wyoming"] == (
        f"at 0.0.0.0:10300, 2 connected, the last at {came.astimezone():%Y-%m-%d %H:%M}"
    )
    assert told({**STATUS, "wyoming": {**door, "problem": "it is taken"}})["wyoming"] == "it is taken"


def test_a_question_that_waits_for_a_yes_is_one_line() -> None:
    until = datetime.fromisoformat("2026-11-22T06:30:00+00:00").astimezone()
    assert [text for title, text in in_words({**STATUS, "questions": QUESTIONS}) if title == "asked"] == [
        f"waits for a yes to home_say until {until:%H:%M:%S}"
    ]
    assert not [title for title, _ in in_words({**STATUS, "questions": {"waiting": []}}) if title == "asked"]


@pytest.mark.shows("V24", "G14")
def test_what_waits_to_be_said_and_what_is_unwanted_is_one_line() -> None:
    def line(waiting: int, unwanted: list[Json]) -> list[str]:
        told: dict[str, Json] = {**STATUS, "announcements": {"waiting": waiting, "unwanted": unwanted}}
        return [text for title, text in in_words(told) if title == "unasked"]

    assert line(2, ["jazz"]) == ["2 wait for a gap, 1 thing nobody wants to hear (`nakari settings`)"]
    assert line(0, []) == []
