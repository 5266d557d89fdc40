"""What it costs that strangers' pages are read by a child process behind the guard; and how hostile ones end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter

import httpx

from agent.errors import ToolFailed
from agent.web.guard import Guard
from agent.web.pages import PageReader
from benchmarks.figure import Figure, Series, milliseconds, run

PARAGRAPH = "<p>Paragraph {} says a number of words about agents that remember what they were told before.</p>"
ARTICLE = f"<html><body><article>{''.join(PARAGRAPH.format(each) for each in range(1_000))}</article></body></html>"
"""Some hundred kilobytes."""

HOSTILE = {
    "tags without end": "<p><b>" * 330_000,
    "attributes without end": f"<p {' '.join(f'a{each}=1' for each in range(200_000))}>x</p>",
    "lists without end": "<ul>" + "<li>a" * 400_000,
    "links without end": "<a href=x>y</a>" * 130_000,
}
"""Two megabytes each, as much as is read of a page."""


def measure(*, quick: bool = False) -> Figure:
    """Read an article of a server on this machine; fetch and read it in this process, everything loaded, in turn."""
    return asyncio.run(_measure(2 if quick else 20, quick=quick))


async def _measure(count: int, *, quick: bool) -> Figure:
    from trafilatura import bare_extraction

    ours, floor = [], []
    pages = {"article": ARTICLE, **({} if quick else HOSTILE)}
    async with _serving(pages) as port, httpx.AsyncClient(trust_env=False) as client:
        reader = PageReader("nakari/bench", Guard(allowed=[("127.0.0.1", port)]), reading_seconds=60.0)
        root = f"http://127.0.0.1:{port}"
        await reader.read(f"{root}/article")
        for _ in range(count):
            began = perf_counter()
            await reader.read(f"{root}/article")
            read = perf_counter()
            bare_extraction((await client.get(f"{root}/article")).text, with_metadata=True, favor_recall=True)
            ours.append(read - began)
            floor.append(perf_counter() - read)
        notes = tuple([await _ends(reader, root, name) for name in pages if name != "article"])
    whole: Series = milliseconds("an article of 0.1 MB fetched behind the guard and read by a child process", ours)
    bare = milliseconds("the same with plain httpx and trafilatura in this process, warm", floor)
    return Figure("A page read", whole, bare, notes)


async def _ends(reader: PageReader, root: str, name: str) -> str:
    began = perf_counter()
    try:
        await reader.read(f"{root}/{name.replace(' ', '-')}")
        end = "read"
    except ToolFailed:
        end = "given up"
    return f"{name}: {end} after {perf_counter() - began:.1f} s"


@asynccontextmanager
async def _serving(pages: dict[str, str]) -> AsyncIterator[int]:
    bodies = {f"/{name.replace(' ', '-')}": body.encode() for name, body in pages.items()}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(bodies[path])}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode() + bodies[path])
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield int(server.sockets[0].getsockname()[1])


if __name__ == "__main__":
    run(measure)
