"""A local sentence model on onnxruntime: texts to vectors without network and without torch."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memory.errors import EmbeddingUnavailable
from memory.vectors.embedding import Use

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

Pooling: TypeAlias = Literal["mean", "cls"]
"""How the vectors of the tokens become one: their mean, or the first one's."""

MODELS: Final = (
    *("model.onnx", "onnx/model.onnx", "model_quantized.onnx"),
    *("model_quint8_avx2.onnx", "model_qint8_arm64.onnx"),
)
"""Where sentence-transformers and the hub put the exported network, whole or in int8, in the order to look."""

POOLINGS: Final[dict[str, Pooling]] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "mean": "mean",
    "cls": "cls",
}
"""What `1_Pooling/config.json` calls them: as switches up to sentence-transformers 5, as `pooling_mode` since."""

PROMPTS: Final[Mapping[Use, tuple[str, ...]]] = {
    "text": ("query",),
    "query": ("query",),
    "passage": ("passage", "document"),
}
"""Names of what `config_sentence_transformers.json` puts before a text of each use. Likes are compared as queries are,
as the E5 models' card asks (Wang et al. 2024, arXiv 2402.05672), unless the folder names a default."""

E5: Final = re.compile(r"(?:^|-)e5-(?:small|base|large)(?:-v2)?$")
E5_PROMPTS: Final = {"query": "query: ", "passage": "passage: "}
"""Names of folders of these models, and what their card puts before a text: they lack the file that says so."""

INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})

SENTENCE: Final = "sentence_embedding"
"""The output of an export that pools by itself."""

LONGEST: Final = 512
"""Tokens of a text that are read, where the folder does not name fewer."""

MOST_CHARACTERS: Final = 20_000
"""Of a text; in every language more than `LONGEST` tokens."""

BATCH: Final = 16
"""Texts in one run of the network."""

_FIX: Final = "set [memory] embedding_model to a sentence-transformers model's ONNX export"


class LocalEmbedder:
    """An `Embedder` over one folder, in one thread of its own; the model is loaded at the first text, once.

    Vectors have length 1. A folder that is no model is told at each text, so that a fixed one needs no restart.
    """

    sends_to = ()

    def __init__(self, folder: Path, absent: str = "") -> None:
        """`absent` is what is said while the folder is not there; "" names what it lacks."""
        self.name = f"local:{folder.name}"
        self._folder = folder
        self._absent = absent
        self._model: SentenceModel | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedder")

    @property
    def is_for_search(self) -> bool:
        """Whether its folder puts one thing before queries and another before passages; False until it is loaded."""
        return self._model is not None and self._model.prompts["query"] != self._model.prompts["passage"]

    async def embed(self, texts: Sequence[str], use: Use = "text") -> list[list[float]]:
        """Return one vector a text, what is past the model's length left out. Raises `EmbeddingUnavailable`."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._embed, tuple(texts), use)

    async def close(self) -> None:
        """Begin nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _embed(self, texts: tuple[str, ...], use: Use) -> list[list[float]]:
        if self._model is None:
            if self._absent and not self._folder.is_dir():
                raise EmbeddingUnavailable(self._absent)
            self._model = load_model(self._folder)
        vectors: list[list[float]] = []
        for first in range(0, len(texts), BATCH):
            vectors += self._model.vectors(texts[first : first + BATCH], use).tolist()
        return vectors


class SentenceModel(Struct, frozen=True):
    """A network with the tokenizer that belongs to it."""

    session: "InferenceSession"
    tokenizer: "Tokenizer"
    pooling: Pooling
    prompts: Mapping[Use, str]
    """What is put before a text of each use."""

    def vectors(self, texts: Sequence[str], use: Use = "text") -> NDArray[np.float32]:
        """Return float32 of shape (texts, dimensions), each row of length 1. Raises `EmbeddingUnavailable`."""
        encoded = self.tokenizer.encode_batch([self.prompts[use] + _readable(text) for text in texts])
        mask = np.array([each.attention_mask for each in encoded], np.int64)
        given = {
            "input_ids": np.array([each.ids for each in encoded], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([each.type_ids for each in encoded], np.int64),
        }
        outputs = [each.name for each in self.session.get_outputs()]
        wanted = SENTENCE if SENTENCE in outputs else outputs[0]
        try:
            (states,) = self.session.run([wanted], {each.name: given[each.name] for each in self.session.get_inputs()})
        except Exception as error:  # onnxruntime's errors have no other base
            raise EmbeddingUnavailable(f"the embedding model failed on a text ({_first_line(error)})") from error
        return normalised(states if states.ndim == 2 else pooled(states, mask, self.pooling))


def load_model(folder: Path) -> SentenceModel:
    """Load the model of a folder. Blocking, up to seconds. Raises `EmbeddingUnavailable` for a folder that has none."""
    network = _network(folder)
    pooling = pooling_of(_settings(folder / "1_Pooling" / "config.json"), folder)
    longest = _settings(folder / "sentence_bert_config.json").get("max_seq_length")
    prompts = prompts_of(_settings(folder / "config_sentence_transformers.json"), folder)
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

    options = SessionOptions()
    options.inter_op_num_threads = options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        session = InferenceSession(str(network), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # neither library's errors have another base
        raise EmbeddingUnavailable(
            f"the embedding model in {folder} is damaged ({_first_line(error)}); fetch it again"
        ) from error
    if unknown := sorted({each.name for each in session.get_inputs()} - INPUTS):
        raise EmbeddingUnavailable(f"{folder} is no sentence model: it asks for {', '.join(unknown)}; {_FIX}")
    _limit(tokenizer, longest if isinstance(longest, int) else 0)
    return SentenceModel(session, tokenizer, pooling, prompts)


def pooling_of(told: dict[str, object], folder: Path) -> Pooling:
    """Return the pooling that the pooling module's settings ask for, the mean where they are silent.

    Raises `EmbeddingUnavailable` for one that is not known here.
    """
    switches = [name for name, value in told.items() if name.startswith("pooling_mode_") and value is True]
    asked = [str(told["pooling_mode"])] if "pooling_mode" in told else switches or ["mean"]
    if len(asked) != 1 or asked[0] not in POOLINGS:
        raise EmbeddingUnavailable(
            f"the embedding model in {folder} wants the pooling {' + '.join(asked)}, which is not known here; "
            "take a model that pools by mean or cls"
        )
    return POOLINGS[asked[0]]


def prompts_of(told: Mapping[str, object], folder: Path) -> dict[Use, str]:
    """Return what is put before a text of each use: what the folder's settings say, else what its name calls for."""
    named = told.get("prompts")
    prompts: Mapping[str, object] = named if isinstance(named, dict) else {}
    if not any(prompts.values()) and E5.search(folder.name.lower()):
        prompts = E5_PROMPTS
    usual = told.get("default_prompt_name")
    names: dict[Use, tuple[str, ...]] = {**PROMPTS, "text": (usual,) if isinstance(usual, str) else PROMPTS["text"]}
    return {use: next((str(prompts[name]) for name in names[use] if prompts.get(name)), "") for use in names}


def pooled(states: NDArray[np.float32], mask: NDArray[np.int64], pooling: Pooling) -> NDArray[np.float32]:
    """Return one vector a text, (texts, dimensions), of its tokens', (texts, tokens, dimensions); masked ones are none.

    `mask` has shape (texts, tokens), 1 for a token and 0 for what fills up.
    """
    if pooling == "cls":
        first: NDArray[np.float32] = states[:, 0]
        return first
    weights = mask[:, :, None].astype(np.float32)
    mean: NDArray[np.float32] = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
    return mean


def normalised(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rows with length 1. Raises `EmbeddingUnavailable` where a row has no direction."""
    lengths = np.linalg.norm(vectors.astype(np.float32), axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths) & (lengths > 0)):
        raise EmbeddingUnavailable(f"the embedding model makes no vector of this text; {_FIX}")
    unit: NDArray[np.float32] = vectors / lengths
    return unit


def _network(folder: Path) -> Path:
    found = next((folder / name for name in MODELS if (folder / name).is_file()), None)
    has_tokenizer = (folder / "tokenizer.json").is_file()
    if found and has_tokenizer:
        return found
    missing = [name for name, there in ((MODELS[0], found), ("tokenizer.json", has_tokenizer)) if not there]
    raise EmbeddingUnavailable(f"{folder} is no embedding model: {' and '.join(missing)} missing; {_FIX}")


def _limit(tokenizer: "Tokenizer", longest: int) -> None:
    """Have texts cut to `longest` tokens, 0 for the tokenizer's own choice, and filled up to the longest of a batch."""
    cut, filled = tokenizer.truncation or {}, tokenizer.padding or {}
    tokenizer.enable_truncation(min(LONGEST, longest or cut.get("max_length") or LONGEST))
    tokenizer.enable_padding(pad_id=filled.get("pad_id", 0), pad_token=filled.get("pad_token", "[PAD]"))


def _settings(file: Path) -> dict[str, object]:
    if not file.is_file():
        return {}
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise EmbeddingUnavailable(f"{file} cannot be read ({_first_line(error)}); fetch the model again") from error


def _readable(text: str) -> str:
    """Return what the tokenizer takes: no half characters, and no more than it could use."""
    return text[:MOST_CHARACTERS].encode(errors="replace").decode()


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
