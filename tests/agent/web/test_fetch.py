"""Fetches from strangers: bounded in bytes and time, and led nowhere but over the public internet."""

import asyncio
import gzip
import itertools
import ssl
import zlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from agent.errors import ToolFailed
from agent.web.fetch import PAGE, Bounds, Fetcher, judged
from agent.web.guard import Guard
from agent.web.transport import GuardedTransport
from tests.agent.web.web_server import Answer, Names, WebServer, page, towards
from tests.proxies import proxies

MEBI = 1 << 20
HASTE = Bounds(0.4, PAGE.most)
"""For answers that never end."""


def fetcher(server: WebServer, bounds: Bounds = PAGE) -> Fetcher:
    return Fetcher("nakari/test", server.guard(page_test=server.host), bounds)


async def test_a_page_is_fetched_under_its_name_at_the_address_that_was_judged() -> None:
    async with WebServer({"/a": page("Hello.")}) as server:
        found = await fetcher(server).page(f"http://page.test:{server.port}/a")
    assert (found.status, found.media_type, found.is_cut) == (200, "text/html", False)
    assert b"Hello." in found.body
    asked = server.asked[0].headers
    assert asked["host"] == f"page.test:{server.port}"
    assert (asked["user-agent"], asked["accept-encoding"]) == ("nakari/test", "gzip, deflate")
    assert not asked.keys() & {"cookie", "referer", "authorization"}


@pytest.mark.shows("F9")
async def test_a_redirect_to_this_machine_and_to_its_own_doors_is_refused() -> None:
    """Outcome: one sentence; the door has seen no connection."""
    async with WebServer({"/": page("secrets")}) as door, WebServer() as server:
        for way in (door.url, f"http://localhost:{door.port}/", f"http://[::1]:{door.port}/", "http://127.0.0.1:7687/"):
            server.pages["/lure"] = towards(way)
            with pytest.raises(ToolFailed, match=r"is not on the public internet"):
                await fetcher(server).page(f"http://page.test:{server.port}/lure")
        assert door.connections == 0


@pytest.mark.parametrize("way", ["file:///etc/passwd", "ftp://page.test/", "gopher://page.test/", "data:text/html,x"])
async def test_a_redirect_to_something_that_is_no_page_is_refused(way: str) -> None:
    async with WebServer({"/": towards(way)}) as server:
        with pytest.raises(ToolFailed, match="only addresses that begin with http"):
            await fetcher(server).page(server.url)


@pytest.mark.shows("F9")
async def test_a_name_that_is_bound_anew_leads_nowhere() -> None:
    """Outcome: each connection goes to the one address that was judged for it; the second answer is refused."""
    async with WebServer(host="127.0.0.2") as server, WebServer(port=server.port) as door:
        names = Names({"rebind.test": "127.0.0.2 then 127.0.0.1"})
        guard = Guard(names, lambda _: "", allowed=[("127.0.0.2", server.port)])
        server.pages["/"] = towards("/again")
        with pytest.raises(ToolFailed, match="not on the public internet"):
            await Fetcher("nakari/test", guard, PAGE).page(f"http://rebind.test:{server.port}/")
        assert (server.connections, door.connections) == (1, 0)
        assert names.asked == ["rebind.test"] * 2, "once for each request: nobody asks again behind the guard"


async def test_a_name_of_other_letters_is_looked_up_as_name_servers_have_it() -> None:
    async with WebServer({"/": page("Hello.")}) as server:
        names = Names({"xn--bcher-kva.test": server.host})
        guard = Guard(names, lambda _: "", allowed=[(server.host, server.port)])
        await Fetcher("nakari/test", guard, PAGE).page(f"http://Bücher.test:{server.port}/")
    assert names.asked == ["xn--bcher-kva.test"]
    assert server.asked[0].headers["host"] == f"xn--bcher-kva.test:{server.port}"


async def test_of_several_addresses_the_next_one_is_tried_where_the_first_does_not_answer() -> None:
    async with WebServer({"/": page("Hello.")}) as server:
        allowed = [("127.0.0.1", server.port), ("127.0.0.3", server.port)]
        guard = Guard(Names({"page.test": "127.0.0.3 127.0.0.1"}), lambda _: "", allowed)
        found = await Fetcher("nakari/test", guard, PAGE).page(f"http://page.test:{server.port}/")
    assert b"Hello." in found.body


async def test_redirects_are_followed_to_a_relative_address_and_five_times_at_most() -> None:
    async with WebServer({"/a": towards("b?x=1"), "/b": page("Hello.")}) as server:
        found = await fetcher(server).page(f"{server.url}/a#part")
        assert found.url == f"{server.url}/b?x=1"
        server.pages["/round"] = towards("/round")
        with pytest.raises(ToolFailed, match="more than 5 times"):
            await fetcher(server).page(f"{server.url}/round")
        assert len(server.asked) == 2 + 6


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("ftp://page.test/a", "http://"),
        ("file:///etc/passwd", "http://"),
        ("javascript:alert(1)", "http://"),
        ("http://ada:secret@page.test/", "a user or a password"),
        ("https://", "no address"),
        ("http://page.test:99999/", "no address"),
        ("https://page.test/" + "a" * 2_048, "no address"),
        ("http://page.test/\x00", "no address"),
        ("http://[::1/", "no address"),
        ("", "http://"),
        ("page.test/a", "http://"),
    ],
)
def test_what_is_no_address_of_a_page_is_refused(address: str, why: str) -> None:
    with pytest.raises(ToolFailed, match=why):
        judged(address)


@pytest.mark.shows("F9")
async def test_of_ten_gigabytes_the_first_two_megabytes_are_read() -> None:
    """Outcome: the page is cut, and the connection closed."""
    ten = itertools.repeat(b"a" * 65_536, 10 * 1024 * MEBI // 65_536)
    async with WebServer({"/": Answer(ten, length=10 * 1024 * MEBI)}) as server:
        found = await fetcher(server).page(server.url)
    assert (len(found.body), found.is_cut) == (PAGE.most, True)
    assert server.sent < 64 * MEBI


@pytest.mark.shows("F9")
async def test_an_answer_without_end_is_cut() -> None:
    async with WebServer({"/": Answer(itertools.repeat(b"a" * 1000))}) as server:
        found = await fetcher(server).page(server.url)
    assert (len(found.body), found.is_cut) == (PAGE.most, True)


def bomb(size: int) -> bytes:
    """Return so many zeros in a thousandth of their size."""
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    pieces = [packing.compress(bytes(MEBI)) for _ in range(size // MEBI)]
    return b"".join([*pieces, packing.flush()])


@pytest.mark.shows("F9")
async def test_of_a_zip_bomb_no_more_is_unpacked_than_a_page_may_have() -> None:
    """Outcome: two megabytes of zeros, cut; the rest is never made."""
    packed = bomb(64 * MEBI)
    assert len(packed) < PAGE.most
    headers = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
    async with WebServer({"/": Answer(packed, headers=headers)}) as server:
        found = await fetcher(server).page(server.url)
    assert (len(found.body), found.is_cut) == (PAGE.most, True)


@pytest.mark.parametrize(
    "packed",
    [zlib.compress(b"Hello."), zlib.compress(b"Hello.")[2:-4], gzip.compress(b"Hello.")],
    ids=["deflate", "without its head", "gzip"],
)
async def test_both_kinds_of_deflate_and_gzip_are_unpacked(packed: bytes) -> None:
    encoding = "gzip" if packed[:2] == b"\x1f\x8b" else "deflate"
    pieces = [packed[i : i + 3] for i in range(0, len(packed), 3)]
    async with WebServer({"/": Answer(pieces, headers={"Content-Encoding": encoding})}) as server:
        found = await fetcher(server).page(server.url)
    assert found.body == b"Hello."


@pytest.mark.parametrize(
    ("encoding", "why"), [("br", "not asked for"), ("gzip, gzip", "not asked for"), ("gzip", "unpacked")]
)
async def test_what_cannot_be_unpacked_within_bounds_is_not_unpacked(encoding: str, why: str) -> None:
    async with WebServer({"/": Answer(b"nonsense", headers={"Content-Encoding": encoding})}) as server:
        with pytest.raises(ToolFailed, match=why):
            await fetcher(server).page(server.url)


def letters() -> Iterator[bytes]:
    yield from (b"<html>", b"a", b"b")


@pytest.mark.shows("F9")
@pytest.mark.parametrize("pieces", [b"", list(letters())])
async def test_one_that_says_nothing_or_a_letter_now_and_then_is_given_up(pieces: bytes | list[bytes]) -> None:
    answer = Answer(pieces, ending="hangs", length=1000)
    async with WebServer({"/": answer}) as server:
        with pytest.raises(ToolFailed, match=r"not come whole within 0\.4 s"):
            await fetcher(server, HASTE).page(server.url)


async def test_one_that_never_begins_to_answer_is_given_up() -> None:
    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    silent = await asyncio.start_server(never, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    guard = Guard(Names({}), lambda _: "", allowed=[("127.0.0.1", port)])
    async with silent:
        with pytest.raises(ToolFailed, match="not come whole"):
            await Fetcher("nakari/test", guard, HASTE).page(f"http://127.0.0.1:{port}/")


async def test_half_an_answer_is_none() -> None:
    async with WebServer({"/": Answer([b"<html>"], ending="breaks off")}) as server:
        with pytest.raises(ToolFailed, match="broke off in the middle"):
            await fetcher(server).page(server.url)


async def test_what_does_not_speak_http_is_told() -> None:
    async def mail(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.test ESMTP\r\n\r\n")
        await reader.read()
        writer.close()

    server = await asyncio.start_server(mail, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    guard = Guard(Names({}), lambda _: "", allowed=[("127.0.0.1", port)])
    async with server:
        with pytest.raises(ToolFailed, match="does not speak HTTP"):
            await Fetcher("nakari/test", guard, PAGE).page(f"http://127.0.0.1:{port}/")


@pytest.mark.shows("F9")
async def test_no_proxy_of_the_environment_is_used() -> None:
    """It would resolve the name itself, and connect wherever that leads."""
    async with WebServer({"/": page("Hello.")}) as server, WebServer() as proxy:
        with proxies(proxy.url):
            found = await fetcher(server).page(f"http://page.test:{server.port}/")
    assert b"Hello." in found.body
    assert proxy.connections == 0


def certified(name: str, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return what a server shows that is certified for a name, and what trusts its authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    begin = datetime(2020, 1, 1)  # noqa: DTZ001
    made = x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number(), begin)
    made = made.not_valid_after(datetime(2100, 1, 1))  # noqa: DTZ001
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    pem = made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
    (folder / "both.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + pem)
    shown = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    shown.load_cert_chain(folder / "both.pem")
    return shown, ssl.create_default_context(cadata=pem.decode())


@pytest.mark.shows("F9")
async def test_the_certificate_is_checked_for_the_name_at_the_address_that_was_judged(tmp_path: Path) -> None:
    server = WebServer({"/": page("Hello.")})
    server.tls, trust = certified("page.test", tmp_path)
    async with server:
        transport = GuardedTransport(server.guard(page_test=server.host, other_test=server.host), trust)
        response = await transport.handle_async_request(httpx.Request("GET", f"https://page.test:{server.port}/"))
        await response.aclose()
        assert response.status_code == 200
        with pytest.raises(httpx.ConnectError, match=r"not valid for 'other\.test'"):
            await transport.handle_async_request(httpx.Request("GET", f"https://other.test:{server.port}/"))
