from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from memory.errors import EmbeddingUnavailable
from memory.state.recall import BATCH, PAGE, PROBE, Recall
from memory.vectors.embedding import OpenAiEmbedder
from tests.memory.embeddings_server import embeddings_server, of_letters
from tests.memory.tier_fixtures import WordEmbedder, a_memory, task

HOME = "household"

pytestmark = pytest.mark.shows("E15", "G10")


async def test_the_nearest_come_first_with_their_cosine(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("remember tea tea tea", "tea")
        await memory.heard("remember the dog and tea", "both")
        await memory.heard("remember the train", "train")
        await memory.fill()
        found = await memory.recall.find("tea", HOME, 2)
        assert [each.item.event_id for each in found] == ["tea", "both"]
        assert 1 > found[0].similarity > found[1].similarity > 0.5


async def test_what_is_not_important_has_no_vector(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("is there tea", "plain")
        await memory.fill()
        assert await memory.recall.find("tea", HOME) == []
        await memory.marked("plain", 0.8)
        await memory.fill()
        assert [each.item.event_id for each in await memory.recall.find("tea", HOME)] == ["plain"]
        await memory.marked("plain", 0.2)
        await memory.fill()
        assert await memory.recall.find("tea", HOME) == []


async def test_another_model_makes_them_anew(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("remember tea", "tea")
        await memory.fill()
    other = WordEmbedder("other", ("tea", "dog"))
    async with a_memory(tmp_path, other) as memory:
        assert await memory.recall.find("tea", HOME) == []  # of two models they do not compare
        await memory.fill()
        assert other.asked == ["tea", "remember tea"]
        assert len(await memory.recall.find("tea", HOME)) == 1
        assert (await memory.counts())["L4"] == 1


async def test_her_summary_gets_a_vector_of_its_own(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("remember tea", "e")
        await memory.fill()
        await memory.marked("e", 0.9, summary="The dog is called Rex")
        await memory.fill()
        [found] = await memory.recall.find("dog", HOME, 1)
        assert found.item.words == "The dog is called Rex"
        assert found.similarity > 0.9


@pytest.mark.shows("F12")
async def test_an_owner_finds_only_their_own(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.heard("remember the secret tea", "hers", "ada")
        await memory.heard("remember the dog", "ours")
        await memory.fill()
        assert [each.item.event_id for each in await memory.recall.find("secret tea", HOME)] == ["ours"]
        assert [each.item.event_id for each in await memory.recall.find("dog", "ada")] == ["hers"]


async def test_more_than_a_page_of_vectors_is_searched_whole(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory:
        await memory.journal.append(task("remember the train", "first"))
        await memory.journal.append(*(task("remember tea", f"e{n}") for n in range(PAGE + 100)))
        await memory.journal.append(task("remember the train", "last"))
        await memory.fill()
        found = await memory.recall.find("train", HOME, 2)
        assert {each.item.event_id for each in found} == {"first", "last"}


async def test_a_summary_that_the_model_refuses_holds_up_no_other(tmp_path: Path) -> None:
    """As servers refuse an empty text, or one that they take for a danger: with all that was sent beside it."""

    def refuses(body: dict[str, Any]) -> tuple[int, bytes]:
        return (400, b"not this") if any("poison" in text for text in body["input"]) else of_letters(body)

    async with a_memory(tmp_path) as memory, embeddings_server(refuses) as server:
        embedder = OpenAiEmbedder(server.url, "letters")
        recall = Recall(memory.database, embedder)
        for number in range(BATCH):
            await memory.heard(f"remember the train {number}", f"train {number}")
        await memory.heard("remember the poison", "poison")
        await memory.tiers.fill()
        with capture_logs() as logs:
            assert await recall.fill() == BATCH
            assert await recall.fill() == 0
        assert [entry["event"] for entry in logs] == ["vector_refused"]
        assert len(await recall.find("train", HOME, 2 * BATCH)) == BATCH
        await memory.marked("poison", 0.95, summary="It is gone")
        await memory.tiers.fill()
        assert await Recall(memory.database, embedder).fill() == 1
        await embedder.close()


async def test_a_model_that_takes_nothing_is_away(tmp_path: Path) -> None:
    async with a_memory(tmp_path) as memory, embeddings_server(lambda _: (503, b"")) as server:
        embedder = OpenAiEmbedder(server.url, "letters")
        await memory.heard("remember the train", "train")
        await memory.tiers.fill()
        with pytest.raises(EmbeddingUnavailable):
            await Recall(memory.database, embedder).fill()
        assert [body["input"] for body in server.asked] == [["remember the train"], [PROBE]]
        await embedder.close()
