"""The guard of the suite itself: it would be no use if it let something pass, or stopped what is local."""

import asyncio
import socket
import textwrap
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.conftest import reached
from tests.guard import is_local

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(
    "host", [None, "", "localhost", "127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "0.0.0.0"]
)
def test_this_machine_is_local(host: str | None) -> None:
    assert is_local(host)


@pytest.mark.parametrize("host", ["192.0.2.1", "10.0.0.1", "192.168.1.1", "2001:db8::1", "fe80::1%eth0", "example.org"])
def test_every_other_machine_is_not(host: str) -> None:
    assert not is_local(host)
    assert not is_local(host.encode())


def test_a_connection_beyond_loopback_is_refused_and_remembered() -> None:
    with socket.socket() as client, pytest.raises(ConnectionRefusedError, match=r"192\.0\.2\.1"):
        client.connect(("192.0.2.1", 80))
    assert reached == ["192.0.2.1"]
    reached.clear()


def test_a_datagram_beyond_loopback_is_refused() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as client, pytest.raises(ConnectionRefusedError):
        client.sendto(b"?", ("192.0.2.53", 53))
    reached.clear()


async def test_a_name_is_not_even_looked_up() -> None:
    with pytest.raises(ConnectionRefusedError, match=r"example\.org"):
        await asyncio.open_connection("example.org", 80)
    reached.clear()


async def test_loopback_and_unix_sockets_pass(tmp_path: Path) -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"yes")
        writer.close()

    path = str(tmp_path / "door")
    async with (
        await asyncio.start_server(answer, "localhost", 0) as door,
        await asyncio.start_unix_server(answer, path),
    ):
        port = door.sockets[0].getsockname()[1]
        for opened in (asyncio.open_connection("localhost", port), asyncio.open_unix_connection(path)):
            reader, writer = await opened
            assert await reader.read() == b"yes"
            writer.close()


def test_the_rules_fail_the_tests_that_break_them(pytester: pytest.Pytester) -> None:
    """Run three offenders under the same conftest: one reaches out and hides it, one leaves a task, one is innocent."""
    pytester.makeconftest("from tests.conftest import *")
    pytester.makepyfile(
        textwrap.dedent("""
            import asyncio, contextlib, socket

            def test_reaches_out():
                with contextlib.suppress(OSError):
                    socket.getaddrinfo("example.org", 80)

            async def test_leaves_a_task():
                asyncio.ensure_future(asyncio.Event().wait())

            async def test_innocent():
                async with asyncio.TaskGroup() as group:
                    group.create_task(asyncio.Event().wait()).cancel()
        """)
    )
    options = ["asyncio_mode=auto", "asyncio_default_fixture_loop_scope=function", f"pythonpath={ROOT}"]
    # A process of its own: a pytest inside a pytest would switch off the outer one's faulthandler when it ends.
    result = pytester.runpytest_subprocess(
        *("-p", "no:cacheprovider", "-p", "no:schemathesis"), *(f"--override-ini={option}" for option in options)
    )
    result.assert_outcomes(passed=3, errors=2)
    result.stdout.fnmatch_lines(["*reached beyond loopback: example.org*", "*tasks left behind: Task-*"])
