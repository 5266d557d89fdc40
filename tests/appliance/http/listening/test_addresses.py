"""Addresses of TCP: one that is taken, or has no certificate yet, is tried again; those handed over are used."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace
from starlette.responses import PlainTextResponse
from structlog.testing import capture_logs

from appliance.config.network.http import HttpSettings, host_and_port
from appliance.errors import ConfigError, Exit
from appliance.http.doors import Doors
from appliance.http.listening.addresses import AGAIN_SECONDS, Addresses, addresses_of
from appliance.http.server import HttpServer
from tests.appliance.http.listening.test_tls import trusting, write_certificate

pytestmark = pytest.mark.shows("F25")


def taken() -> tuple[socket.socket, str]:
    """Return a socket that listens, and its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    return listener, f"127.0.0.1:{listener.getsockname()[1]}"


async def load() -> HttpServer:
    return HttpServer(PlainTextResponse("here"), most=10)


async def test_an_address_that_is_taken_is_told_once_and_had_when_it_is_free(tmp_path: Path) -> None:
    other, address = taken()
    paused: list[float] = []
    tried = asyncio.Event()

    async def pause(seconds: float) -> None:
        paused.append(seconds)
        if len(paused) == 3:
            other.close()
        tried.set()

    addresses = replace(addresses_of(HttpSettings(addresses=(address,)), ()), pause=pause)
    doors = Doors(tmp_path / "nakari.sock", load, addresses)
    with capture_logs() as logs:
        doors.open()
        told = addresses.describe()["addresses"]
        async with asyncio.TaskGroup() as group:
            running = group.create_task(doors.run())
            await tried.wait()
            transport = httpx.AsyncHTTPTransport(uds=str(doors.path), verify=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://nakari") as program:
                assert (await program.get("/")).text == "here", "the Unix socket waits for no other address"
            async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(retries=5)) as program:
                assert (await program.get(f"http://{address}/")).text == "here"
            running.cancel()
    assert "Address already in use" in str(told)
    assert [line["event"] for line in logs].count("http_address_unavailable") == 1
    assert paused == [AGAIN_SECONDS] * 3


async def test_https_waits_for_its_certificate_and_is_never_http(tmp_path: Path) -> None:
    paused = asyncio.Event()

    async def pause(seconds: float) -> None:
        write_certificate(tmp_path)
        paused.set()

    settings = HttpSettings(
        addresses=("127.0.0.1:0",), certificate=str(tmp_path / "box.pem"), key=str(tmp_path / "box.key")
    )
    addresses = replace(addresses_of(settings, ()), pause=pause)
    doors = Doors(tmp_path / "nakari.sock", load, addresses)
    doors.open()
    assert addresses.all[0].listener is None
    assert "the certificate of [http] cannot be used" in addresses.all[0].problem
    async with asyncio.TaskGroup() as group:
        running = group.create_task(doors.run())
        await paused.wait()
        async with asyncio.timeout(120):
            while addresses.all[0].problem:  # noqa: ASYNC110  no event tells it
                await asyncio.sleep(0)
        async with httpx.AsyncClient(verify=trusting(tmp_path)) as program:
            assert (await program.get(f"https://{addresses.all[0].name}/")).text == "here"
        running.cancel()


@pytest.mark.parametrize("bind", [lambda: taken()[0], lambda: socket.create_server(("::1", 0), family=socket.AF_INET6)])
def test_what_systemd_hands_over_is_used_as_it_is(bind: Callable[[], socket.socket]) -> None:
    listener = bind()
    port = listener.getsockname()[1]
    addresses = addresses_of(HttpSettings(addresses=("127.0.0.1:1",)), [listener.detach()])
    addresses.open()
    assert [each.name.rpartition(":")[2] for each in addresses.all] == [str(port)]
    with socket.create_connection(host_and_port(addresses.all[0].name)):
        pass
    addresses.close()


def test_one_that_lets_other_machines_in_without_protection_is_refused() -> None:
    listener = socket.create_server(("0.0.0.0", 0))
    with pytest.raises(ConfigError, match="which lets other machines in: give it a certificate") as refused:
        addresses_of(HttpSettings(), [listener.detach()])
    assert refused.value.code is Exit.CONFIG


def test_switched_off_it_listens_nowhere() -> None:
    assert addresses_of(HttpSettings(enabled=False), ()) == Addresses()
