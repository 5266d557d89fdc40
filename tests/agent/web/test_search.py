"""Search engines by their own protocols, and by their faults."""

from collections.abc import Callable
from typing import Any

import pytest

from agent.errors import ToolFailed
from agent.web.fetch import Bounds
from agent.web.search import MOST_RESULTS, Brave, Found, SearchEngine, SearXng, Tavily, Wikipedia
from agent.web.service import JsonService
from tests.agent.web.engines import brave, searxng, tavily, wikipedia
from tests.agent.web.web_server import Answer, Asked, WebServer, json_answer

ENGINES: dict[str, tuple[Callable[[str], SearchEngine], str, Callable[[Asked], Answer]]] = {
    "Wikipedia": (lambda url: Wikipedia("nakari/test", url), "/w/api.php", wikipedia),
    "SearXNG": (lambda url: SearXng("nakari/test", url), "/search", searxng),
    "Brave": (lambda url: Brave("nakari/test", "good", url), "/res/v1/web/search", brave),
    "Tavily": (lambda url: Tavily("nakari/test", "good", url), "/search", tavily),
}
EACH = pytest.mark.parametrize("name", ENGINES)


@pytest.mark.shows("F8")
@EACH
async def test_an_engine_is_asked_in_its_own_way_and_its_results_are_read(name: str) -> None:
    make, path, answer = ENGINES[name]
    async with WebServer({path: answer}) as server:
        found = await make(server.url).search("AI trends 2025", "en")
    assert found[0].title == "Agents that remember"
    assert found[0].url == "https://daily.test/agents?a=1&b=2"
    assert found[0].words.startswith("The trend of 2025 & of next year: agents that remember.")
    assert [each.url for each in found] == ["https://daily.test/agents?a=1&b=2", "https://weekly.test/graphs"]
    assert server.asked[0].headers["user-agent"] == "nakari/test"


@EACH
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (json_answer({}, 429, **{"Retry-After": "30"}), r"asked too often \(429\); try again in 30 s"),
        (json_answer({}, 500), r"out of order \(500\)"),
        (json_answer({"detail": "x"}, 401), r"lets nakari not in \(401\)"),
        (Answer(b"<html>captcha</html>"), "no answer of its kind"),
        (Answer(b"[" * 100_000), "no answer of its kind"),
        (Answer(b'{"results": ', ending="breaks off", length=100), "broke off in the middle"),
        (Answer(b"[1, 2]"), "no answer of its kind"),
        (Answer([b" " * 100_000] * 40), "more than an answer can be"),
    ],
)
async def test_each_fault_of_an_engine_is_one_sentence_with_its_name(name: str, answer: Answer, why: str) -> None:
    make, path, _ = ENGINES[name]
    async with WebServer({path: answer}) as server:
        with pytest.raises(ToolFailed, match=f"^{name} .*{why}"):
            await make(server.url).search("anything", "")


@EACH
async def test_an_engine_that_is_not_there_is_told(name: str) -> None:
    async with WebServer() as server:
        gone = ENGINES[name][0](server.url)
    with pytest.raises(ToolFailed, match=f"{name} cannot be reached"):
        await gone.search("anything", "")


async def test_a_service_that_hangs_is_given_up() -> None:
    async with WebServer({"/search": Answer(b"{", ending="hangs", length=10)}) as server:
        with pytest.raises(ToolFailed, match=r"SearXNG did not answer within 0\.3 s"):
            await JsonService("SearXNG", server.url, "nakari/test", Bounds(0.3, 1_000)).ask("/search", {})


async def test_a_service_leads_nowhere_else() -> None:
    """What the owner configured is trusted with its own address only."""
    async with WebServer() as door, WebServer() as server:
        server.pages["/search"] = Answer(b"", 302, {"Location": door.url})
        with pytest.raises(ToolFailed, match=r"refused the question \(302\)"):
            await SearXng("nakari/test", server.url).search("anything", "")
        assert door.connections == 0


@EACH
@pytest.mark.parametrize(
    "told",
    [
        {},
        {"results": None, "web": 7, "query": []},
        {"results": [1, None, {"url": 7}, {"url": "javascript:alert(1)"}, {"url": "https://" + "a" * 3_000}]},
        {"web": {"results": "x"}, "query": {"pages": {"7": {}}}},
    ],
)
async def test_strange_results_are_no_results(name: str, told: dict[str, Any]) -> None:
    make, path, _ = ENGINES[name]
    async with WebServer({path: json_answer(told)}) as server:
        assert await make(server.url).search("anything", "") == []


async def test_a_searxng_that_answers_no_programs_is_told_with_the_fix() -> None:
    async with WebServer({"/search": Answer(b"Forbidden", 403)}) as server:
        with pytest.raises(ToolFailed, match=r'add "json" to search: formats: in its settings\.yml'):
            await SearXng("nakari/test", server.url).search("anything", "")


async def test_a_searxng_whose_engines_are_silent_says_so() -> None:
    told = {"results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["bing", "timeout"], 7]}
    async with WebServer({"/search": json_answer(told)}) as server:
        with pytest.raises(ToolFailed, match=r"did not answer: google CAPTCHA, bing timeout$"):
            await SearXng("nakari/test", server.url).search("anything", "")


@pytest.mark.shows("F8")
@pytest.mark.parametrize(
    ("engine", "path", "answer", "secret"),
    [(Brave, "/res/v1/web/search", brave, "BRAVE_API_KEY"), (Tavily, "/search", tavily, "TAVILY_API_KEY")],
)
async def test_a_wrong_key_is_told_by_its_name_and_not_by_itself(
    engine: type[Brave | Tavily], path: str, answer: Callable[[Asked], Answer], secret: str
) -> None:
    async with WebServer({path: answer}) as server:
        with pytest.raises(ToolFailed, match=f"see whether {secret} is right") as failed:
            await engine("nakari/test", "stolen-key", server.url).search("anything", "")
    assert "stolen-key" not in str(failed.value)


async def test_wikipedia_is_asked_in_the_language_of_the_words() -> None:
    async with WebServer(
        {"/en/w/api.php": wikipedia, "/zh/w/api.php": wikipedia, "/de/w/api.php": wikipedia}
    ) as server:
        engine = Wikipedia("nakari/test", server.url + "/{language}")
        for words, language in (("trends", ""), ("2025年的趋势", ""), ("Zukunft", "de")):
            await engine.search(words, language)
    assert [each.path.split("/")[1] for each in server.asked] == ["en", "zh", "de"]


async def test_what_wikipedia_refuses_with_200_is_told() -> None:
    told = {"error": {"code": "toomanyvalues", "info": "Too <b>many</b> values."}}
    async with WebServer({"/w/api.php": json_answer(told)}) as server:
        with pytest.raises(ToolFailed, match=r"Wikipedia refused the question: Too many values\."):
            await Wikipedia("nakari/test", server.url).search("anything", "")


async def test_results_are_few_short_and_without_markup() -> None:
    many = [
        {"url": f"https://page.test/{number}", "title": "<script>x</script>\x07Title", "content": "word " * 1_000}
        for number in range(40)
    ]
    async with WebServer({"/search": json_answer({"results": many})}) as server:
        found = await SearXng("nakari/test", server.url).search("anything", "")
    assert len(found) == MOST_RESULTS
    assert found[0] == Found("x Title", "https://page.test/0", found[0].words)
    assert len(found[0].words) == 601
