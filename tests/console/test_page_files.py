"""The page's files over HTTP: what is sent along, what is compressed, and what is not there."""

import gzip
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from appliance.http.page import FOLDER as BUILT
from appliance.http.page import POLICY, router

pytestmark = pytest.mark.shows("F24")


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.include_router(router(BUILT))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as opened:
        yield opened


async def test_the_page_forbids_everything_from_elsewhere_and_inline(client: httpx.AsyncClient) -> None:
    answer = await client.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert "http" not in POLICY
    assert answer.headers["cache-control"] == "no-cache"
    assert not re.search(r"<style|style=|<script(?![^>]*src=)|\son\w+=", answer.text)


async def test_hashed_files_are_kept_for_ever_and_compressed(client: httpx.AsyncClient) -> None:
    index = (await client.get("/")).text
    names = re.findall(r'(?:src|href)="\./(assets/[^"]+)"', index)
    assert names
    for name in names:
        answer = await client.get(f"/{name}", headers={"Accept-Encoding": "gzip"})
        assert answer.headers["content-encoding"] == "gzip"
        assert "immutable" in answer.headers["cache-control"]
        assert answer.content == (BUILT / name).read_bytes()
        plain = await client.get(f"/{name}", headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.content == answer.content


async def test_what_a_browser_has_is_not_sent_again(client: httpx.AsyncClient) -> None:
    tag = (await client.get("/")).headers["etag"]
    again = await client.get("/", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        *("/index.html.map", "/assets/", "/assets/none.js", "/package.json", "/src/main.tsx"),
        *("/assets/..%2F..%2Fpackage.json", "/..%2Fpackage.json", "/assets/%2e%2e/%2e%2e/package.json", "//etc/passwd"),
    ],
)
async def test_there_is_nothing_beside_the_page(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(path)).status_code == 404


async def test_a_folder_without_a_page_serves_nothing(tmp_path: Path) -> None:
    assert router(tmp_path).routes == []


def test_the_page_comes_compressed_under_300_kb_before_a_view_is_opened() -> None:
    index = (BUILT / "index.html").read_text(encoding="utf-8")
    names = re.findall(r'(?:src|href)="\./(assets/[^"]+)"', index)
    assert sum(len(gzip.compress((BUILT / name).read_bytes())) for name in names) < 300_000
