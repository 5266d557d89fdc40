"""A calendar at an address: its server's faults are one sentence each, and it is asked nowhere else."""

import gzip

import pytest

from agent.calendars.fetching import Fetcher, Login, is_same_server
from agent.calendars.ics_source import IcsAddress
from agent.errors import CalendarLost
from tests.agent.calendars.entries import calendar, entry
from tests.agent.calendars.ics_server import IcsServer, ics_server
from tests.agent.clock import MORNING

TEXT = calendar(entry("DTSTART:20261124T140000Z"))
STRETCH = (MORNING, MORNING)


async def lost(server: IcsServer, seconds: float = 30.0, most: int = 1_000_000) -> str:
    """Why it is lost, in a sentence."""
    source = IcsAddress("home", Fetcher(server.url, seconds=seconds, most=most))
    try:
        with pytest.raises(CalendarLost) as error:
            await source.look({})
    finally:
        await source.aclose()
    return str(error.value)


@pytest.mark.shows("X11")
async def test_a_file_is_fetched_once_for_as_long_as_its_server_says_that_it_is_the_same() -> None:
    async with ics_server(TEXT) as server:
        server.etag = '"one"'
        source = IcsAddress("home", Fetcher(server.url))
        (first,) = await source.look({})
        assert await source.body(first, *STRETCH) == TEXT.encode()
        assert await source.look({first.key: first}) == [first]
        assert await source.body(first, *STRETCH) == b""  # there was none
        server.etag, server.body = '"two"', b"new"
        (second,) = await source.look({first.key: first})
        assert (second.tag, await source.body(second, *STRETCH)) == ('ETag "two"', b"new")
        await source.aclose()


@pytest.mark.parametrize("code", ["gbk", "utf-16"])
async def test_a_calendar_of_another_encoding_keeps_its_letters(code: str) -> None:
    text = calendar(entry("DTSTART:20261124T140000Z", "LOCATION:牙医诊所"))
    async with ics_server(TEXT) as server:
        server.body = text.encode(code)
        source = IcsAddress("home", Fetcher(server.url))
        (one,) = await source.look({})
        assert await source.body(one, *STRETCH) == text.encode()
        await source.aclose()


async def test_a_server_that_tells_no_version_is_known_by_what_it_sends() -> None:
    async with ics_server(TEXT) as server:
        source = IcsAddress("home", Fetcher(server.url))
        first, again = await source.look({}), await source.look({})
        assert first == again
        assert first[0].tag.startswith("body ")
        await source.aclose()


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("hang", "it does not answer within 0.2 s"),
        ("drip", "it does not answer within 0.2 s"),
        ("close", "it breaks the protocol (RemoteProtocolError)"),
        ("garbage", "it breaks the protocol (RemoteProtocolError)"),
    ],
)
async def test_a_server_with_a_fault_is_one_sentence(fault: str, sentence: str) -> None:
    async with ics_server(TEXT) as server:
        server.fault = fault
        assert await lost(server, seconds=0.2 if "0.2" in sentence else 30.0) == sentence


async def test_of_ten_gigabytes_one_megabyte_is_read() -> None:
    async with ics_server() as server:
        server.fault = "endless"
        assert await lost(server) == "it is larger than 1 MB"


async def test_a_file_that_is_too_large_is_one_sentence() -> None:
    async with ics_server("x" * 10_000_000) as server:
        assert await lost(server, most=8_000_000) == "it is larger than 8 MB"


async def test_a_packed_answer_is_not_unpacked() -> None:
    """What would be a gigabyte unpacked is never unpacked."""
    async with ics_server() as server:
        server.headers, server.body = {"Content-Encoding": "gzip"}, gzip.compress(bytes(1_000_000))
        assert await lost(server) == "it packs its answer, although it was asked not to"


@pytest.mark.parametrize(
    ("status", "sentence", "seconds"),
    [
        ("401 Unauthorized", "it refuses the user or the password", 0.0),
        ("404 Not Found", "there is nothing to read at its address (status 404)", 0.0),
        ("429 Too Many Requests", "it is in trouble (status 429)", 90.0),
        ("500 Trouble", "it is in trouble (status 500)", 90.0),
    ],
)
async def test_a_refusal_is_one_sentence(status: str, sentence: str, seconds: float) -> None:
    async with ics_server() as server:
        server.status, server.headers = status, {"Retry-After": "90"}
        fetcher = Fetcher(server.url)
        with pytest.raises(CalendarLost) as error:
            await IcsAddress("home", fetcher).look({})
        assert (str(error.value), error.value.retry_after) == (sentence, seconds)
        await fetcher.aclose()


async def test_a_redirect_within_the_server_is_followed_and_another_is_not() -> None:
    """A calendar's server cannot send nakari to the doors of this machine: not one request reaches them."""
    async with ics_server(TEXT) as door, ics_server() as server:
        server.status, server.headers = "302 Found", {"Location": door.url}
        assert await lost(server) == "it sends on to another server, and there nakari does not go"
        assert door.asked == []
        server.headers = {"Location": "/there.ics"}
        assert await lost(server) == "it redirects without end"
        assert server.asked[-1] == "GET /there.ics HTTP/1.1"


@pytest.mark.parametrize(
    ("known", "url", "is_same"),
    [
        ("https://caldav.icloud.com/", "https://p37-caldav.icloud.com:443/1/calendars/", True),
        ("https://caldav.icloud.com/", "https://icloud.com.evil.org/", False),
        ("https://caldav.icloud.com/", "http://p37-caldav.icloud.com/", False),
        ("http://cloud.example.org/", "https://cloud.example.org/remote.php/dav", True),
        ("https://example.com/", "https://other.com/", False),
        ("https://10.0.0.5/", "https://10.0.0.6/", False),
        ("http://192.168.1.5:5232/", "http://127.0.0.1/", False),
        ("http://127.0.0.1:5232/", "http://127.0.0.1:7474/", False),
        ("http://127.0.0.1:5232/", "http://127.0.0.1:5232/ada/", True),
        ("https://cloud.example.org/", "file:///etc/passwd", False),
        ("https://cloud.example.org/", "https://user:word@cloud.example.org/", False),
        ("https://cloud.example.org/", "https://[", False),
    ],
)
def test_which_address_is_of_the_same_server(known: str, url: str, is_same: bool) -> None:
    assert is_same_server(known, url) is is_same


def test_a_server_behind_another_that_names_itself_without_tls_is_asked_with_it() -> None:
    fetcher = Fetcher("https://cloud.example.org")
    told = fetcher.resolved("https://cloud.example.org/.well-known/caldav", "http://cloud.example.org/remote.php/dav/")
    assert told == "https://cloud.example.org/remote.php/dav/"


def test_a_login_shows_no_password() -> None:
    assert "secret" not in repr(Login("ada", "secret"))
