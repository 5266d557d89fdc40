"""Streaming recognition by sherpa-onnx: words while somebody speaks, and at once when the turn ends.

The library ends the process that gives it a model which is not as it expects, so a folder is tried in a process of its
own before it is loaded here: `python -m audio.recognizer.sherpa_onnx FOLDER THREADS` ends with 0, or with a sentence on
standard error.
"""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from weakref import WeakSet

import numpy as np
from msgspec import Struct

from audio.errors import AudioError, ModelDamaged, ModelNotFound, RecognitionFailed, RecognizerAbsent
from audio.language import sentence_language
from audio.onnx_file import read_metadata
from audio.pcm import SAMPLE_RATE, Samples, to_float
from audio.recognizer.apart import ROOT
from audio.speech import PartialWords, Transcript, Utterance

if TYPE_CHECKING:
    from sherpa_onnx import OnlineRecognizer, OnlineStream

Kind: TypeAlias = Literal["transducer", "paraformer", "zipformer2_ctc", "nemo_ctc", "wenet_ctc"]

CTC_KEYS: Final[Mapping[Kind, Sequence[str]]] = {
    "zipformer2_ctc": ("encoder_dims", "num_encoder_layers", "left_context_len", "decode_chunk_len", "T"),
    "nemo_ctc": ("window_size", "chunk_shift", "cache_last_channel_dim1", "cache_last_time_dim1", "vocab_size"),
    "wenet_ctc": ("head", "num_blocks", "output_size", "cnn_module_kernel", "right_context"),
}
"""What the metadata of a streaming model in one file has; those of models for whole utterances lack some of it."""

BLANKS: Final = frozenset({"<blk>", "<eps>", "<blank>"})

TRANSDUCER: Final = ("encoder", "decoder", "joiner")

FETCH: Final = "unpack a streaming model of sherpa-onnx there, or correct [streaming_recognizer] model"


class StreamingModel(Struct, frozen=True):
    """A model folder that is complete, as far as can be told without loading it."""

    kind: Kind
    tokens: Path
    files: Mapping[str, Path]
    """By role: encoder, decoder, joiner; or model alone."""


def streaming_model(folder: Path) -> StreamingModel:
    """Return what lies in a folder; of several files for one role the int8 one, which is smaller and faster.

    Raises `ModelNotFound` for what is missing and `ModelDamaged` for what is no such file, each with the fix.
    """
    if not folder.is_dir():
        raise ModelNotFound(f"there is no folder {folder} with a streaming model; {FETCH}")
    tokens = folder / "tokens.txt"
    if not tokens.is_file():
        raise ModelNotFound(f"the streaming model in {folder} has no tokens.txt; {FETCH}")
    roles = {role: found for role in (*TRANSDUCER, "model") if (found := _file_of(folder, role)) is not None}
    if "encoder" in roles or "decoder" in roles:
        roles.pop("model", None)
        missing = [role for role in TRANSDUCER[:2] if role not in roles]
        if missing:
            raise ModelNotFound(f"the streaming model in {folder} has no {' and no '.join(missing)}*.onnx; {FETCH}")
        kind: Kind = "transducer" if "joiner" in roles else "paraformer"
    elif "model" in roles:
        kind = _kind_of(roles["model"], folder)
    else:
        raise ModelNotFound(f"there is no streaming model (*.onnx) in {folder}; {FETCH}")
    _check_tokens(tokens, needs_blank=kind != "paraformer")
    for file in roles.values():
        read_metadata(file)
    return StreamingModel(kind, tokens, roles)


def _file_of(folder: Path, role: str) -> Path | None:
    named = [each for each in sorted(folder.glob("*.onnx")) if each.is_file()]
    if role == "model":
        found = [each for each in named if not each.name.startswith(TRANSDUCER)]
    else:
        found = [each for each in named if each.name.startswith(role)]
    return min(found, key=lambda each: (".int8" not in each.name, each.name), default=None)


def _kind_of(file: Path, folder: Path) -> Kind:
    metadata = read_metadata(file)
    for kind, keys in CTC_KEYS.items():
        if all(key in metadata for key in keys):
            return kind
    raise ModelNotFound(f"the model in {folder} is none that streams, by the metadata of {file.name}; {FETCH}")


def _check_tokens(file: Path, *, needs_blank: bool) -> None:
    """Raise `ModelDamaged` for a list of tokens that is none: the library would end the process for it."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ModelDamaged(f"{file} is no text; remove the folder and unpack the model again") from error
    numbers = [line.rsplit(maxsplit=1)[-1] for line in lines if line.strip()]
    if not numbers or not all(each.isdigit() for each in numbers):
        raise ModelDamaged(f"{file} is no list of tokens; remove the folder and unpack the model again")
    if needs_blank and BLANKS.isdisjoint(line.rsplit(maxsplit=1)[0] for line in lines if line.strip()):
        raise ModelDamaged(f"{file} has no blank token, so it is not whole; unpack the model again")


PADDING_SECONDS: Final = 0.48
"""Silence put behind the words so far: a streaming model tells a word some tenths of a second after it has ended. When
speech goes on it is a longer pause to the model, no more."""

MOST_BEYOND_SECONDS: Final = 1.5
"""So much more may have been followed than a turn has: the silence until it was known to be over."""

TRIAL_SECONDS: Final = 120.0
"""For loading a model of some hundred MB from an SD card."""


INSTALL: Final = "run scripts/setup, or take streaming out of [ears] engines"

Signature: TypeAlias = tuple[tuple[str, int, int], ...]
"""Names, sizes and times (ns) of a folder's files."""


def is_installed() -> bool:
    """Say whether the library is on this machine: it is an extra. Imports nothing."""
    return find_spec("sherpa_onnx") is not None


class SherpaRecognizer:
    """A `StreamingRecognizer` over one model folder. Safe from several threads.

    A folder that cannot be used is looked at again once something in it has changed.
    """

    sends_to = ()

    def __init__(self, folder: Path, language: str = "", threads: int = 0) -> None:
        """`language` is ISO 639-1, for what the script of the words does not tell; `threads` 0 is the library's 2."""
        self.name = f"sherpa-onnx:{folder.name}"
        self._folder = folder
        self._language = language
        self._threads = threads or 2
        self._one = threading.Lock()
        self._loaded: OnlineRecognizer | None = None
        self._refused: tuple[Signature, AudioError] | None = None
        self._followed: WeakSet[FollowedTurn] = WeakSet()
        self._listed = threading.Lock()
        """Held while turns are added or listed."""

    def warm(self) -> None:
        """Load the model and decode a second of silence. Blocking. Raises `ModelNotFound`, `RecognizerAbsent`."""
        self.recognize(np.zeros(SAMPLE_RATE, np.int16))

    def follow(self) -> "FollowedTurn":
        """Begin a turn. At once. Raises `RecognizerAbsent` while the model is not loaded."""
        if self._loaded is None:
            raise RecognizerAbsent(f"{self.name} is not loaded")
        turn = FollowedTurn(self._loaded, self._transcript)
        with self._listed:
            self._followed.add(turn)
        return turn

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the words: where the turn was followed, what it has come to. Blocking. Raises `RecognitionFailed`."""
        with self._listed:
            followed = list(self._followed)
        for turn in followed:
            heard = turn.completed(utterance.samples)
            if heard is not None:
                return heard
        return self.recognize(utterance.samples)

    def recognize(self, samples: Samples) -> Transcript:
        """Return the words of samples (int16, 16 kHz) that nobody followed. Blocking. Raises `AudioError`."""
        heard = FollowedTurn(self._load(), self._transcript).completed(samples)
        assert heard is not None
        return heard

    def _transcript(self, text: str, evidence: Mapping[str, float]) -> Transcript:
        text = text.lower() if text.isupper() else text
        return Transcript(text, sentence_language(text, self._language), self.name, evidence=evidence)

    def _load(self) -> "OnlineRecognizer":
        with self._one:
            if self._loaded is None:
                signature = _signature(self._folder)
                if self._refused is not None and self._refused[0] == signature:
                    raise self._refused[1]
                try:
                    self._loaded = _tried_and_loaded(self._folder, self._threads)
                except ModelNotFound as error:  # not what passes by itself, as too little memory does
                    self._refused = signature, error
                    raise
            return self._loaded


class FollowedTurn:
    """One turn, recognized as it comes. Safe from several threads; each call waits for the one before it."""

    def __init__(self, recognizer: "OnlineRecognizer", made: Callable[[str, Mapping[str, float]], Transcript]) -> None:
        self._recognizer = recognizer
        self._made = made
        self._stream: OnlineStream = recognizer.create_stream()
        self._one = threading.Lock()
        self._heard: list[Samples] = []
        """All that was decoded, without padding."""
        self._count = 0
        """Of its samples."""
        self._taken = 0
        """Samples that came by `take`, of which `completed` may have had some before."""
        self._is_padded = False

    def take(self, samples: Samples) -> PartialWords:
        """Take what comes next (int16, 16 kHz); return the words so far. Blocking. Raises `RecognitionFailed`."""
        with self._one:
            known = max(0, self._count - self._taken)
            self._taken += len(samples)
            self._decode(samples[known:])
            heard = self._transcript()
            return PartialWords(heard.text, heard.language)

    def completed(self, samples: Samples) -> Transcript | None:
        """Return the words of a turn, or of its beginning, that is these samples; None where it is another one."""
        with self._one:
            if not self._is_of(samples):
                return None
            self._decode(samples[self._count :])
            if not self._is_padded:
                self._feed(np.zeros(round(PADDING_SECONDS * SAMPLE_RATE), np.int16))
                self._is_padded = True
            return self._transcript()

    def _is_of(self, samples: Samples) -> bool:
        if self._count - len(samples) > MOST_BEYOND_SECONDS * SAMPLE_RATE:
            return False
        heard = np.concatenate(self._heard) if self._heard else samples[:0]
        shared = min(len(heard), len(samples))
        return np.array_equal(heard[:shared], samples[:shared])

    def _decode(self, samples: Samples) -> None:
        if len(samples):
            self._heard.append(samples)
            self._count += len(samples)
            self._is_padded = False
            self._feed(samples)

    def _feed(self, samples: Samples) -> None:
        try:
            self._stream.accept_waveform(SAMPLE_RATE, to_float(samples))
            while self._recognizer.is_ready(self._stream):
                self._recognizer.decode_stream(self._stream)
        except RuntimeError as error:
            raise RecognitionFailed(f"the streaming recognizer failed on a turn: {error}") from error

    def _transcript(self) -> Transcript:
        result = self._recognizer.get_result_all(self._stream)
        scores = list(result.ys_probs)
        return self._made(result.text.strip(), {"avg_logprob": float(np.mean(scores))} if scores else {})


def try_folder(folder: Path, threads: int) -> None:
    """Load the model here and decode a second of silence; the process may end by it. Raises `AudioError`."""
    turn = FollowedTurn(_loaded(streaming_model(folder), threads), lambda text, evidence: Transcript(text, "", ""))
    turn.completed(np.zeros(SAMPLE_RATE, np.int16))


def _tried_and_loaded(folder: Path, threads: int) -> "OnlineRecognizer":
    """Return the model of a folder. Blocking. Raises `AudioError`, and lets no model end this process."""
    if not is_installed():
        raise RecognizerAbsent(f"sherpa-onnx, the extra streaming, is not installed; {INSTALL}")
    model = streaming_model(folder)
    command = [sys.executable, "-m", __name__, str(folder), str(threads)]
    try:
        tried = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=TRIAL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RecognitionFailed(f"the streaming model in {folder} could not be tried: {error}") from error
    if tried.returncode == -signal.SIGKILL:  # no model does that to itself
        raise RecognitionFailed(f"the streaming model in {folder} was killed while it was tried, as for want of memory")
    if tried.returncode:
        said = tried.stderr.decode(errors="replace").strip().splitlines() or ["it ended its process"]
        reason = said[-1].split("/csrc/")[-1][:200]
        raise ModelDamaged(
            f"the streaming model in {folder} is damaged ({reason}); remove the folder and unpack the model again"
        )
    return _loaded(model, threads)


def _loaded(model: StreamingModel, threads: int) -> "OnlineRecognizer":
    from sherpa_onnx import OnlineRecognizer

    makers: Mapping[Kind, Callable[..., OnlineRecognizer]] = {
        "transducer": OnlineRecognizer.from_transducer,
        "paraformer": OnlineRecognizer.from_paraformer,
        "zipformer2_ctc": OnlineRecognizer.from_zipformer2_ctc,
        "nemo_ctc": OnlineRecognizer.from_nemo_ctc,
        "wenet_ctc": OnlineRecognizer.from_wenet_ctc,
    }
    make = partial(makers[model.kind], tokens=str(model.tokens), num_threads=threads)
    try:
        return make(**{role: str(file) for role, file in model.files.items()})
    except (RuntimeError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise ModelDamaged(
            f"the streaming model in {model.tokens.parent} cannot be loaded ({first}); unpack the model again"
        ) from error


def _signature(folder: Path) -> Signature:
    try:
        stats = [(each.name, each.stat()) for each in sorted(folder.iterdir())]
    except OSError:
        return ()
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


if __name__ == "__main__":
    try:
        try_folder(Path(sys.argv[1]), int(sys.argv[2]))
    except AudioError as error:
        sys.exit(str(error))
