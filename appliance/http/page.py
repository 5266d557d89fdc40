"""The console's page: the files of one folder, compressed once, under a policy that allows no others."""

import gzip
from collections.abc import Callable, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request, Response
from msgspec import Struct

FOLDER: Final = Path(__file__).parents[1] / "console" / "dist"
"""Where `npm run build` puts the console."""

ASSETS: Final = "assets"
"""The folder of files whose names have their content's hash in them: they never change."""

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "font", "connect", "worker", "manifest")),
        "img-src 'self' data: blob:",
        "media-src 'self' blob:",
        *(f"{kind} 'none'" for kind in ("base-uri", "form-action", "frame-ancestors")),
    )
)
"""Nothing from elsewhere, and nothing inline. Source: W3C, Content Security Policy Level 3."""

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": POLICY,
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=(), payment=(), usb=()",
    "Vary": "Accept-Encoding",
}
"""Beside those of every answer (`appliance.http.access.middleware.HEADERS`)."""

MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
"""What the build makes; whatever else lies in the folder is not served."""


class PageFile(Struct, frozen=True, dict=True):
    """A file of the page; read and compressed when it is first asked for."""

    path: Path
    media_type: str
    cache: str

    @cached_property
    def content(self) -> bytes:
        """What is in it."""
        return self.path.read_bytes()

    @cached_property
    def compressed(self) -> bytes:
        """The same as gzip."""
        return gzip.compress(self.content, mtime=0)

    @cached_property
    def tag(self) -> str:
        """Names this content, for a browser that has it already; weak, as both encodings share it."""
        return f'W/"{sha256(self.content).hexdigest()[:32]}"'


def router(folder: Path) -> APIRouter:
    """Return the routes of the page that was built into `folder`: `/`, its assets, and the other files at its top.

    Only files that are there now have a route, so that no name from outside ever becomes a path.
    """
    routes = APIRouter(include_in_schema=False)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in MEDIA_TYPES:
            name = path.relative_to(folder).as_posix()
            cache = "public, max-age=31536000, immutable" if name.startswith(f"{ASSETS}/") else "no-cache"
            answer = _answer(PageFile(path, MEDIA_TYPES[path.suffix], cache))
            routes.add_api_route("/" if name == "index.html" else f"/{name}", answer, methods=["GET", "HEAD"])
    return routes


def _answer(file: PageFile) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        headers = {**HEADERS, "Cache-Control": file.cache, "ETag": file.tag}
        if request.headers.get("if-none-match") == file.tag:
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(file.content, media_type=file.media_type, headers=headers)
        return Response(file.compressed, media_type=file.media_type, headers=headers | {"Content-Encoding": "gzip"})

    return answer
