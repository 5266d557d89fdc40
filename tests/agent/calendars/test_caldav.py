"""CalDAV against Radicale, a real server: found, read, written into, and its refusals."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from agent.calendars.caldav import CalDav
from agent.calendars.fetching import Fetcher, Login
from agent.errors import CalendarLost
from tests.agent.calendars.entries import calendar, entry
from tests.agent.calendars.ics_server import ics_server
from tests.agent.calendars.radicale_server import PASSWORD, USER, CalDavServer, caldav_server
from tests.agent.clock import MORNING

STRETCH = (MORNING, MORNING + timedelta(days=30))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("radicale")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[CalDavServer]:
    with caldav_server(folder) as found:
        found.make("home", "Home")
        found.make("work", "Work & more")
        found.make("tasks", "Tasks", "VTODO")
        found.put("home/1.ics", calendar(entry("DTSTART:20261124T140000Z", "DTEND:20261124T150000Z")))
        found.put("home/2.ics", calendar(entry("DTSTART:20290101T140000Z", uid="2", title="Far away")))
        yield found


@pytest.fixture
async def account(server: CalDavServer) -> AsyncIterator[CalDav]:
    found = CalDav(Fetcher(server.url, Login(USER, PASSWORD)))
    yield found
    await found.aclose()


@pytest.mark.shows("X11")
@pytest.mark.parametrize("path", ["", "/", f"/{USER}/", "/nowhere/"])
async def test_the_calendars_of_an_account_are_found_from_any_address(server: CalDavServer, path: str) -> None:
    account = CalDav(Fetcher(server.url + path, Login(USER, PASSWORD)))
    found = await account.look({})
    assert sorted(each.name for each in found) == ["Home", "Work & more"]  # no list of tasks
    assert all(each.is_writable and each.tag for each in found)
    await account.aclose()


async def test_one_calendar_is_one_where_its_own_address_is_told(server: CalDavServer) -> None:
    account = CalDav(Fetcher(f"{server.home}home/", Login(USER, PASSWORD)))
    assert [each.name for each in await account.look({})] == ["Home"]
    await account.aclose()


async def test_those_wanted_come_in_their_order_and_one_that_is_not_there_is_a_sentence(server: CalDavServer) -> None:
    fetcher = Fetcher(server.url, Login(USER, PASSWORD))
    assert [each.name for each in await CalDav(fetcher, ("Work & more",)).look({})] == ["Work & more"]
    with pytest.raises(CalendarLost, match="it has no calendar named Holidays; there are: "):
        await CalDav(fetcher, ("Holidays",)).look({})
    await fetcher.aclose()


async def test_what_stands_in_the_stretch_is_read(account: CalDav) -> None:
    home = next(each for each in await account.look({}) if each.name == "Home")
    body = (await account.body(home, *STRETCH)).decode()
    assert "Dentist" in body
    assert "Far away" not in body


async def test_an_entry_is_added_once_and_changes_the_tag(account: CalDav, server: CalDavServer) -> None:
    work = next(each for each in await account.look({}) if each.name == "Work & more")
    text = calendar(entry("DTSTART:20261125T140000Z", uid="tea@nakari", title="Tea")).encode()
    await account.add(work, "tea@nakari", text)
    await account.add(work, "tea@nakari", text.replace(b"Tea", b"Coffee"))  # as after a crash: the first one stays
    assert server.entries("work").count("SUMMARY:Tea") == 1
    assert "Coffee" not in server.entries("work")
    assert next(each for each in await account.look({}) if each.name == "Work & more").tag != work.tag


@pytest.mark.parametrize(("user", "password"), [(USER, "wrong"), ("nobody", PASSWORD)])
async def test_a_wrong_login_is_one_sentence(server: CalDavServer, user: str, password: str) -> None:
    account = CalDav(Fetcher(server.url, Login(user, password)))
    with pytest.raises(CalendarLost, match="it refuses the user or the password"):
        await account.look({})
    await account.aclose()


async def test_what_is_no_caldav_server_is_one_sentence() -> None:
    async with ics_server("a page") as server:
        account = CalDav(Fetcher(server.url, Login(USER, PASSWORD)))
        with pytest.raises(CalendarLost, match="there is no CalDAV at its address"):
            await account.look({})
        assert "PROPFIND /.well-known/caldav HTTP/1.1" in server.asked
        await account.aclose()


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("no XML", "its answer is no XML"),
        ('<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>', "has a document type"),
        (
            '<multistatus xmlns="DAV:"><response><href>http://127.0.0.1:7474/</href></response></multistatus>',
            "it sends on to another server",
        ),
    ],
)
async def test_a_hostile_answer_is_one_sentence(body: str, sentence: str) -> None:
    async with ics_server(body) as server:
        server.status = "207 Multi-Status"
        account = CalDav(Fetcher(server.url, Login(USER, PASSWORD)))
        with pytest.raises(CalendarLost, match=sentence):
            await account.look({})
        await account.aclose()


MULTI = "207 Multi-Status"
SPACES = 'xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:s="http://calendarserver.org/ns/"'


def multi(*responses: tuple[str, str]) -> tuple[str, dict[str, str], str]:
    """An answer that tells properties of addresses."""
    told = (
        f"<response><href>{href}</href><propstat><prop>{props}</prop><status>HTTP/1.1 200 OK</status></propstat>"
        "<propstat><prop><sync-token/></prop><status>HTTP/1.1 404 Not Found</status></propstat></response>"
        for href, props in responses
    )
    return MULTI, {}, f"<multistatus {SPACES}>{''.join(told)}</multistatus>"


CALENDAR = "<resourcetype><collection/><c:calendar/></resourcetype>"
READ_ONLY = "<current-user-privilege-set><privilege><read/></privilege></current-user-privilege-set>"
EVENTS = '<c:supported-calendar-component-set><c:comp name="VEVENT"/></c:supported-calendar-component-set>'


async def test_a_server_as_nextcloud_is_found_behind_its_login_page() -> None:
    """Its root is a page to log in; its calendars are told where the well-known address sends."""
    async with ics_server("Log in") as server:
        server.pages = {
            "/": ("302 Found", {"Location": "/login"}, ""),
            "/.well-known/caldav": ("301 Moved Permanently", {"Location": "/remote.php/dav/"}, ""),
            "/remote.php/dav/": multi(
                ("/remote.php/dav/", "<current-user-principal><href>/principals/ada/</href></current-user-principal>")
            ),
            "/principals/ada/": multi(
                ("/principals/ada/", "<c:calendar-home-set><href>/calendars/ada/</href></c:calendar-home-set>")
            ),
            "/calendars/ada/": multi(
                ("/calendars/ada/", "<resourcetype><collection/></resourcetype>"),
                ("/calendars/ada/inbox/", "<resourcetype><collection/><c:schedule-inbox/></resourcetype>"),
                ("/calendars/ada/personal/", f"{CALENDAR}{EVENTS}<displayname>Per\u202eso\nnal</displayname>"),
                ("/calendars/ada/birthdays/", f"{CALENDAR}{EVENTS}{READ_ONLY}<s:getctag>7</s:getctag>"),
            ),
        }
        account = CalDav(Fetcher(server.url.replace("/calendar.ics", "/"), Login(USER, PASSWORD)))
        found = await account.look({})
        assert [(each.name, each.tag, each.is_writable) for each in found] == [
            ("Perso nal", "", True),
            ("birthdays", "7", False),
        ]
        await account.aclose()


async def test_a_server_that_wants_a_digest_is_given_one() -> None:
    """As Baïkal does; the password itself is not sent again."""
    async with ics_server() as server:
        challenge = 'Digest realm="dav", nonce="abc", qop="auth", algorithm=MD5'
        server.status, server.headers = "401 Unauthorized", {"WWW-Authenticate": challenge}
        fetcher = Fetcher(server.url, Login(USER, PASSWORD))
        with pytest.raises(CalendarLost, match="it refuses the user or the password"):
            await CalDav(fetcher).look({})
        await fetcher.aclose()
    assert [each.partition(" ")[0] for each in server.shown] == ["Basic", "Digest"]
