"""What an ICS file says, as the household's time; and what no file can do to the program that reads it."""

from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent.calendars import ics
from agent.calendars.agenda import Agenda
from agent.calendars.reading import read
from agent.errors import CalendarLost
from tests.agent.calendars.entries import BERLIN, alarm, calendar, entry

ZONE = ZoneInfo(BERLIN)
BEGIN, END = datetime(2026, 11, 20, tzinfo=UTC), datetime(2027, 12, 20, tzinfo=UTC)


async def agenda(folder: Path, text: str, kind: str = "ics", begin: datetime = BEGIN, end: datetime = END) -> Agenda:
    """What the file of this text says."""
    file = folder / "calendar"
    file.write_text(text, encoding="utf-8")
    return await read([{"path": str(file), "kind": kind}], begin, end, BERLIN)


async def told(folder: Path, *entries: str, header: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    """Title, begin and end at home of what these entries come to."""
    found = await agenda(folder, calendar(*entries, header=header))
    return [
        (each.entry.title, f"{each.begins(ZONE):%m-%d %H:%M}", f"{each.ends(ZONE):%H:%M}") for each in found.occurrences
    ]


@pytest.mark.shows("X11")
@pytest.mark.parametrize(
    ("lines", "begins", "ends"),
    [
        (("DTSTART:20261124T140000Z", "DTEND:20261124T150000Z"), "11-24 15:00", "16:00"),
        (("DTSTART;TZID=Europe/Berlin:20261124T150000", "DURATION:PT1H"), "11-24 15:00", "16:00"),
        (("DTSTART:20261124T150000", "DTEND:20261124T160000"), "11-24 15:00", "16:00"),  # floats: wherever one is
        (("DTSTART;TZID=W. Europe Standard Time:20261124T150000", "DURATION:PT1H"), "11-24 15:00", "16:00"),  # Outlook
        (("DTSTART;TZID=America/New_York:20261124T090000", "DURATION:PT1H"), "11-24 15:00", "16:00"),
        (("DTSTART;TZID=Nowhere/Known:20261124T150000", "DURATION:PT1H"), "11-24 15:00", "16:00"),
        (("DTSTART;VALUE=DATE:20261124",), "11-24 00:00", "00:00"),
    ],
)
async def test_a_time_is_told_as_it_is_at_home(tmp_path: Path, lines: tuple[str, ...], begins: str, ends: str) -> None:
    assert await told(tmp_path, entry(*lines)) == [("Dentist", begins, ends)]


async def test_a_zone_of_its_own_definition_counts(tmp_path: Path) -> None:
    zone = (
        *("BEGIN:VTIMEZONE", "TZID:Customized Time Zone", "BEGIN:STANDARD", "DTSTART:16010101T000000"),
        *("TZOFFSETFROM:+0500", "TZOFFSETTO:+0500", "END:STANDARD", "END:VTIMEZONE"),
    )
    lines = ("DTSTART;TZID=Customized Time Zone:20261124T150000", "DURATION:PT1H")
    assert await told(tmp_path, entry(*lines), header=zone) == [("Dentist", "11-24 11:00", "12:00")]


async def test_a_series_keeps_its_hour_over_the_change_of_the_clocks_and_its_exceptions(tmp_path: Path) -> None:
    series = entry(
        "DTSTART;TZID=Europe/Berlin:20270321T100000",
        "DURATION:PT1H",
        "RRULE:FREQ=WEEKLY;COUNT=4",
        "EXDATE;TZID=Europe/Berlin:20270404T100000",
        title="Swimming",
    )
    moved = entry(
        "RECURRENCE-ID;TZID=Europe/Berlin:20270411T100000",
        "DTSTART;TZID=Europe/Berlin:20270411T170000",
        "DURATION:PT1H",
        title="Swimming, late",
    )
    assert await told(tmp_path, series, moved) == [
        ("Swimming", "03-21 10:00", "11:00"),
        ("Swimming", "03-28 10:00", "11:00"),  # summer time began this night
        ("Swimming, late", "04-11 17:00", "18:00"),
    ]


async def test_a_birthday_of_long_ago_and_a_whole_day_are_days_and_no_moments(tmp_path: Path) -> None:
    birthday = entry("DTSTART;VALUE=DATE:19850301", "RRULE:FREQ=YEARLY", title="Ada's birthday")
    found = (await agenda(tmp_path, calendar(birthday))).occurrences
    assert [(each.is_all_day, each.begin, each.end) for each in found] == [(True, date(2027, 3, 1), date(2027, 3, 2))]


async def test_what_is_cancelled_is_not_there(tmp_path: Path) -> None:
    assert await told(tmp_path, entry("DTSTART:20261124T140000Z", "STATUS:CANCELLED")) == []


async def test_alarms_are_moments(tmp_path: Path) -> None:
    lines = ("DTSTART:20261124T140000Z", "DTEND:20261124T150000Z")
    alarms = (
        *alarm(":-PT15M"),
        *alarm(";RELATED=END:PT5M"),
        *alarm(";VALUE=DATE-TIME:20261124T120000Z"),
        *alarm(":-PT1H", "ACKNOWLEDGED:20261124T131000Z"),  # somebody has seen it on a telephone
        *alarm(":-PT2H", action="EMAIL"),
        *alarm(";VALUE=DATE-TIME:19760401T005545Z", action="NONE"),  # how Apple says that there is none
    )
    found = (await agenda(tmp_path, calendar(entry(*lines, *alarms)))).occurrences
    assert [[f"{at:%H:%M}" for at in each.alarms] for each in found] == [["13:45", "15:05", "12:00"]]


ENDLESS = entry("DTSTART:20261124T140000Z", "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", uid="never")
"""It looks for a 30th of February until the year 9999."""

MANY = entry(
    "DTSTART:20261124T140000Z",
    f"RRULE:FREQ=DAILY;BYMINUTE={','.join(map(str, range(60)))};BYSECOND={','.join(map(str, range(60)))}",
    uid="many",
)
FINE = entry("DTSTART:20261124T140000Z", "DTEND:20261124T150000Z", uid="fine", title="Fine")


@pytest.mark.parametrize(
    ("hostile", "left_out"),
    [
        (ENDLESS, 1),
        (MANY, 1),
        ("BEGIN:VEVENT\r\nUID:x\r\nno end", 1),
        (entry("DTSTART:rubbish", "RRULE:FREQ=", "\x00;;"), 1),
    ],
    ids=["a rule without an occurrence", "3600 times a day", "an entry without an end", "broken lines"],
)
async def test_a_hostile_entry_is_left_out_and_counted_and_the_others_stay(
    tmp_path: Path, hostile: str, left_out: int
) -> None:
    found = await agenda(tmp_path, calendar(hostile, FINE))
    assert [each.entry.title for each in found.occurrences] == ["Fine"]
    assert found.left_out == left_out


async def test_a_calendar_that_breaks_off_is_none(tmp_path: Path) -> None:
    """As a download that was cut: what is missing would be said not to be."""
    with pytest.raises(CalendarLost, match="what it sends breaks off in the middle"):
        await agenda(tmp_path, calendar(FINE, entry("DTSTART:20261125T140000Z")).partition("20261125")[0])


WINDOW = ics.Window(BEGIN, END, ZONE)


@pytest.mark.parametrize(
    ("lines", "is_wanted"),
    [
        (("DTSTART:20200101T100000Z", "RRULE:FREQ=WEEKLY;UNTIL=20201231T000000Z"), False),
        (("DTSTART;VALUE=DATE:20200101", "DTEND;VALUE=DATE:20200103", "RRULE:FREQ=WEEKLY;UNTIL=20201231"), False),
        (("DTSTART:20200101T100000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;UNTIL=20201231T000000Z"), False),
        (("DTSTART:20200101T100000Z", "DURATION:P60D", "RRULE:FREQ=YEARLY;UNTIL=20261001T000000Z"), True),
        (("DTSTART:20200101T100000Z", "RRULE:FREQ=WEEKLY"), True),
        (("DTSTART:20200101T100000Z", "RRULE:FREQ=WEEKLY;UNTIL=20261231T000000Z"), True),
        (("DTSTART:20200101T100000Z", "DTEND:20200301T100000Z", "RRULE:FREQ=YEARLY;UNTIL=20261001T000000Z"), True),
        (("DTSTART:20200101T100000Z", "RRULE:FREQ=WEEKLY;UNTIL=20201231", "RDATE:20261125T100000Z"), True),
        (("DTSTART:20200101T100000Z", "RRULE:FREQ=WEEKLY;UNTIL=20201231", "RRULE:FREQ=DAILY;COUNT=9"), True),
        (("DTSTART:20200101T100000Z", "RRULE:FREQ=WEEKLY;UNTIL=20209931"), True),  # no day: whoever parses it says so
    ],
)
def test_a_series_that_is_over_is_not_even_parsed(lines: tuple[str, ...], is_wanted: bool) -> None:
    assert ics.is_wanted(entry(*lines).replace("\r\n", "\n"), WINDOW) == is_wanted


def test_for_what_there_is_no_time_is_counted_and_what_comes_once_is_read_before_the_series() -> None:
    series = entry("DTSTART:20200101T100000Z", "RRULE:FREQ=WEEKLY", uid="series")
    parts, found = ics.cut(calendar(series, FINE)), ics.Found()
    assert [group[0] for group in ics.cheapest_first(ics.grouped(parts.entries))] == parts.entries[::-1]
    assert (ics.read(parts, WINDOW, found, seconds=0.0), found.unread, found.occurrences) == (0, 2, [])


async def test_of_what_comes_every_second_the_first_time_stands(tmp_path: Path) -> None:
    """RRULE:FREQ=SECONDLY would be 35 million appointments; it is one."""
    every_second = entry("DTSTART:20261124T130000Z", "RRULE:FREQ=SECONDLY", title="Beep")
    assert await told(tmp_path, every_second, FINE) == [
        ("Beep", "11-24 14:00", "14:00"),
        ("Fine", "11-24 15:00", "16:00"),
    ]


async def test_of_a_long_past_only_what_may_concern_us_is_parsed(tmp_path: Path) -> None:
    """Eight megabytes of the past beside one appointment take no longer than that one."""
    past = entry("DTSTART:20101124T140000Z", f"DESCRIPTION:{'x' * 700}", uid="PAST")
    found = await agenda(tmp_path, calendar(*(past.replace("PAST", str(n)) for n in range(10_000)), FINE))
    assert ([each.entry.title for each in found.occurrences], found.left_out) == (["Fine"], 0)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("ics", "<html>Please log in</html>"),
        ("ics", ""),
        ("multistatus", "garbage"),
        ("multistatus", '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>'),
    ],
    ids=["a page", "nothing", "no XML", "entities that grow"],
)
async def test_what_is_no_calendar_is_one_sentence(tmp_path: Path, kind: str, text: str) -> None:
    with pytest.raises(CalendarLost, match="what it sends is no calendar"):
        await agenda(tmp_path, text, kind)


async def test_a_process_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    (tmp_path / "calendar").write_text(calendar(FINE), encoding="utf-8")
    with pytest.raises(CalendarLost, match="reading it took longer than 0 s"):
        await read([{"path": str(tmp_path / "calendar"), "kind": "ics"}], BEGIN, END, BERLIN, seconds=0.0)


async def test_long_texts_are_cut(tmp_path: Path) -> None:
    found = await agenda(
        tmp_path, calendar(entry("DTSTART:20261124T140000Z", f"DESCRIPTION:{'y' * 9000}", title="x" * 9000))
    )
    assert [(len(each.entry.title), len(each.entry.description)) for each in found.occurrences] == [(301, 1001)]
