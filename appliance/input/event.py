"""What the ears hand over, as events for the mailbox."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from time import monotonic
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from agent.event import ASR_TRANSCRIPT, HOUSEHOLD, ROOM, SPEAKER, VOICE, Event
from audio.pcm import CHUNK_SECONDS
from audio.speech import RecognizedTurn
from audio.turns.evidence import evidence_of as figures_of
from audio.turns.evidence import judge
from memory.json_value import Json

PERSON_PRIORITY = 10
"""A person comes before its own work; timers (20) before a person."""


class Origin(Struct, frozen=True):
    """Where words were heard, and whose they are."""

    source: str = "mic"
    owner_key: str = HOUSEHOLD
    session_id: str = "room"
    metadata: Mapping[str, Json] = {}
    """What else its events carry."""
    room: str = ""
    """The name of the room; "" where it has none."""

    @property
    def marks(self) -> dict[str, Json]:
        """What the metadata of its events has of it."""
        return {**self.metadata, **({ROOM: self.room} if self.room else {})}


OWN: Final = Origin()
"""The box's own microphone, in a room without a name."""


def evidence_of(heard: RecognizedTurn) -> dict[str, Json]:
    """Return all that speaks for or against the words, as the event and the journal keep it."""
    utterance, transcript = heard.utterance, heard.transcript
    return {
        "confidence": transcript.confidence,
        "language": transcript.language,
        "recognizer": transcript.recognizer,
        "seconds": round(utterance.seconds, 2),
        "speech_seconds": round(utterance.speech_seconds, 2),
        "level_dbfs": round(utterance.level_dbfs, 1),
        "noise_dbfs": round(utterance.noise_dbfs, 1),
        "snr_db": round(utterance.level_dbfs - utterance.noise_dbfs, 1),
        "echo_suspicion": round(utterance.echo_suspicion, 3),
        **({} if utterance.probability is None else {"speech_probability": round(utterance.probability, 3)}),
        "score": round(judge(figures_of(heard)).score, 3),
        "chars_per_second": round(len(transcript.text) / max(utterance.speech_seconds, CHUNK_SECONDS), 1),
        **{name: round(value, 3) for name, value in transcript.evidence.items()},
    }


def event_of(
    heard: RecognizedTurn,
    max_tool_calls: int,
    continues: str = "",
    clock: Callable[[], float] = monotonic,
    addressing: Mapping[str, Json] = MappingProxyType({}),
    origin: Origin = OWN,
) -> Event:
    """Return the event of one committed turn: its words, its evidence, and when speech began.

    `continues` is the id of the event that the words go on with; `clock` is the one the turn's times are on;
    `addressing` is what speaks for it that they are for it, and whose voice it may be; `origin` is where they were
    heard. Who surely said it is told as the event's speaker too.
    """
    utterance, transcript = heard.utterance, heard.transcript
    timing: dict[str, Json] = {
        "speech_started": utterance.started_at,
        "speech_ended": utterance.ended_at,
        "committed": utterance.committed_at,
        "text": heard.recognized_at,
    }
    metadata = {**origin.marks, "evidence": {**evidence_of(heard), **addressing}, "timing": timing}
    voice = addressing.get(VOICE)
    if isinstance(voice, dict) and voice.get("sure"):
        metadata.setdefault(SPEAKER, voice["name"])
    if continues:
        metadata["continues"] = continues
    ago = timedelta(seconds=max(0.0, clock() - utterance.started_at))
    return Event(
        type=ASR_TRANSCRIPT,
        content=transcript.text,
        owner_key=origin.owner_key,
        session_id=origin.session_id,
        source=origin.source,
        priority=PERSON_PRIORITY,
        max_tool_calls=max_tool_calls,
        metadata=metadata,
        created_at=datetime.now(UTC) - ago,
    )
