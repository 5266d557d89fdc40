"""The door: every request, every way to be rude, over real Unix sockets."""

import asyncio
import json
import shutil
import socket
import stat
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agent.errors import ModelUnavailable
from appliance.api.client import tell
from appliance.api.connection import MAX_BACKLOG, MAX_LINE
from appliance.api.requests import Enqueue
from appliance.api.server import MADE_ROOM, MAX_CLIENTS, MAX_REFUSED, NO_ROOM, QUIET_SECONDS
from appliance.errors import Problem
from appliance.exits import Exit
from tests.appliance.door_fakes import Program, ScriptedHandler, serving, visiting


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "nakari.sock"


async def test_it_answers_what_it_promises(path: Path) -> None:
    async with serving(path, ScriptedHandler()), visiting(path) as program:
        assert await program.ask({"do": "ping"}) == {"pong": True}
        assert await program.ask({"do": "status"}) == {"state": "listening", "pending": 2}


@pytest.mark.shows("A7", "F4")
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
        print $door '{"do":"enqueue","type":"bell","content":"somebody rings"}', "\n";
        print scalar <$door>;
    """
    handler = ScriptedHandler()
    async with serving(path, handler):
        perl = await asyncio.create_subprocess_exec("perl", "-e", script, path, stdout=asyncio.subprocess.PIPE)
        said, _ = await perl.communicate()
    assert (perl.returncode, said) == (0, b'{"id": "event-1"}\n')
    assert handler.enqueued[0].content == "somebody rings"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"hello\n", "this line is no JSON: expected value"),
        (b"\n", "this line is no JSON"),
        (b'{"do":"ask","text":"\xff"}\n', "this line is no JSON: invalid unicode"),
        (b'{"do":"ask","text":"\\ud800"}\n', "this line is no JSON"),
        (b"[" * 100_000 + b"\n", "this line is no JSON: recursion limit"),
        (
            b"[]\n",
            'a request is one JSON object with "do": "ping", "status", "attach", "ask", "say", "enqueue", "hush"',
        ),
        (b"{}\n", "a request is one JSON object"),
        (b'{"do":"dance"}\n', "a request is one JSON object"),
        (b'{"do":"ask"}\n', "text: field required"),
        (b'{"do":"ask","text":"  "}\n', "text: should say something"),
        (b'{"do":"ask","text":3}\n', "text: input should be a valid string"),
        (b'{"do":"ask","text":"x","loud":true}\n', "loud: extra inputs are not permitted"),
        (b'{"do":"enqueue","type":" "}\n', "type: should say something"),
        (b'{"do":"enqueue","type":"x","priority":"high"}\n', "priority: input should be a valid integer"),
        (b'{"do":"enqueue","type":"x","priority":100000}\n', "priority: input should be less than"),
        (b'{"do":"enqueue","type":"x","metadata":{"n":NaN}}\n', "metadata: out of range float values"),
        (b'{"do":"enqueue","type":"x","metadata":{"attachments":[]}}\n', "metadata: should have no attachments: those"),
        (b'{"do":"ask","text":"x","attachments":["' + b'","'.join([b"a"] * 9) + b'"]}\n', "attachments: list should"),
    ],
)
async def test_a_malformed_line_gets_a_sentence_and_the_next_is_heard(path: Path, line: bytes, sentence: str) -> None:
    handler = ScriptedHandler()
    async with serving(path, handler), visiting(path) as program:
        heard = await program.ask(line)
        assert (list(heard), heard["code"]) == (["error", "code"], Exit.USAGE)
        assert sentence in str(heard["error"])
        assert await program.ask({"do": "ping"}) == {"pong": True}
    assert not handler.asked
    assert not handler.enqueued


async def test_a_line_over_the_limit_is_told_and_its_sender_sent_away(path: Path) -> None:
    async with serving(path, ScriptedHandler()):
        async with visiting(path) as program:
            program.writer.write(b'{"do":"ask","text":"' + b"x" * (2 * MAX_LINE))
            refused = await program.hear()
            assert "more than 1000000 bytes is refused" in str(refused["error"])
            assert refused["code"] == Exit.USAGE
            assert await program.sent_away()
        async with visiting(path) as program:
            assert await program.ask({"do": "ping"}) == {"pong": True}


async def test_a_line_just_below_the_limit_is_heard(path: Path) -> None:
    handler = ScriptedHandler()
    line = json.dumps({"do": "enqueue", "type": "x", "content": ""}).encode()
    filled = line.replace(b'""', b'"' + b"x" * (MAX_LINE - len(line) - 2) + b'"') + b"\n"
    async with serving(path, handler), visiting(path) as program:
        assert await program.ask(filled) == {"id": "event-1"}
    assert len(handler.enqueued[0].content) > MAX_LINE - 100


async def test_a_program_that_stops_reading_is_dropped(path: Path) -> None:
    handler = ScriptedHandler(pieces=["x" * 10_000], endless=True)
    with capture_logs() as logs:
        async with serving(path, handler), visiting(path) as rude:
            rude.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a stream's transport reads too
            await rude.send({"do": "ask", "text": "tell me everything"})
            await handler.closed.wait()
            async with visiting(path) as polite:
                assert await polite.ask({"do": "ping"}) == {"pong": True}
    assert "door_client_dropped" in [line["event"] for line in logs]


async def test_one_large_answer_is_no_backlog(path: Path) -> None:
    large = "猫" * MAX_BACKLOG
    async with serving(path, ScriptedHandler(pieces=[large])):
        whole = await tell(path, {"do": "ask", "text": "tell me everything", "stream": False})
    assert whole["text"] == large


async def test_one_that_leaves_in_mid_answer_ends_it(path: Path) -> None:
    handler = ScriptedHandler(pieces=["and then "], endless=True)
    async with serving(path, handler):
        async with visiting(path) as program:
            await program.ask({"do": "ask", "text": "tell me a story"})
        await handler.closed.wait()


async def test_one_who_asks_holds_up_nobody_else(path: Path) -> None:
    handler = ScriptedHandler(hold=asyncio.Event())
    async with serving(path, handler), visiting(path) as slow, visiting(path) as quick:
        await slow.send({"do": "ask", "text": "think hard"})
        await handler.begun.wait()
        assert await quick.ask({"do": "ping"}) == {"pong": True}
        assert not handler.closed.is_set()


async def test_requests_of_one_program_are_answered_in_order(path: Path) -> None:
    async with serving(path, ScriptedHandler()), visiting(path) as program:
        await program.send(b'{"do":"enqueue","type":"a"}\n{"do":"nothing"}\n{"do":"ping"}\n{"do":"ask","text":"x"}\n')
        heard = [await program.hear() for _ in range(6)]
    assert [next(iter(answer)) for answer in heard] == ["id", "error", "pong", "event", "event", "event"]


async def test_a_program_that_sends_all_it_has_and_then_listens(path: Path) -> None:
    async with serving(path, ScriptedHandler()), visiting(path) as program:
        program.writer.write(b'{"do": "ask", "text": "no newline at the end"}')
        program.writer.write_eof()
        said = await program.reader.read()
    assert said.count(b"\n") == 3
    assert b"run_finished" in said


async def test_a_failure_is_told_in_the_part_s_own_sentence(path: Path) -> None:
    handler = ScriptedHandler(error=ModelUnavailable("the model does not answer; wait a moment"))
    async with serving(path, handler), visiting(path) as program:
        sentence = "the model does not answer; wait a moment"
        assert await program.ask({"do": "status"}) == {"error": sentence, "code": Exit.UNAVAILABLE}
        await program.send({"do": "ask", "text": "x"})
        heard = [await program.hear() for _ in range(3)]
        assert heard[-1] == {"event": "run_finished", "status": "failed", "error": sentence, "code": 69}


async def test_a_bug_behind_the_door_is_logged_and_closes_nothing(path: Path) -> None:
    with capture_logs() as logs:
        async with serving(path, ScriptedHandler(error=KeyError("bug"))), visiting(path) as program:
            assert await program.ask({"do": "status"}) == {"error": "something went wrong inside; the log says what"}
            assert await program.ask({"do": "ping"}) == {"pong": True}
    assert [line["event"] for line in logs if line["log_level"] == "error"] == ["door_request_failed"]


async def test_there_is_room_for_a_number_of_programs(path: Path) -> None:
    with capture_logs() as logs:
        async with serving(path, ScriptedHandler()):
            inside = []
            for _ in range(MAX_CLIENTS):
                reader, writer = await asyncio.open_unix_connection(path)
                writer.write(b'{"do":"ping"}\n')
                assert await reader.readline() == b'{"pong": true}\n'
                inside.append(writer)
            with pytest.raises(Problem, match="32 programs are inside already: try again when one of them has gone"):
                await tell(path, {"do": "ping"})
            async with AsyncExitStack() as others:
                refused = [await others.enter_async_context(visiting(path)) for _ in range(MAX_REFUSED + 1)]
                assert await refused[-1].sent_away(), "nobody keeps the door busy with being refused"
                for other in refused[:-1]:
                    await other.send({"do": "ping"})
                    assert await other.hear() == NO_ROOM
            for writer in inside:
                writer.close()
                await writer.wait_closed()
    assert "door_full" in [line["event"] for line in logs]


async def crowded(stack: AsyncExitStack, path: Path, count: int) -> list[Program]:
    """Bring so many programs in, one after the other; each has said something."""
    inside = [await stack.enter_async_context(visiting(path)) for _ in range(count)]
    for program in inside:
        assert await program.ask({"do": "ping"}) == {"pong": True}
    return inside


async def test_the_quietest_makes_room_and_whoever_waits_for_an_answer_does_not(path: Path) -> None:
    now = [0.0]
    handler = ScriptedHandler(hold=asyncio.Event())
    async with serving(path, handler, clock=lambda: now[0]), AsyncExitStack() as stack:
        [asks] = await crowded(stack, path, 1)
        await asks.send({"do": "ask", "text": "think hard"})
        await handler.begun.wait()
        [quiet, *others] = await crowded(stack, path, MAX_CLIENTS - 1)
        now[0] += QUIET_SECONDS - 1
        with pytest.raises(Problem, match="32 programs are inside already"):
            await tell(path, {"do": "ping"})
        for other in others:
            assert await other.ask({"do": "ping"}) == {"pong": True}
        now[0] += 1
        [late] = await crowded(stack, path, 1)
        assert await quiet.hear() == MADE_ROOM
        assert await quiet.sent_away()
        with pytest.raises(Problem, match="32 programs are inside already"):
            await tell(path, {"do": "ping"})
        assert handler.hold is not None
        handler.hold.set()
        assert [next(iter(await asks.hear())) for _ in range(3)] == ["event"] * 3
        for other in (asks, late, *others):
            assert await other.ask({"do": "ping"}) == {"pong": True}


async def test_who_has_gone_in_mid_answer_makes_room_at_once_and_who_only_says_no_more_does_not(path: Path) -> None:
    handler = ScriptedHandler(hold=asyncio.Event())
    async with serving(path, handler), AsyncExitStack() as stack:
        async with AsyncExitStack() as gone:
            for program in await crowded(gone, path, MAX_CLIENTS - 1):
                assert next(iter(await program.ask({"do": "ask", "text": "think hard"}))) == "event"
        [listens] = await crowded(stack, path, 1)
        assert next(iter(await listens.ask({"do": "ask", "text": "and for me"}))) == "event"
        listens.writer.write_eof()
        await crowded(stack, path, MAX_CLIENTS - 1)
        with pytest.raises(Problem, match="32 programs are inside already"):
            await tell(path, {"do": "ping"})
        assert handler.hold is not None
        handler.hold.set()
        assert [next(iter(await listens.hear())) for _ in range(2)] == ["event"] * 2


async def test_who_was_cut_off_in_mid_answer_makes_room_too(path: Path) -> None:
    handler = ScriptedHandler(hold=asyncio.Event())
    async with serving(path, handler), AsyncExitStack() as stack:
        crowd = [socket.socket(socket.AF_UNIX) for _ in range(MAX_CLIENTS)]
        for program in crowd:
            program.connect(str(path))
            program.sendall(b'{"do": "ask", "text": "think hard"}\n')
            await asyncio.to_thread(program.recv, 1)
            program.close()  # what it did not read makes that a reset
        async with asyncio.timeout(10):
            await crowded(stack, path, MAX_CLIENTS)


async def test_no_more_get_in_when_they_all_come_at_once(path: Path) -> None:
    async with serving(path, ScriptedHandler()):
        crowd = [socket.socket(socket.AF_UNIX) for _ in range(MAX_CLIENTS + MAX_REFUSED + 5)]
        for program in crowd:
            program.connect(str(path))
            program.sendall(b'{"do": "ping"}\n')
        heard = [json.loads(line) for line in [await asyncio.to_thread(_line_of, program) for program in crowd] if line]
        for program in crowd:
            program.close()
    assert heard.count({"pong": True}) == MAX_CLIENTS
    assert heard.count(NO_ROOM) == len(heard) - MAX_CLIENTS


def _line_of(program: socket.socket) -> bytes:
    """Return what a program is told; b"" when it is sent away without a word."""
    try:
        return program.recv(1000)
    except ConnectionResetError:
        return b""


def modes(path: Path) -> list[int]:
    return [stat.S_IMODE(place.stat().st_mode) for place in (path.parent, path)]


def remains(path: Path) -> list[str]:
    return [file.name for file in path.parent.iterdir()]


async def test_it_is_open_to_its_owner_only_and_leaves_nothing_but_its_lock(path: Path) -> None:
    async with serving(path, ScriptedHandler()), visiting(path) as program:
        assert await program.ask({"do": "ping"}) == {"pong": True}
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
