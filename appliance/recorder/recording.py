"""A recording of one turn: its sound, what each decision went by, and what was decided; one file."""

import io
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypedDict

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict
from numpy.typing import NDArray

from audio.pcm import CHUNK_SAMPLES, AudioChunk, Samples
from memory.json_value import Json, read_json

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FORMAT: Final = 1
_STATE: Final = "state."
"""What the names of the listener's state begin with in the file."""


class Damaged(Exception):
    """A file that is no whole recording."""


class Hypothesis(TypedDict):
    """Words as they were understood while the turn was still open: the alternatives to its transcript."""

    asked_chunk: int
    """How many chunks had come when they were asked for."""
    told_chunk: int
    """The same when they were known."""
    committed_at: float
    """Seconds on the source's clock, of `Utterance.committed_at`: by it, and the next, they are known again."""
    ended_at: float
    text: str
    language: str
    evidence: dict[str, float]


class Suspicion(TypedDict):
    """How likely a stretch of sound was nakari's own voice, as the echo guard said."""

    chunk: int
    """How many chunks had come when it was asked."""
    started_at: float
    ended_at: float
    value: float
    is_peek: bool
    """Whether somebody wanted the words so far: it was asked between two chunks."""
    last_took: float
    """Seconds of the newest recognition by then."""


class _Told(Struct, frozen=True, kw_only=True):
    """What of a recording is text and numbers."""

    id: str
    """The event's, or one of its own where it became none."""
    owner_key: str
    began: str
    """When speech began, ISO, UTC."""
    settings: Mapping[str, Json]
    """`[ears]` as it was."""
    decided: Mapping[str, Json]
    """What came of the turn, by name."""
    first: int = 0
    """The chunk before which the listener was in `state`; those before it are its pre-roll."""
    hypotheses: tuple[Hypothesis, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()
    barge_in: tuple[tuple[int, str], ...] = ()
    """What speech did to a reply: how many chunks had come, and "paused", "ducked", "went on" or "ended"."""
    names: tuple[str, ...] = ()
    """That the recognizer was to expect."""


class Recording(_Told, frozen=True, kw_only=True):
    """One turn. All times in seconds on the source's clock; sound is int16 at 16 kHz in whole chunks."""

    microphone: Samples
    """As it came from the microphone."""
    cleaned: Samples
    """Without nakari's voice: what was listened to."""
    reference: Samples
    """What left the loudspeaker at that time."""
    microphone_at: NDArray[np.float64]
    """When each chunk of the microphone began."""
    cleaned_at: NDArray[np.float64]
    """When each cleaned chunk began: later by what the canceller keeps."""
    probability: NDArray[np.float64]
    """Of speech, of each chunk."""
    covered: NDArray[np.bool_]
    """Whether nakari's voice covered the chunk, so that no utterance might go on in it."""
    state: "Mapping[str, ArrayLike]" = {}
    """Of the listener (`Listener.state`); {} where none was taken, and nothing is promised of a replay."""

    @property
    def seconds(self) -> float:
        """Length of its sound."""
        return len(self.microphone) / CHUNK_SAMPLES * 0.032

    def chunks(self, *, cleaned: bool) -> list[AudioChunk]:
        """Return the chunks of one of the two sounds, in order."""
        sound, at = (self.cleaned, self.cleaned_at) if cleaned else (self.microphone, self.microphone_at)
        pieces = sound.reshape(-1, CHUNK_SAMPLES)
        return [AudioChunk(piece, float(began)) for piece, began in zip(pieces, at, strict=True)]

    def about(self) -> dict[str, Json]:
        """Return what is listed of it: no sound."""
        return {
            "id": self.id,
            "began": self.began,
            "seconds": round(self.seconds, 2),
            **self.decided,
            "hypotheses": [dict(each) for each in self.hypotheses],  # type: ignore[arg-type]
            "barge_in": [list(each) for each in self.barge_in],
            "settings": dict(self.settings),
        }

    def to_bytes(self) -> bytes:
        """Return the file."""
        meta = {"format": FORMAT} | {name: getattr(self, name) for name in _Told.__struct_fields__}
        arrays: dict[str, ArrayLike] = {name: getattr(self, name) for name in _ARRAYS}
        arrays |= {f"{_STATE}{name}": value for name, value in self.state.items()}
        if np.array_equal(self.microphone, self.cleaned):
            del arrays["cleaned"]
        if not self.reference.any():
            del arrays["reference"]
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Recording":
        """Return what `to_bytes` wrote. Raises `Damaged`."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                told = arrays["meta"].tobytes()
                sound = {name: arrays[name] for name in _ARRAYS if name in arrays}
                state = {name.removeprefix(_STATE): arrays[name] for name in arrays if name.startswith(_STATE)}
            sound.setdefault("cleaned", sound["microphone"])
            sound.setdefault("reference", np.zeros_like(sound["microphone"]))
            _require_format(read_json(told, _Format).format)
            _require_chunks(sound)
            return cls(**asdict(read_json(told, _Told)), **sound, state=state)
        except Exception as error:  # whatever a bent byte makes of an archive, its arrays and its text
            raise Damaged(f"it is not whole ({error})") from error


class _Format(Struct, frozen=True):
    format: int


def _require_format(number: int) -> None:
    if number != FORMAT:
        raise ValueError("another version of nakari wrote it")


def _require_chunks(sound: Mapping[str, NDArray[Any]]) -> None:
    chunks = len(sound["microphone_at"])
    if any(len(each) != chunks * (CHUNK_SAMPLES if name in _SOUNDS else 1) for name, each in sound.items()):
        raise ValueError("its sound and its times are not of one length")


_SOUNDS: Final = ("microphone", "cleaned", "reference")
_ARRAYS: Final = (*_SOUNDS, "microphone_at", "cleaned_at", "probability", "covered")
