"""Radicale, a real CalDAV server, on loopback: an account with two calendars, which ask for a password."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server
from xml.sax.saxutils import escape

import httpx

USER, PASSWORD = "ada", "pass word: ä"
AUTH = httpx.BasicAuth(USER, PASSWORD)

_MAKE = """<?xml version="1.0"?><C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop>
<D:displayname>{name}</D:displayname><C:supported-calendar-component-set><C:comp name="{kind}"/>
</C:supported-calendar-component-set></D:prop></D:set></C:mkcalendar>"""


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@dataclass
class CalDavServer:
    """Where it listens, and what it was asked."""

    url: str
    asked: list[str] = field(default_factory=list)
    """Method and path of each request."""

    @property
    def home(self) -> str:
        return f"{self.url}/{USER}/"

    def make(self, path: str, name: str, kind: str = "VEVENT") -> None:
        """Make a calendar."""
        body = _MAKE.format(name=escape(name), kind=kind).encode()
        httpx.request("MKCALENDAR", f"{self.home}{path}/", content=body, auth=AUTH).raise_for_status()

    def put(self, path: str, ics: str) -> None:
        """Put an entry there, as another device does."""
        httpx.put(f"{self.home}{path}", content=ics.encode(), auth=AUTH).raise_for_status()

    def delete(self, path: str) -> None:
        httpx.delete(f"{self.home}{path}", auth=AUTH).raise_for_status()

    def entries(self, path: str) -> str:
        """Return a whole calendar."""
        return httpx.get(f"{self.home}{path}/", auth=AUTH).raise_for_status().text


@contextmanager
def caldav_server(folder: Path) -> Iterator[CalDavServer]:
    """Run Radicale with its files in a folder."""
    from radicale import config
    from radicale.app import Application

    users = folder / "users"
    users.write_text(f"{USER}:{PASSWORD}\n", encoding="utf-8")
    configuration = config.load()
    settings = {
        "auth": {"type": "htpasswd", "htpasswd_filename": str(users), "htpasswd_encryption": "plain", "delay": "0"},
        "storage": {"filesystem_folder": str(folder / "collections")},
    }
    configuration.update(settings, "test")
    radicale = Application(configuration)
    found = CalDavServer("")

    def application(environ: dict[str, Any], start: Any) -> Any:
        found.asked.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}")
        return radicale(environ, start)

    server = make_server("127.0.0.1", 0, application, handler_class=_Handler)
    found.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="radicale")
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
