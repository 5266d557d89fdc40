"""The web as two tools: search, and a page's text. What strangers say there is marked as data."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from agent.event import Event
from agent.replies import Source
from agent.run.run_state import RunState
from agent.tools.registry.context import ToolContext
from agent.tools.tool import Tool, from_outside, tool
from agent.web.pages import Page, PageReader
from agent.web.search import Found, SearchEngine
from agent.web.seen import SeenAddresses
from memory.json_value import Json

OUTSIDE = "the web"

MOST_LINKS = 12
"""Links of a page that the model is told; all may be opened."""

NOTHING = "nothing was found; say it in other words, or answer without"

_SEARCH = """Search the web, with {name}.{scope}

Say of what you tell in words whose it is ("Reuters says"); addresses are written below your words, never say them."""

_EXTRACT = """Read the text of a page on the public internet, by its address.

Take one that stands in a result, on a page or in what they wrote. A long page is cut."""


def _code(told: str) -> str:
    """Return a language's code; "" for what is none: it becomes part of an address."""
    code = told.lower().partition("-")[0]
    return code if len(code) in (2, 3) and code.isascii() and code.isalpha() else ""


Language = Annotated[str, AfterValidator(_code), Field(description="Of the words, as ISO 639-1.")]


def tools(context: ToolContext) -> list[Tool]:
    """Return web_search and web_extract, each where it is configured."""
    seen = SeenAddresses()
    made = [search_tool(context.search, context.run_state, seen)] if context.search else []
    return made + ([extract_tool(context.pages, context.run_state, seen)] if context.pages else [])


def search_tool(engine: SearchEngine, run_state: RunState, seen: SeenAddresses) -> Tool:
    """Return web_search over an engine."""

    async def web_search(
        event: Event, query: Annotated[str, Field(min_length=1, max_length=500)], language: Language = ""
    ) -> Json:
        found = await engine.search(query, language)
        seen.found(event, (each.url for each in found))
        run_state.sources.found(*(Source(each.title, each.url) for each in found))
        return from_outside("\n\n".join(map(_told, found)), f"{OUTSIDE}, by {engine.name}") if found else NOTHING

    web_search.__doc__ = _SEARCH.format(name=engine.name, scope=engine.scope and f" {engine.scope}")
    brief = f"Search the web. {engine.scope}".strip()
    return tool(web_search, effect="pure", timeout=10.0, secrets=engine.secrets, outside=OUTSIDE, brief=brief)


def extract_tool(reader: PageReader, run_state: RunState, seen: SeenAddresses) -> Tool:
    """Return web_extract over what reads pages."""

    async def web_extract(event: Event, address: Annotated[str, Field(min_length=1, max_length=2_048)]) -> Json:
        page = await reader.read(seen.check(event, address))
        seen.found(event, (page.url, *(link for link, _ in page.links)))
        run_state.sources.read(Source(page.title, page.url))
        return from_outside(_read(page), f"{OUTSIDE}, {urlsplit(page.url).netloc}")

    web_extract.__doc__ = _EXTRACT
    brief = "Read the text of a web page by its address."
    return tool(web_extract, effect="pure", timeout=24.0, is_slow=True, outside=OUTSIDE, brief=brief)


def _told(found: Found) -> str:
    date = f" ({found.date})" if found.date else ""
    return f"{found.title}{date}\n{found.url}\n{found.words}".strip()


def _read(page: Page) -> str:
    head = [f"Title: {page.title}"] if page.title else []
    head += [f"Date: {page.date}"] if page.date else []
    head += [f"Address: {page.url}"]
    links = [f"{words}: {address}" for address, words in page.links if words][:MOST_LINKS]
    cut = ["(cut: there is more of it)"] if page.is_cut else []
    return "\n".join([*head, "", page.text, *cut, *(["", "Links:", *links] if links else [])]).strip()
