"""Search engines by their documented interfaces: one that needs no key, one of one's own, two that want a key."""

from abc import ABC, abstractmethod
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from agent.errors import ToolFailed
from agent.web.service import JsonService, plain, within
from memory.chinese import has_chinese
from memory.egress import SendsTo, host_of
from memory.json_value import Json, objects

MOST_RESULTS: Final = 6
MOST_WORDS: Final = 600
"""Characters of what is told of a result."""

SEARCHED: Final = "what the agent searches the web for"


class Found(Struct, frozen=True):
    """One result."""

    title: str
    url: str
    words: str
    date: str = ""
    """As the engine tells it; "" where it does not."""


class SearchEngine(ABC):
    """Finds pages by words."""

    name: str
    scope = ""
    """What it finds, as a sentence for the model; "" is the web."""
    secrets: tuple[str, ...] = ()
    """The keys without which it is not offered."""
    sends_to: tuple[SendsTo, ...]
    """Who is given the words."""

    @abstractmethod
    async def search(self, query: str, language: str) -> list[Found]:
        """Return the best results, the best one first. `language` is ISO 639-1, or "". Raises `ToolFailed`."""


class Wikipedia(SearchEngine):
    """MediaWiki's search with the beginnings of the articles it finds; without a key.

    https://www.mediawiki.org/wiki/API:Search and https://www.mediawiki.org/wiki/Extension:TextExtracts; asked for a
    name in User-Agent by Wikimedia's policy.
    """

    name = "Wikipedia"
    scope = "It finds articles of Wikipedia only: knowledge, no news of today, no shops, no opening hours."
    sends_to = (SendsTo(SEARCHED, "Wikipedia"),)

    def __init__(self, agent: str, url: str = "https://{language}.wikipedia.org", language: str = "en") -> None:
        """`language` is asked where the words tell none."""
        self._url, self._agent, self._language = url, agent, language

    async def search(self, query: str, language: str) -> list[Found]:
        """Return the articles. Raises `ToolFailed`."""
        wanted = language or ("zh" if has_chinese(query) else self._language)
        wiki = JsonService(self.name, self._url.format(language=wanted), self._agent)
        told = await wiki.ask("/w/api.php", {**_ARTICLES, "gsrsearch": query, "gsrlimit": str(MOST_RESULTS)})
        if error := within(told, "error"):  # which MediaWiki tells with 200
            raise ToolFailed(f"{self.name} refused the question: {plain(error.get('info'), 200)}")
        pages = sorted(objects(within(told, "query").get("pages")), key=_rank)
        return _found(pages, "title", "fullurl", "extract")


_ARTICLES: Final = dict(
    parse_qsl(
        "action=query&format=json&formatversion=2&generator=search&prop=extracts|info&exintro=1&explaintext=1"
        "&exsentences=4&exlimit=max&inprop=url&redirects=1"
    )
)


def _rank(page: dict[str, Json]) -> int:
    rank = page.get("index")
    return rank if isinstance(rank, int) else 1_000


class SearXng(SearchEngine):
    """A SearXNG of the owner's, which asks many engines: https://docs.searxng.org/dev/search_api.html."""

    name = "SearXNG"

    def __init__(self, agent: str, url: str) -> None:
        """`url` is where its own page is; it may be in the house."""
        self._service = JsonService(self.name, url, agent)
        self.sends_to = (SendsTo(SEARCHED, f"SearXNG at {host_of(url)}, which asks the engines chosen there"),)

    async def search(self, query: str, language: str) -> list[Found]:
        """Return what the engines found. Raises `ToolFailed`, with the fix where it may not answer programs."""
        asked = {"q": query, "format": "json", "categories": "general", **({"language": language} if language else {})}
        try:
            told = await self._service.ask("/search", asked)
        except ToolFailed as failed:
            if "(403)" in str(failed):
                fix = 'add "json" to search: formats: in its settings.yml'
                raise ToolFailed(f"SearXNG answers no programs (403): {fix}") from failed
            raise
        found = _found(objects(told.get("results")), "title", "url", "content", "publishedDate")
        if not found and (silent := _silent(told.get("unresponsive_engines"))):
            raise ToolFailed(f"the engines that SearXNG asks did not answer: {silent}")
        return found


def _silent(engines: Json) -> str:
    """Return which engines did not answer and why, as SearXNG tells it: a list of pairs."""
    pairs = [each for each in engines if isinstance(each, list)] if isinstance(engines, list) else []
    return ", ".join(" ".join(plain(part, 60) for part in each[:2]) for each in pairs[:5])


class Brave(SearchEngine):
    """Brave's own index: https://api-dashboard.search.brave.com/app/documentation/web-search; BRAVE_API_KEY."""

    name = "Brave"
    secrets = ("BRAVE_API_KEY",)
    sends_to = (SendsTo(SEARCHED, "api.search.brave.com"),)

    def __init__(self, agent: str, key: str, url: str = "https://api.search.brave.com") -> None:
        """`key` is the subscription token."""
        self._service, self._key = JsonService(self.name, url, agent), key

    async def search(self, query: str, language: str) -> list[Found]:
        """Return what it found. Raises `ToolFailed`."""
        asked = {"q": query[:400], "count": str(MOST_RESULTS), **({"search_lang": language} if language else {})}
        head = {"X-Subscription-Token": self._key}
        told = await _with_key(self._service, self.secrets[0], "/res/v1/web/search", asked, head)
        return _found(objects(within(told, "web").get("results")), "title", "url", "description", "page_age")


class Tavily(SearchEngine):
    """Tavily, made for agents: https://docs.tavily.com/documentation/api-reference/endpoint/search; TAVILY_API_KEY."""

    name = "Tavily"
    secrets = ("TAVILY_API_KEY",)
    sends_to = (SendsTo(SEARCHED, "api.tavily.com"),)

    def __init__(self, agent: str, key: str, url: str = "https://api.tavily.com") -> None:
        """`key` is the one that begins with tvly-."""
        self._service, self._key = JsonService(self.name, url, agent), key

    async def search(self, query: str, language: str) -> list[Found]:
        """Return what it found, whatever the language. Raises `ToolFailed`."""
        head = {"Authorization": f"Bearer {self._key}"}
        body: dict[str, Json] = {"query": query[:400], "max_results": MOST_RESULTS}
        told = await _with_key(self._service, self.secrets[0], "/search", {}, head, body)
        return _found(objects(told.get("results")), "title", "url", "content", "published_date")


async def _with_key(
    service: JsonService, secret: str, path: str, asked: dict[str, str], head: dict[str, str], body: Json = None
) -> dict[str, Json]:
    """Ask a service that wants a key; a key that it does not take is told with its name. Raises `ToolFailed`."""
    try:
        return await service.ask(path, asked, head, body)
    except ToolFailed as failed:
        if any(status in str(failed) for status in ("(401)", "(403)", "(422)")):
            raise ToolFailed(f"{failed}: see whether {secret} is right") from failed
        raise


def _found(results: list[dict[str, Json]], title: str, url: str, words: str, date: str = "") -> list[Found]:
    """Return those results that are pages, by the names that an engine gives their parts."""
    found: list[Found] = []
    for each in results:
        address = each.get(url)
        if isinstance(address, str) and len(address) <= 2_048 and address.startswith(("http://", "https://")):
            named = plain(each.get(title), 150) or urlsplit(address).netloc
            told = plain(each.get(date), 10).rstrip("…")
            found.append(Found(named, address, plain(each.get(words), MOST_WORDS), told))
    return found[:MOST_RESULTS]
