"""Calendars in the configuration: what may stand there, what leaves, what the doctor says, and a box that reminds."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.calendars.caldav import CalDav
from agent.calendars.ics_source import IcsAddress, IcsFile
from agent.event import USER_TEXT, Event
from agent.tools.calendar import calendar_tools
from agent.tools.tool import Call, run_tool, unmarked
from appliance.config.file import SettingsText, default_toml, show
from appliance.config.load import Config, load
from appliance.doctor.examine import Verdict
from appliance.doctor.tools.calendars import calendar as check
from appliance.doctor.tools.calendars import judge_calendars
from appliance.egress import lasting_egress
from appliance.errors import ConfigError
from appliance.wiring.agent.calendars import about_of, calendars_of
from memory.json_value import Json
from tests.agent.calendars.entries import calendar, entry
from tests.agent.calendars.radicale_server import PASSWORD, USER, CalDavServer, caldav_server

pytestmark = pytest.mark.shows("X11")

QUIET = '[voice]\nengine = "espeak"\n[ears]\ndownload = false\n[memory]\nembeddings = "off"\n'

THREE = f"""{QUIET}
[calendar.family]
url = "https://cloud.example.org"
user = "ada"
password_env = "CLOUD_PASSWORD"
calendars = ["Home"]
remind_minutes = 10

[calendar.holidays]
url = "webcal://example.org/holidays.ics"

[calendar.google]
url_env = "GOOGLE_ADDRESS"

[calendar.club]
file = "/srv/club.ics"
"""


def configured(folder: Path, text: str, **environment: str) -> Config:
    file = folder / "nakari.toml"
    file.write_text(text)
    return load(file, {"HOME": str(folder), "XDG_STATE_HOME": str(folder), **environment})


def account(server: CalDavServer) -> str:
    return f'[calendar.family]\nurl = "{server.url}"\nuser = "{USER}"\npassword_env = "WORD"\n'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CalDavServer]:
    with caldav_server(tmp_path_factory.mktemp("radicale")) as found:
        found.make("home", "Home")
        yield found


def test_each_calendar_is_what_its_keys_make_of_it(tmp_path: Path) -> None:
    config = configured(
        tmp_path, THREE, CLOUD_PASSWORD="word", GOOGLE_ADDRESS="https://google.example/private-1/basic.ics"
    )
    abouts = {name: about for name in config.calendar if (about := about_of(config, name))}
    kinds = {name: type(about.source) for name, about in abouts.items()}
    assert kinds == {"family": CalDav, "holidays": IcsAddress, "google": IcsAddress, "club": IcsFile}
    alarms = {name: about.rules.has_alarms for name, about in abouts.items()}
    assert alarms == {"family": True, "holidays": False, "google": False, "club": True}
    assert abouts["family"].rules.minutes == 10
    assert "private" not in str(abouts["google"].place)


def test_without_any_there_is_nothing_to_do_and_nothing_to_tell(tmp_path: Path) -> None:
    config = configured(tmp_path, "")
    assert calendars_of(config, None) is None  # type: ignore[arg-type]
    assert str(check(config)) == "ok      calendar   none is configured"


def test_the_copy_of_a_calendar_that_is_configured_no_more_goes(tmp_path: Path) -> None:
    config = configured(tmp_path, '[calendar.club]\nfile = "/srv/club.ics"\n')
    for name in ("club", "gone"):
        (config.state_folder / "calendars" / name).mkdir(parents=True)
        (config.state_folder / "calendars" / name / "index.json").write_text("{}")
    calendars_of(config, None)  # type: ignore[arg-type]
    assert [each.name for each in (config.state_folder / "calendars").iterdir()] == ["club"]


def test_what_leaves_is_told_by_host_and_without_a_secret(tmp_path: Path) -> None:
    config = configured(
        tmp_path, THREE, CLOUD_PASSWORD="word", GOOGLE_ADDRESS="https://google.example/private-1/basic.ics"
    )
    told = [str(each) for each in lasting_egress(config)]
    assert told == [
        "entries of a calendar that are added, and its user and password, to cloud.example.org ([calendar.family])",
        "requests for a calendar, to example.org ([calendar.holidays])",
        "requests for a calendar, to google.example ([calendar.google])",
    ]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("", "[calendar.x] needs a url, a url_env or a file, one of them"),
        ('url = "https://a.example"\nfile = "/a.ics"', "[calendar.x] needs a url, a url_env or a file, one of them"),
        ('url = "ftp://a.example"', "should begin with http:// or https:// or webcal://"),
        ('url = "https://ada:word@a.example"', "should hold no user and no password"),
        ('url = "https://a.example"\nuser = "ada"', "password_env is missing: its user has a password"),
        ('url = "https://a.example"\npassword_env = "WORD"', "password_env is for a user"),
        ('url = "https://a.example"\nuser = "a"\npassword_env = "pass word"', "should be the name of the variable"),
        ('url = "https://a.example"\ncalendars = ["A"]', "calendars is for an account: it needs a user"),
        ('file = "club.ics"', "should begin with / or ~/"),
        ('file = "/a.ics"\npoll_minutes = 0', "poll_minutes should be at least 1"),
        ('file = "/a.ics"\nremind = 5', "[calendar.x] has no key remind; did you mean remind_minutes?"),
    ],
)
def test_what_is_wrong_is_one_sentence(table: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as error:
        SettingsText("nakari.toml", f"[calendar.x]\n{table}").parse()
    assert sentence in str(error.value)


def test_the_default_file_tells_of_calendars_and_show_prints_them() -> None:
    assert "#[calendar.NAME]" in default_toml()
    assert SettingsText("nakari.toml", default_toml()).parse().calendar == {}
    settings = SettingsText("nakari.toml", THREE).parse()
    assert SettingsText("shown", show(settings)).parse().calendar == settings.calendar


def test_the_doctor_tells_how_many_calendars_an_account_has(tmp_path: Path, server: CalDavServer) -> None:
    line = check(configured(tmp_path, account(server), WORD=PASSWORD))
    assert (line.verdict, line.what, line.fix) == (Verdict.OK, "family: 1 calendar", "")


def test_the_doctor_tells_what_is_wrong_and_the_fix(tmp_path: Path, server: CalDavServer) -> None:
    line = check(configured(tmp_path, account(server), WORD="wrong"))
    assert (line.verdict, line.what) == (Verdict.FAULT, "family: it refuses the user or the password")
    assert line.fix == "correct [calendar.family], or its server; it is tried again by itself"
    line = check(configured(tmp_path, account(server)))
    assert (line.verdict, line.what, line.fix) == (Verdict.FAULT, "family: no WORD", "set WORD")
    line = check(configured(tmp_path, '[calendar.gone]\nurl = "http://127.0.0.1:9/a.ics"\n'))
    assert (line.verdict, line.what) == (Verdict.FAULT, "gone: it cannot be reached")
    line = check(configured(tmp_path, '[calendar.club]\nfile = "/nowhere/a.ics"\n'))
    assert (line.verdict, line.what) == (
        Verdict.FAULT,
        "club: /nowhere/a.ics cannot be read: No such file or directory",
    )


def test_the_doctor_judges_what_a_running_service_says() -> None:
    told: dict[str, Json] = {
        "family": {"state": "connected", "calendars": ["Home", "Work"], "left_out": 2},
        "old": {"state": "connected", "calendars": ["Old"], "left_out": 1, "unread": 3996},
        "new": {"state": "connecting", "calendars": []},
    }
    line = judge_calendars(told, {}, {"family": "cloud.example.org"})
    assert line.verdict == Verdict.WARNING
    assert line.what == "family: 2 calendars; old: 1 calendar; new: it is being read"
    assert line.fix == (
        "2 entries are broken or repeat without end in family, and left out; "
        "3996 more of old were not read, it would take too long; take old repeating ones out of it; "
        "use https for [calendar.family]: cloud.example.org is sent its password unencrypted"
    )


async def test_from_the_configuration_to_an_appointment_at_a_real_server(tmp_path: Path, server: CalDavServer) -> None:
    """What a telephone wrote is told, what is added is at the server, and the alarm becomes an event in the mailbox."""
    soon = datetime.now(UTC) + timedelta(minutes=10)
    lines = (f"DTSTART:{soon:%Y%m%dT%H%M%SZ}", "DURATION:PT1H")
    alarm = ("BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT15M", "END:VALARM")
    server.put("home/1.ics", calendar(entry(*lines, *alarm)))
    filed: asyncio.Queue[Event] = asyncio.Queue()

    async def file(event: Event) -> bool:
        filed.put_nowait(event)
        return True

    config = configured(tmp_path, account(server), WORD=PASSWORD)
    calendars = calendars_of(config, file)
    assert calendars is not None
    tools = {each.name: each for each in calendar_tools(calendars, bool)}

    async def observed(name: str, **given: object) -> str:
        return await run_tool(tools[name], json.dumps(given), Call("c", Event(USER_TEXT, id="e")))

    async with asyncio.TaskGroup() as group:
        running = group.create_task(calendars.run())
        assert (await filed.get()).metadata["label"] == "Dentist"
        assert json.loads(unmarked(await observed("calendar_events")))["events"][0]["title"] == "Dentist"
        for _ in range(2):
            assert json.loads(await observed("calendar_add", title="Tea", start=f"{soon:%Y-%m-%d}"))["added"] == "Tea"
        told = json.loads(unmarked(await observed("calendar_events")))
        assert sorted(each["title"] for each in told["events"]) == ["Dentist", "Tea"]
        running.cancel()
    await calendars.aclose()
    assert server.entries("home").count("SUMMARY:Tea") == 1
