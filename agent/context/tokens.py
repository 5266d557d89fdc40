"""Counts tokens: by tiktoken once a list is long enough to need it, estimated by bytes until then."""

import asyncio
import hashlib
import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from agent.attachments.attachment import Image
from agent.model.messages import Message, ToolSpec

BYTES_PER_TOKEN: Final = 3.6
"""Measured on mixed English and Chinese against o200k_base; errs to the high side for English."""

VOCABULARY_SHA256: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Of o200k_base (tiktoken_ext/openai_public.py): of any other file tiktoken fetches a better one from the network."""

PIXELS_PER_TOKEN: Final = 750
"""Of an image, as Anthropic counts; Qwen's models take 784."""

LEAST_OF_IMAGE: Final = 85
MOST_OF_IMAGE: Final = 4_096
"""Tokens of one image: OpenAI's smallest, and what llama.cpp makes of a large one; others make it smaller first."""

MESSAGE_OVERHEAD: Final = 4
"""Tokens a message costs beside its text (OpenAI cookbook, num_tokens_from_messages)."""


MOST_EXACT: Final = 10_000
"""Characters of a text that are all counted: 100,000 would hold up everybody for 90 ms, and a part tells within 2 %."""

_SAMPLES: Final = 50
_SAMPLE: Final = 200
"""How many pieces of a longer text are counted, and the characters of each."""


class TokenCounter:
    """Counts tokens; estimates by bytes until `load` has run, so that nobody waits for a vocabulary.

    A vocabulary takes 50 to 80 MB for as long as the process lives: a box to which short things are said does without.
    """

    def __init__(self) -> None:
        self._encode: Callable[[str], list[int]] | None = None
        self._is_needed = asyncio.Event()

    def need(self) -> None:
        """Have `load_when_needed` go on: what is counted comes near a limit. On the event loop."""
        self._is_needed.set()

    async def load_when_needed(self) -> None:
        """Wait for `need`, then load in a thread."""
        await self._is_needed.wait()
        await asyncio.to_thread(self.load)

    def load(self) -> None:
        """Load o200k_base from the copy that litellm ships, without importing litellm and without network. Blocking.

        Where the copy is missing or damaged the estimate stays: tiktoken would fetch another from the network.
        """
        vocabularies = bundled_with_litellm("litellm_core_utils/tokenizers")
        # tiktoken names a cached file by the SHA-1 of its address; this is o200k_base's.
        if vocabularies is None or not is_whole(vocabularies / "fb374d419588a4632f3f557e76b4b70aebbca790"):
            return
        os.environ["TIKTOKEN_CACHE_DIR"] = str(vocabularies)
        import tiktoken  # here, because it costs 47 MB and 150 ms off the start path
        from tiktoken_ext.openai_public import o200k_base

        made = o200k_base()
        self._encode = tiktoken.Encoding(**made).encode_ordinary
        made["mergeable_ranks"].clear()  # what encodes has a copy of its own; this one is 25 MB

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        if self._encode is None:
            return round(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)
        if len(text) <= MOST_EXACT:
            return len(self._encode(text))
        starts = range(0, len(text), len(text) // _SAMPLES)
        tokens = sum(len(self._encode(text[start : start + _SAMPLE])) for start in starts)
        return round(tokens * len(text) / (len(starts) * _SAMPLE))

    def cut(self, text: str, most: int) -> str:
        """Return a beginning of a text with at most so many tokens, nearly the longest there is."""
        while (has := self.count(text)) > most:
            text = text[: min(len(text) - 1, len(text) * most // has)]
        return text

    def of_message(self, message: Message) -> int:
        """Return what a message costs in a prompt."""
        calls = sum(
            self.count(call.name) + self.count(call.arguments) + MESSAGE_OVERHEAD for call in message.tool_calls
        )
        own_fields = self.count(json.dumps(message.extra, ensure_ascii=False)) if message.extra else 0
        images = sum(map(of_image, message.images))
        return MESSAGE_OVERHEAD + self.count(message.content) + calls + own_fields + images

    def of_tools(self, tools: tuple[ToolSpec, ...]) -> int:
        """Return what the tool list costs in a prompt."""
        return sum(
            self.count(spec.name) + self.count(spec.description) + self.count(json.dumps(dict(spec.parameters)))
            for spec in tools
        )


def of_image(image: Image) -> int:
    """Return what an image costs in a prompt, whoever reads it: no model counts more."""
    return min(MOST_OF_IMAGE, max(LEAST_OF_IMAGE, image.width * image.height // PIXELS_PER_TOKEN))


def bundled_with_litellm(path: str) -> Path | None:
    """Return a place within litellm's package, which is not imported; None where it is not installed."""
    spec = importlib.util.find_spec("litellm")
    found = spec.submodule_search_locations if spec else None
    return Path(found[0]) / path if found else None


def is_whole(vocabulary: Path) -> bool:
    """Say whether this file is o200k_base, to the last byte. Blocking."""
    return vocabulary.is_file() and hashlib.sha256(vocabulary.read_bytes()).hexdigest() == VOCABULARY_SHA256
