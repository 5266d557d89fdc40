from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from memory.errors import EmbeddingUnavailable
from memory.recall import Recall
from memory.recall.recall import BATCH, PROBE
from memory.vectors.embedding import OpenAiEmbedder, Use
from tests.memory.embeddings_server import embeddings_server, of_letters
from tests.memory.tier_fixtures import WordEmbedder, a_memory

pytestmark = pytest.mark.shows("E15", "G10")


async def test_everything_said_gets_a_vector_once_and_anew_of_another_model(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("is there tea", "plain")
        await memory.heard("remember the train", "marked")
        await memory.fill()
        assert sorted(memory.embedder.asked) == ["is there tea", "remember the train"]
    async with a_memory(tmp_path) as memory:
        await memory.fill()
        assert memory.embedder.asked == []
    other = WordEmbedder("other", ("tea", "dog"))
    async with a_memory(tmp_path, other) as memory:
        await memory.fill()
        assert sorted(other.asked) == ["is there tea", "remember the train"]
        assert (await memory.counts())["L4"] == 2


async def test_a_text_that_the_model_refuses_holds_up_no_other(tmp_path: Path) -> None:
    """As servers refuse an empty text, or one that they take for a danger: with all that was sent beside it."""

    def refuses(body: dict[str, Any]) -> tuple[int, bytes]:
        return (400, b"not this") if any("poison" in text for text in body["input"]) else of_letters(body)

    async with a_memory(tmp_path) as memory, embeddings_server(refuses) as server:
        embedder = OpenAiEmbedder(server.url, "letters")
        recall = Recall(memory.journal, embedder)
        for number in range(BATCH):
            await memory.heard(f"remember the train {number}", f"train {number}")
        await memory.heard("remember the poison", "poison")
        await recall.fill()
        with capture_logs() as logs:
            assert await recall.embed() == BATCH
            assert await recall.embed() == 0
        assert [entry["event"] for entry in logs] == ["vector_refused"]
        await embedder.close()


async def test_a_model_that_takes_nothing_is_away(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory, embeddings_server(lambda _: (503, b"")) as server:
        embedder = OpenAiEmbedder(server.url, "letters")
        await memory.heard("remember the train", "train")
        recall = Recall(memory.journal, embedder)
        await recall.fill()
        with pytest.raises(EmbeddingUnavailable):
            await recall.embed()
        assert [body["input"] for body in server.asked] == [["remember the train"], [PROBE]]
        await embedder.close()


@dataclass
class SearchEmbedder(WordEmbedder):
    """A dog by any name is near a question for the puppy; queries and passages are told apart."""

    is_for_search = True
    words: Sequence[str] = ("tea", "dog")
    uses: set[Use] = field(default_factory=set)

    async def embed(self, texts: Sequence[str], use: Use = "text") -> list[list[float]]:
        self.uses.add(use)
        return await super().embed([text.replace("puppy", "dog").replace("hound", "dog dog") for text in texts])


@pytest.mark.parametrize(("embedder", "leads"), [(SearchEmbedder(), True), (WordEmbedder(words=("tea", "dog")), False)])
async def test_meaning_counts_as_much_as_words_where_its_model_was_made_for_search(
    tmp_path: Path, embedder: WordEmbedder, leads: bool
) -> None:
    async with a_memory(tmp_path, embedder) as memory:
        for number in range(12):
            await memory.heard(f"anna painted wall number {number}", f"wall {number}")
            await memory.heard(f"tea with tom and his brother number {number}", f"tea {number}")
        await memory.heard("the hound dug up our tulips", "hound")
        await memory.fill()
        found = await memory.words_of("where did the puppy stay while anna painted?", limit=10)
    assert ("the hound dug up our tulips" in found) == leads
    assert any(each.startswith("anna painted") for each in found[:2])
    if isinstance(embedder, SearchEmbedder):
        assert embedder.uses == {"query", "passage"}
