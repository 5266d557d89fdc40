"""The OpenAPI document of the real program, taken at its word by schemathesis; and everything in it without a token."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from appliance.errors import Exit
from tests.service.process import Household

pytestmark = [pytest.mark.process, pytest.mark.shows("F25")]

NO_DEVICE: dict[str, object] = {"device": "no such device"}

STRANGE = {"X-Forwarded-For": "192.0.2.1"}
"""Somebody whom a proxy brings that nobody named."""

NOT_TRIED = {"POST /requests/backup", "POST /audio"}
"""What takes long, or sound, and is tried elsewhere."""

EXAMPLES = 2
"""Of each operation."""

ENDLESS = ("/stream",)
"""What answers until its reader goes."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the program, which has to live through all of it."""
    http: dict[str, object] = {"requests_per_minute": 1_000_000}
    folder = tmp_path_factory.mktemp("household")
    home = Household(folder, {"ears": NO_DEVICE, "voice": NO_DEVICE, "http": {"addresses": ["127.0.0.1:0"], **http}})
    with home.running("run") as running:
        url = f"http://{running.until('http_listens')['address']}"
        running.until("service_started")
        yield url
        assert running.process.poll() is None, "it died of it"
        assert running.stop() == Exit.OK


def operations(url: str) -> list[Any]:
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    found: list[Any] = [cast("Any", result).ok() for result in schema.get_all_operations()]
    return [
        each for each in found if each.path not in ENDLESS and f"{each.method.upper()} {each.path}" not in NOT_TRIED
    ]


def test_nothing_is_answered_to_a_stranger_without_a_token(url: str) -> None:
    let_in = []
    with httpx.Client(base_url=url, headers=STRANGE, timeout=60) as stranger:
        document = httpx.get(f"{url}/openapi.json", timeout=60).json()
        for path, methods in document["paths"].items():
            for method in methods:
                answer = stranger.request(method, path.replace("{", "").replace("}", ""), json={})
                if answer.status_code != 401:
                    let_in.append(f"{method} {path} {answer.status_code}")
        assert stranger.get("/openapi.json").status_code == 401
        assert stranger.get("/nowhere").status_code == 401, "nor what there is not"
    assert sorted(let_in) == ["post /login 422", "post /logout 200"]


TYPES = ("user_message", "request", "audio_start", "audio_end", "stop", "levels", "", "x" * 300)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)

MESSAGES = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES) | VALUES},
    optional={
        "id": VALUES,
        "payload": VALUES
        | st.dictionaries(st.sampled_from(["do", "content", "text", "session", "mode", "speak", "name"]), VALUES),
    },
)

FRAMES = st.lists(MESSAGES.map(json.dumps) | st.text(max_size=200) | st.binary(max_size=3000), min_size=1, max_size=12)


def test_a_websocket_that_is_told_anything_at_all_harms_nobody(url: str) -> None:
    with connect(f"ws{url.removeprefix('http')}/ws") as beside:
        beside.recv()

        @given(frames=FRAMES)
        @settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        def tell(frames: list[str | bytes]) -> None:
            with connect(f"ws{url.removeprefix('http')}/ws") as rude, suppress(ConnectionClosed):
                for frame in frames:
                    rude.send(frame)

        tell()
        beside.send(json.dumps({"type": "user_message", "id": "1", "payload": {"content": "/ping"}}))
        while "pong: nakari" not in str(beside.recv(timeout=60)):
            pass
        assert httpx.get(f"{url}/ping", timeout=60).json()["pong"] is True


def test_nothing_that_the_document_allows_is_an_error_of_ours(url: str) -> None:
    wrong: list[str] = []
    for operation in operations(url):

        @given(case=operation.as_strategy())
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def try_it(case: Any) -> None:
            answer = case.call(timeout=60)
            if answer.status_code >= 500 and not is_unavailable(answer.status_code, answer.text):
                wrong.append(f"{case.method} {case.path} {case.body!r:.200} {answer.status_code} {answer.text:.200}")

        try_it()
    assert wrong == []


def is_unavailable(status: int, text: str) -> bool:
    """Whether a part that the request needs is not there, which is told as a sentence with its code."""
    return status == 503 and json.loads(text).get("code") == Exit.UNAVAILABLE
