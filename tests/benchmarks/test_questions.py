"""The questions at the live card: what is told of one that was not answered."""

import json
import sqlite3
from pathlib import Path

from appliance.input.suppressed import EARS_SUPPRESSED
from benchmarks.room.questions import Asked, refusals, stalls, told
from tests.service.process import Household


def test_what_was_not_answered_is_told_with_the_reason() -> None:
    right = Asked("Play the radio.", "slt", 16.0, "play the radio", is_answered=True)
    lost = Asked("Play the radio.", "en-us", 16.0, "", is_answered=False, why="'array': unlikely words")
    assert told("music", [right, lost]) == (
        "music: 1 of 2 answered, 1 understood word for word\n"
        "  en-us, 16 dB: 'Play the radio.' heard as '', NOT answered ('array': unlikely words)"
    )


def test_the_reason_is_that_of_the_turns_that_nobody_got(tmp_path: Path) -> None:
    home = Household(tmp_path)
    home.state.mkdir()
    rows = [
        (EARS_SUPPRESSED, {"reason": "no speech by the evidence: hardly a voice", "text_spoken": "array video"}),
        ("runs.new", {"words": "what time is it"}),
        (EARS_SUPPRESSED, {"reason": "the recognizer failed"}),
    ]
    with sqlite3.connect(home.state / "nakari.db") as database:
        database.execute("CREATE TABLE journal (seq INTEGER PRIMARY KEY, topic TEXT, body TEXT)")
        database.executemany(
            "INSERT INTO journal (topic, body) VALUES (?, ?)", [(topic, json.dumps(body)) for topic, body in rows]
        )
    database.close()
    assert refusals(home) == [
        "'array video': no speech by the evidence: hardly a voice",
        "'': the recognizer failed",
    ]


def test_a_card_that_stalled_is_told_and_one_that_did_not_is_not() -> None:
    assert stalls(
        [{"event": "utterance_ended"}, {"event": "loudspeaker_lost"}, {"event": "microphone_unavailable"}]
    ) == ["the card stalled 2 times"]
    assert stalls([{"event": "loudspeaker_back"}]) == []
