"""Services of the web that answer JSON: what can go wrong with one is a sentence with its name."""

import html
import re
from collections.abc import Mapping
from typing import Final

from agent.errors import ToolFailed
from agent.tools.mcp.schema import plain as on_one_line
from agent.web.fetch import SERVICE, Bounds, Fetcher
from memory.json_value import Json, fields, parse_json

_TAG: Final = re.compile(r"<[^<>]{0,300}>")


class JsonService:
    """A service at an address that the owner has configured, or that the program knows."""

    def __init__(self, name: str, url: str, agent: str, bounds: Bounds = SERVICE) -> None:
        """Call it `name` in sentences; `agent` is what nakari calls itself there."""
        self.name = name
        self._url = url.rstrip("/")
        self._fetcher = Fetcher(agent, None, bounds)

    async def ask(
        self, path: str, params: Mapping[str, str], headers: Mapping[str, str] | None = None, body: Json = None
    ) -> dict[str, Json]:
        """Return the object that it answers to a GET, or to a POST where there is a body. Raises `ToolFailed`."""
        answer = await self._fetcher.ask(self.name, f"{self._url}{path}", params, headers or {}, body)
        if answer.is_cut:
            raise ToolFailed(f"{self.name} sent more than an answer can be")
        try:
            told = parse_json(answer.body)
        except ValueError:
            told = None
        if answer.status != 200:
            raise ToolFailed(self._refusal(answer.status, answer.retry_after, told))
        if not isinstance(told, dict):
            raise ToolFailed(f"{self.name} sent something that is no answer of its kind")
        return told

    def _refusal(self, status: int, retry_after: str, told: Json) -> str:
        if status == 429:
            later = f"in {retry_after} s" if retry_after.isdecimal() else "later"
            return f"{self.name} has been asked too often (429); try again {later}"
        if status in (401, 403):
            return f"{self.name} lets nakari not in ({status})"
        if status >= 500:
            return f"{self.name} is out of order ({status}); try again later"
        reason = fields(told).get("reason", "")
        return f"{self.name} refused the question ({status}){': ' if reason else ''}{plain(reason, 200)}"


def plain(told: Json, most: int) -> str:
    """Return a text of a service's without markup and control characters, in one line; "" for what is no text."""
    if not isinstance(told, str):
        return ""
    return on_one_line(html.unescape(_TAG.sub("", told[: 4 * most])), most)


def within(told: Json, name: str) -> dict[str, Json]:
    """Return the object that an object has under a name, {} where it has none."""
    return fields(fields(told).get(name))
