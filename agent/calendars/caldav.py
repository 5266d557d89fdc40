"""CalDAV (RFC 4791): the calendars of an account, found from any address of its server, read and written."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urljoin
from xml.etree import ElementTree as ET

from msgspec import Struct

from agent.calendars.fetching import Answer, Fetcher
from agent.calendars.source import Collection, Source
from agent.errors import CalendarLost
from memory.egress import SendsTo, host_of

MOST_COLLECTIONS: Final = 32

MULTI_STATUS: Final = 207
EXISTS: Final = 412
"""The answer to `If-None-Match: *` where something is."""

_SPACES: Final = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:s="http://calendarserver.org/ns/"'

_WANTED: Final = (
    f"<d:propfind {_SPACES}><d:prop><d:resourcetype/><d:displayname/><d:current-user-principal/>"
    "<c:calendar-home-set/><c:supported-calendar-component-set/><d:current-user-privilege-set/><s:getctag/>"
    "<d:sync-token/></d:prop></d:propfind>"
).encode()

_QUERY: Final = (
    f"<c:calendar-query {_SPACES}><d:prop><d:getetag/><c:calendar-data/></d:prop>"
    '<c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT"><c:time-range start="{begin}" end="{end}"/>'
    "</c:comp-filter></c:comp-filter></c:filter></c:calendar-query>"
)

_DAV: Final = "{DAV:}"
_CALDAV: Final = "{urn:ietf:params:xml:ns:caldav}"
_SERVER: Final = "{http://calendarserver.org/ns/}"


class Resource(Struct, frozen=True):
    """What a server tells of one address."""

    url: str
    is_calendar: bool
    name: str
    principal: str
    """Address of who asks, "" where it is not told."""
    home: str
    """Address below which the calendars are, "" where it is not told."""
    tag: str
    is_writable: bool
    has_events: bool


class CalDav(Source):
    """An account at a server. Google's takes no passwords; its calendars are read at their secret ICS address."""

    def __init__(self, fetcher: Fetcher, names: Sequence[str] = ()) -> None:
        """`names` are the calendars wanted of the account, in their order; all where there are none."""
        self._fetcher = fetcher
        self._names = names
        self._found = ""
        """The address of the calendar, or below which they are; "" until it is found."""

    @property
    def sends_to(self) -> Sequence[SendsTo]:
        """What is added, and who asks."""
        return (SendsTo("entries of a calendar that are added, and its user and password", host_of(self._fetcher.url)),)

    async def look(self, known: Mapping[str, Collection]) -> list[Collection]:
        """Return the calendars that hold appointments."""
        del known
        if not self._found:
            self._found = await self._discover()
        try:
            resources = await self._resources(self._found, depth=1)
        except CalendarLost:
            self._found = ""  # it may have moved
            raise
        calendars = [each for each in resources if each.is_calendar and each.has_events]
        if not calendars:
            self._found = ""
            raise CalendarLost("it shows no calendar to this user")
        found = [Collection(each.url, each.name, each.tag, each.is_writable, "multistatus") for each in calendars]
        return self._wanted(found)[:MOST_COLLECTIONS]

    async def body(self, collection: Collection, begin: datetime, end: datetime) -> bytes:
        """Return the server's answer with all entries that fall into the time."""
        first, last = (f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}" for at in (begin, end))
        query = _QUERY.format(begin=first, end=last).encode()
        answer = await self._asked("REPORT", collection.key, query, depth=1)
        if answer.status != MULTI_STATUS:
            raise CalendarLost(f"it does not tell what stands in it (status {answer.status})")
        return answer.body

    async def add(self, collection: Collection, uid: str, ics: bytes) -> None:
        """Put an entry where none of its name is."""
        headers = {"Content-Type": "text/calendar; charset=utf-8", "If-None-Match": "*"}
        url = urljoin(collection.key, f"{quote(uid)}.ics")
        answer = await self._fetcher.send("PUT", url, headers, ics)
        if answer.status not in (200, 201, 204, EXISTS):
            raise CalendarLost(f"it does not take the entry (status {answer.status})")

    async def aclose(self) -> None:
        """Let the connection go."""
        await self._fetcher.aclose()

    def _wanted(self, found: list[Collection]) -> list[Collection]:
        if missing := [name for name in self._names if name not in {each.name for each in found}]:
            there = ", ".join(each.name for each in found)
            raise CalendarLost(f"it has no calendar named {missing[0]}; there are: {there}")
        return [each for name in self._names for each in found if each.name == name] or found

    async def _discover(self) -> str:
        """Return the address of a calendar, or below which they are (RFC 6764).

        Looked for at what was configured, then where every server is to tell it.
        """
        for start in dict.fromkeys((self._fetcher.url, urljoin(self._fetcher.url, "/.well-known/caldav"))):
            here = await self._resource(start)
            if here is not None and here.principal and not (here.home or here.is_calendar):
                here = await self._resource(here.principal)
            if here is not None and (here.is_calendar or here.home):
                return here.url if here.is_calendar else here.home
        raise CalendarLost("there is no CalDAV at its address")

    async def _resource(self, url: str) -> Resource | None:
        return next(iter(await self._resources(url, depth=0)), None)

    async def _resources(self, url: str, *, depth: int) -> list[Resource]:
        """Return what there is; nothing where this address is none of CalDAV."""
        answer = await self._asked("PROPFIND", url, _WANTED, depth=depth)
        return await asyncio.to_thread(self._parsed, answer) if answer.status == MULTI_STATUS else []

    async def _asked(self, method: str, url: str, content: bytes, *, depth: int) -> Answer:
        headers = {"Depth": str(depth), "Content-Type": "application/xml; charset=utf-8"}
        return await self._fetcher.send(method, url, headers, content)

    def _parsed(self, answer: Answer) -> list[Resource]:
        if b"<!DOCTYPE" in answer.body or b"<!ENTITY" in answer.body:
            raise CalendarLost("it breaks the protocol: no answer of its kind has a document type")
        try:
            root = ET.fromstring(answer.body)
        except ET.ParseError as error:
            raise CalendarLost("it breaks the protocol: its answer is no XML") from error
        return [self._resource_of(answer.url, each) for each in root.iter(f"{_DAV}response")]

    def _resource_of(self, base: str, response: ET.Element) -> Resource:
        props = {prop.tag: prop for prop in _given(response)}

        def text(tag: str, *below: str) -> str:
            element = props.get(tag)
            for name in below:
                element = element.find(name) if element is not None else None
            return ((element.text if element is not None else "") or "").strip()

        def address(tag: str) -> str:
            told = text(tag, f"{_DAV}href")
            return self._fetcher.resolved(base, told) if told else ""

        privileges = props.get(f"{_DAV}current-user-privilege-set")
        may = {each.tag for each in privileges.iter()} if privileges is not None else {f"{_DAV}write"}
        kinds = props.get(f"{_CALDAV}supported-calendar-component-set")
        components = {each.get("name", "") for each in kinds} if kinds is not None else set()
        resource_type = props.get(f"{_DAV}resourcetype")
        url = self._fetcher.resolved(base, response.findtext(f"{_DAV}href", "").strip())
        return Resource(
            url=url,
            is_calendar=resource_type is not None and resource_type.find(f"{_CALDAV}calendar") is not None,
            name=_printable(text(f"{_DAV}displayname")) or url.rstrip("/").rpartition("/")[2],
            principal=address(f"{_DAV}current-user-principal"),
            home=address(f"{_CALDAV}calendar-home-set"),
            tag=text(f"{_SERVER}getctag") or text(f"{_DAV}sync-token"),
            is_writable=bool(may & {f"{_DAV}write", f"{_DAV}bind", f"{_DAV}write-content", f"{_DAV}all"}),
            has_events=not components or "VEVENT" in components,
        )


def _printable(name: str) -> str:
    """Return a name as a terminal may be shown it, in one line."""
    return "".join(each for each in " ".join(name.split()) if each.isprintable())[:100]


def _given(response: ET.Element) -> list[ET.Element]:
    """Return the properties that the server has a value for."""
    return [
        prop
        for status in response.iter(f"{_DAV}propstat")
        if " 200 " in f"{status.findtext(f'{_DAV}status', ' 200 ')} "
        for found in status.iter(f"{_DAV}prop")
        for prop in found
    ]
