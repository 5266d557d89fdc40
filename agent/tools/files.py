"""Files of the allowed folders: listed, read, searched and written; none is deleted."""

import asyncio
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Annotated, Final, TypeVar

from pydantic import Field

from agent.tools.confined.folders import Entry, Folders, Page
from agent.tools.confined.placing import BEFORE, How
from agent.tools.confined.search import search
from agent.tools.registry.context import ToolContext
from agent.tools.registry.sharing import for_members
from agent.tools.tool import Tool, from_outside, tool
from memory.json_value import Json

OUTSIDE: Final = "files"

NOT_SHARED: Final = "the files are the household's, and whoever speaks is no member of it: do without them"

_REPLACES: Final = {
    "en": "replace {name}, whose copy of what it held before is lost with that",
    "zh": "覆盖 {name}，之前保留的旧版本会丢失",
}

Value = TypeVar("Value")
Path_ = Annotated[str, Field(description="From an allowed folder on: papers/2026/letter.txt.")]
Start = Annotated[int, Field(ge=0, description="Where to go on, as the last answer says.")]


def tools(context: ToolContext) -> list[Tool]:
    """Return the file tools where folders are allowed."""
    return file_tools(context.folders, context.shares, context.language) if context.folders else []


def file_tools(folders: Folders, shares: Callable[[str], bool], language: str = "en") -> list[Tool]:
    """Return list_files, read_file, search_files and write_file, for members.

    `language` is what the agent asks in before it replaces something: "en", "zh".
    """
    pool = ThreadPoolExecutor(2, "files")

    async def beside(function: Callable[..., Value], *given: object) -> Value:
        """Run it in a thread of the files' own: a disk that hangs holds up nothing else."""
        return await asyncio.get_running_loop().run_in_executor(pool, partial(function, *given))

    async def list_files(
        folder: Annotated[str, Field(description="A path; empty for the allowed folders.")] = "", start: Start = 0
    ) -> Json:
        """List a folder of the household's, by name: kind, bytes and when it was changed."""
        listing = await beside(folders.list, folder, start)
        rows = [_row(each) for each in listing.entries]
        end = start + len(rows)
        rest = f"\n{listing.total - end} more: go on with start={end}" if end < listing.total else ""
        cut = "" if listing.is_whole else "\nthere are more than could be looked at"
        return from_outside("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "a folder") + rest + cut

    async def read_file(path: Path_, start: Start = 0) -> Json:
        """Read a text file of the household's, a page at a time."""
        return _told(await beside(folders.read, path, start), path)

    async def search_files(
        words: Annotated[str, Field(description="All of them stand in one line, or in the name.")],
        folder: Annotated[str, Field(description="A path; empty for all allowed folders.")] = "",
    ) -> Json:
        """Search the names and texts of the household's files for words."""
        found = await beside(search, folders, words, folder)
        rows = [[each.path, each.line, each.text] if each.line else [each.path] for each in found.matches]
        told = from_outside("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "files") if rows else "none"
        return f"{told}\n{found.files} files" + ("" if found.is_whole else ", not all of them: name a folder")

    async def write_file(path: Path_, text: str, how: How = "new") -> Json:
        """Write a text file of the household's: a new one, more at the end of one, or instead of what one holds.

        What is replaced stays beside it, once, with ~ at the end of its name.
        """
        size = await beside(folders.write, path, text, how)
        return f"{path} has {size} bytes now" + (f"; {path}{BEFORE} is what it held" if how == "replace" else "")

    async def loses(given: Mapping[str, Json]) -> str:
        path = str(given.get("path"))
        if given.get("how") != "replace" or not await beside(folders.has_copy, path):
            return ""
        return _REPLACES.get(language, _REPLACES["en"]).format(name=path)

    made = [
        tool(list_files, effect="pure", outside=OUTSIDE),
        tool(read_file, effect="pure", outside=OUTSIDE),
        tool(search_files, effect="pure", outside=OUTSIDE),
        tool(write_file, effect="reversible", asks_first=loses),
    ]
    return [for_members(each, shares, NOT_SHARED) for each in made]


def _row(entry: Entry) -> list[object]:
    return [entry.name, entry.kind, *([entry.size, f"{entry.modified:%Y-%m-%d}"] if entry.modified else [])]


def _told(page: Page, path: str) -> str:
    notes = [f"{page.size} bytes in all"]
    notes += [f"its encoding is guessed: {page.encoding.name}"] if page.encoding.is_guessed else []
    notes += [f"read on with start={page.end}"] if page.end < page.size else []
    return f"{from_outside(page.text, path)}\n{'; '.join(notes)}"
