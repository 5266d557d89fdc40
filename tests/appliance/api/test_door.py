"""The door: every request, every way to be rude, over real Unix sockets."""

import asyncio
import json
import shutil
import stat
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from structlog.testing import capture_logs

from agent.errors import ModelUnavailable
from appliance.api.client import tell
from appliance.api.requests.box import Enqueue
from appliance.errors import Exit
from appliance.http.access.middleware import MOST_BYTES
from appliance.http.answering import MOST_BACKLOG
from appliance.http.doors import Doors
from appliance.http.listening.addresses import Addresses
from appliance.http.server import HttpServer
from tests.appliance.door_fakes import ScriptedHandler, serving, visiting


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "nakari.sock"


async def test_it_answers_what_it_promises(path: Path) -> None:
    async with serving(path, ScriptedHandler()), visiting(path) as program:
        assert await program.ask({"do": "ping"}) == {"pong": True, "version": "0", "uptime_seconds": 1.0, "waiting": 2}
        assert await program.ask({"do": "status"}) == {"state": "listening", "pending": 2}


@pytest.mark.shows("F25")
async def test_what_people_ask_for_has_an_address_of_its_own(path: Path) -> None:
    handler = ScriptedHandler()
    async with serving(path, handler), visiting(path) as program:
        assert (await program.client.get("/status")).json() == {"state": "listening", "pending": 2}
        assert (await program.client.get("/events", params={"limit": 5})).json() == {"done": "It is tried again."}
        assert (await program.client.post("/events", json={"type": "bell"})).json() == {"id": "event-1"}
        assert (await program.client.post("/events/e1", json={"cancel": True})).status_code == 200
        refused = await program.client.get("/events", params={"limit": "many"})
        assert (refused.status_code, refused.json()["code"]) == (422, Exit.USAGE)
        missing = await program.client.get("/nowhere")
        assert (missing.status_code, missing.json()["error"][:31]) == (404, "there is nothing at /nowhere; G")
        refused = await program.client.delete("/events")
        assert (refused.status_code, refused.json()["error"][:33]) == (405, "DELETE is not taken at /events; G")
    assert handler.told == ["events", "events.change"]


@pytest.mark.shows("F25")
async def test_the_head_of_each_answer_can_be_had_alone(path: Path) -> None:
    async with serving(path, ScriptedHandler()), visiting(path) as program:
        for place in ("/ping", "/status", "/events", "/openapi.json"):
            whole, head = await program.client.get(place), await program.client.head(place)
            assert (head.status_code, head.content) == (200, b"")
            assert head.headers["content-type"] == whole.headers["content-type"]
        assert (await program.client.head("/nowhere")).status_code == 404
        assert (await program.client.head("/ask")).status_code == 405
        assert (await program.client.get("/ping")).status_code == 200, "the connection goes on"


@pytest.mark.shows("F25")
async def test_every_request_stands_in_the_openapi_document_by_its_one_entry(path: Path) -> None:
    async with serving(path, ScriptedHandler()) as doors, visiting(path) as program:
        document = (await program.client.get("/openapi.json")).json()
        assert doors.path == path
    paths = document["paths"]
    assert {"/requests/ping", "/requests/memory.restore", "/events/{id}", "/ask"} <= set(paths)
    asked = paths["/ask"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert (asked["required"], asked["additionalProperties"]) == (["text"], False)
    assert paths["/events"]["get"]["parameters"][0]["name"] == "limit"
    for each in json.dumps(document).split('"$ref": "')[1:]:
        name = each.partition('"')[0].removeprefix("#/components/schemas/")
        assert name in document["components"]["schemas"], name


@pytest.mark.shows("A7", "F4", "E21")
async def test_an_answer_comes_piece_by_piece_while_it_is_written(path: Path) -> None:
    handler = ScriptedHandler(hold=asyncio.Event())
    async with serving(path, handler), visiting(path) as program:
        assert await program.ask({"do": "ask", "text": " 几点了? ", "session": "desk"}) == {
            "event": "text_chunk",
            "chunk": "It is ",
        }
        assert handler.hold is not None
        handler.hold.set()
        assert await program.hear() == {"event": "text_chunk", "chunk": "three."}
        assert await program.hear() == {"event": "run_finished", "status": "completed"}
        assert handler.asked == [(" 几点了? ", "desk")]


async def test_an_answer_can_be_had_as_server_sent_events(path: Path) -> None:
    async with serving(path, ScriptedHandler()), visiting(path) as program:
        answer = await program.client.post("/ask", json={"text": "when"}, headers={"accept": "text/event-stream"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    told = [json.loads(each.removeprefix("data: ")) for each in answer.text.split("\n\n") if each]
    assert [each["event"] for each in told] == ["text_chunk", "text_chunk", "run_finished"]


async def test_an_answer_can_be_had_whole(path: Path) -> None:
    async with serving(path, ScriptedHandler()), visiting(path) as program:
        heard = await program.ask({"do": "ask", "text": "when", "stream": False})
    assert heard == {"event": "run_finished", "status": "completed", "text": "It is three."}


@pytest.mark.shows("A10", "A1", "A2")
async def test_any_program_can_leave_an_event(path: Path) -> None:
    handler = ScriptedHandler()
    content = '猫\x00 "&<>\n' + "é" * 32_768
    async with serving(path, handler), visiting(path) as program:
        heard = await program.ask(
            {
                "do": "enqueue",
                "type": "doorbell",
                "content": content,
                "priority": -3,
                "metadata": {"at": [1, None, "x"]},
            }
        )
        assert heard == {"id": "event-1"}
        assert await program.ask({"do": "enqueue", "type": "washing_machine"}) == {"id": "event-2"}
    first, second = handler.enqueued
    assert (first.type, first.content, first.priority) == ("doorbell", content, -3)
    assert first.metadata == {"at": [1, None, "x"]}
    assert second == Enqueue(do="enqueue", type="washing_machine")


@pytest.mark.shows("A10")
@pytest.mark.skipif(shutil.which("perl") is None, reason="perl, which every Debian has, is missing")
async def test_a_program_in_another_language_needs_nothing_of_ours(path: Path) -> None:
    script = """
        use IO::Socket::UNIX;
        my $door = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "no door";
        my $body = '{"type":"bell","content":"somebody rings"}';
        print $door "POST /events HTTP/1.1\\r\\nHost: nakari\\r\\nConnection: close\\r\\n";
        print $door "Content-Length: ", length $body, "\\r\\n\\r\\n", $body;
        print <$door>;
    """
    handler = ScriptedHandler()
    async with serving(path, handler):
        perl = await asyncio.create_subprocess_exec("perl", "-e", script, path, stdout=asyncio.subprocess.PIPE)
        said, _ = await perl.communicate()
    assert (perl.returncode, said.startswith(b"HTTP/1.1 200"), said.endswith(b'{"id": "event-1"}\n\r\n0\r\n\r\n')) == (
        0,
        True,
        True,
    )
    assert handler.enqueued[0].content == "somebody rings"


@pytest.mark.parametrize(
    ("place", "body", "sentence"),
    [
        ("ask", b"hello", "this is no JSON: expected value"),
        ("ask", b'{"text":"\xff"}', "this is no JSON: invalid unicode"),
        ("ask", b'{"text":"\\ud800"}', "this is no JSON"),
        ("ask", b"[" * 100_000, "this is no JSON: recursion limit"),
        ("ask", b"[]", "a request is one JSON object"),
        ("ask", b"", "text: field required"),
        ("ask", b"{}", "text: field required"),
        ("ask", b'{"do":"ping","text":"x"}', "do: input should be 'ask'"),
        ("ask", b'{"text":"  "}', "text: should say something"),
        ("ask", b'{"text":3}', "text: input should be a valid string"),
        ("ask", b'{"text":"x","loud":true}', "loud: extra inputs are not permitted"),
        ("enqueue", b'{"type":" "}', "type: should say something"),
        ("enqueue", b'{"type":"x","priority":"high"}', "priority: input should be a valid integer"),
        ("enqueue", b'{"type":"x","priority":100000}', "priority: input should be less than"),
        ("enqueue", b'{"type":"x","metadata":{"n":NaN}}', "metadata: out of range float values"),
        ("enqueue", b'{"type":"x","metadata":{"attachments":[]}}', "metadata: should have no attachments: those"),
        ("ask", b'{"text":"x","attachments":["' + b'","'.join([b"a"] * 9) + b'"]}', "attachments: list should"),
    ],
)
async def test_a_malformed_request_gets_a_sentence_and_the_next_is_heard(
    path: Path, place: str, body: bytes, sentence: str
) -> None:
    handler = ScriptedHandler()
    async with serving(path, handler), visiting(path) as program:
        refused = await program.client.post(f"/requests/{place}", content=body)
        heard = refused.json()
        assert (refused.status_code, list(heard), heard["code"]) == (422, ["error", "code"], Exit.USAGE)
        assert sentence in str(heard["error"])
        assert (await program.ask({"do": "ping"}))["pong"] is True
    assert not handler.asked
    assert not handler.enqueued


async def test_a_request_over_the_limit_is_refused_before_it_is_read_whole(path: Path) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 100 * MOST_BYTES:
            sent += 10_000
            yield b"x" * 10_000

    async with serving(path, ScriptedHandler()), visiting(path) as program:
        refused = await program.client.post("/ask", content=endless())
        assert (refused.status_code, refused.json()["code"]) == (413, Exit.USAGE)
        assert "more than 1 MB is refused" in refused.json()["error"]
        assert (await program.ask({"do": "ping"}))["pong"] is True
    assert sent < 20 * MOST_BYTES


async def test_a_request_just_below_the_limit_is_heard(path: Path) -> None:
    handler = ScriptedHandler()
    async with serving(path, handler), visiting(path) as program:
        content = "x" * (MOST_BYTES - 100)
        assert await program.ask({"do": "enqueue", "type": "x", "content": content}) == {"id": "event-1"}
    assert len(handler.enqueued[0].content) == MOST_BYTES - 100


async def test_a_program_that_stops_reading_is_dropped(path: Path) -> None:
    handler = ScriptedHandler(pieces=["x" * 10_000], endless=True)
    with capture_logs() as logs:
        async with serving(path, handler), visiting(path) as rude:
            await rude.send({"do": "ask", "text": "tell me everything"})
            await handler.closed.wait()
            async with visiting(path) as polite:
                assert (await polite.ask({"do": "ping"}))["pong"] is True
    assert "door_client_dropped" in [line["event"] for line in logs]


async def test_one_large_answer_is_no_backlog(path: Path) -> None:
    large = "猫" * MOST_BACKLOG
    async with serving(path, ScriptedHandler(pieces=[large])):
        whole = await tell(path, {"do": "ask", "text": "tell me everything", "stream": False})
    assert whole["text"] == large


async def test_one_that_leaves_in_mid_answer_ends_it(path: Path) -> None:
    handler = ScriptedHandler(pieces=["and then "], endless=True)
    async with serving(path, handler):
        async with visiting(path) as program:
            await program.ask({"do": "ask", "text": "tell me a story"})
        await handler.closed.wait()


async def test_one_that_leaves_before_the_first_word_ends_it(path: Path) -> None:
    handler = ScriptedHandler(pieces=["late"], hold=asyncio.Event())
    async with serving(path, handler):
        async with visiting(path) as program, asyncio.TaskGroup() as group:
            asking = group.create_task(program.client.post("/ask", json={"text": "think hard"}))
            await handler.begun.wait()
            asking.cancel()
        await handler.closed.wait()


async def test_one_who_asks_holds_up_nobody_else(path: Path) -> None:
    handler = ScriptedHandler(hold=asyncio.Event())
    async with serving(path, handler), visiting(path) as slow, visiting(path) as quick:
        await slow.send({"do": "ask", "text": "think hard"})
        await handler.begun.wait()
        assert (await quick.ask({"do": "ping"}))["pong"] is True
        assert not handler.closed.is_set()


async def test_a_failure_is_told_in_the_part_s_own_sentence(path: Path) -> None:
    handler = ScriptedHandler(error=ModelUnavailable("the model does not answer; wait a moment"))
    async with serving(path, handler), visiting(path) as program:
        sentence = "the model does not answer; wait a moment"
        refused = await program.client.get("/status")
        assert (refused.status_code, refused.json()) == (503, {"error": sentence, "code": Exit.UNAVAILABLE})
        await program.send({"do": "ask", "text": "x"})
        heard = [await program.hear() for _ in range(3)]
        assert heard[-1] == {"event": "run_finished", "status": "failed", "error": sentence, "code": 69}


async def test_a_bug_behind_the_door_is_logged_and_closes_nothing(path: Path) -> None:
    with capture_logs() as logs:
        async with serving(path, ScriptedHandler(error=KeyError("bug"))), visiting(path) as program:
            assert await program.ask({"do": "status"}) == {"error": "something went wrong inside; the log says what"}
            assert (await program.ask({"do": "ping"}))["pong"] is True
    assert [line["event"] for line in logs if line["log_level"] == "error"] == ["request_failed"]


async def test_many_programs_at_once_are_all_answered(path: Path) -> None:
    handler = ScriptedHandler(hold=asyncio.Event())
    assert handler.hold is not None
    async with serving(path, handler), AsyncExitStack() as stack:
        programs = [await stack.enter_async_context(visiting(path)) for _ in range(100)]
        for program in programs:
            assert (await program.ask({"do": "ask", "text": "think hard"}))["event"] == "text_chunk"
        handler.hold.set()
        for program in programs:
            assert [(await program.hear())["event"] for _ in range(2)] == ["text_chunk", "run_finished"]


async def test_nothing_is_loaded_before_somebody_comes(path: Path) -> None:
    loaded = asyncio.Event()

    async def load() -> HttpServer:
        loaded.set()
        return HttpServer(nobody, most=10)

    doors = Doors(path, load, Addresses())
    doors.open()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(doors.run())
        for _ in range(100):
            await asyncio.sleep(0)
        assert not loaded.is_set()
        async with visiting(path) as program:
            assert (await program.client.get("/")).status_code == 204
        assert loaded.is_set()
        running.cancel()


async def nobody(scope: Scope, receive: Receive, send: Send) -> None:
    await Response(status_code=204)(scope, receive, send)


def modes(path: Path) -> list[int]:
    return [stat.S_IMODE(place.stat().st_mode) for place in (path.parent, path)]


def remains(path: Path) -> list[str]:
    return [file.name for file in path.parent.iterdir()]


async def test_it_is_open_to_its_owner_only_and_leaves_nothing_but_its_lock(path: Path) -> None:
    async with serving(path, ScriptedHandler()), visiting(path) as program:
        assert (await program.ask({"do": "ping"}))["pong"] is True
        assert modes(path) == [0o700, 0o600]
    assert remains(path) == ["nakari.sock.lock"]


@pytest.mark.shows("V16", "V29")
async def test_reflexes_are_acted_on_at_the_door(path: Path) -> None:
    handler = ScriptedHandler()
    async with serving(path, handler), visiting(path) as program:
        assert await program.ask({"do": "hush", "what": "mute"}) == {"done": "Done: mute."}
        assert await program.ask({"do": "forget", "minutes": 5}) == {"done": "Forgotten."}
        assert await program.ask({"do": "calibrate"}) == {"done": "Full duplex."}
    assert handler.told == ["mute", "forget 1 5.0", "calibrate"]
