"""The server of pages in a thread, for what has an event loop of its own."""

from collections.abc import Iterator
from contextlib import contextmanager

from anyio.from_thread import start_blocking_portal

from tests.agent.web.web_server import Pages, WebServer


@contextmanager
def serving(pages: Pages) -> Iterator[str]:
    """Serve pages, and give their address."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(WebServer({**pages})) as server:
        yield server.url
