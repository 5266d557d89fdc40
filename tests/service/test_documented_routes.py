"""Each address of the documents is one that the real box answers at, with the parameters that stand there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.appliance.door_fakes import visiting
from tests.architecture.documents import pages, text
from tests.service.living import living
from tests.service.process import Household

pytestmark = pytest.mark.shows("F25")

ROUTE = re.compile(r"`(GET|POST) (/[^`?\s]*)(?:\?([^`\s]*))?")
OWN = {("get", "/openapi.json"), ("post", "/requests/NAME")}
"""The document itself, and what stands for all requests."""


def documented() -> Iterator[tuple[str, str, set[str]]]:
    """Yield method, path and names of parameters of each route that a document names."""
    for page in pages():
        if page.as_posix().startswith("docs/decisions/"):
            continue  # they say what was so then
        for method, path, query in ROUTE.findall(text(page)):
            yield method.lower(), path, {each.partition("=")[0] for each in query.split("&") if each}


async def test_every_documented_route_is_there(tmp_path: Path) -> None:
    async with living(Household(tmp_path)) as box, visiting(box.config.socket) as program:
        paths = (await program.client.get("/openapi.json")).json()["paths"]
    named = [each for each in documented() if each[:2] not in OWN]
    assert len(named) > 20
    for method, path, query in named:
        assert method in paths.get(path, {}), f"{method} {path}"
        taken = {each["name"] for each in paths[path][method].get("parameters", ())}
        assert query <= taken, f"{method} {path} takes {taken}"
