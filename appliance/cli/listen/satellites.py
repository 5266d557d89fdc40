"""Commands about satellites: devices in other rooms that hear and speak."""

import sys
from typing import TYPE_CHECKING, Any

import click

from appliance.cli.root import NAME, TEXT, configured, nakari
from appliance.cli.telling import AS_JSON, asked, tell_json, understood
from appliance.cli.terminal import FAINT, STRONG, is_terminal, show, table
from appliance.config.options import Invocation
from appliance.errors import Exit, Problem
from memory.json_value import Json

if TYPE_CHECKING:
    from appliance.config.load import Config


SEARCH_SECONDS = 20.0
PAIR_SECONDS = 60.0
TRIAL_SECONDS = 60.0
"""How long the running service may take to answer; the time somebody has to wake a satellite comes on top."""


@nakari.group(no_args_is_help=False)
def satellite() -> None:
    """Pair devices that hear and speak in other rooms.

    They speak ESPHome's native API: Home Assistant Voice PE, ESP32-S3 boxes, linux-voice-assistant. Each gives its
    voice to one program only: disable it in Home Assistant first. The running service knows of a change at once.
    """


@satellite.command()
@click.argument("which", metavar="NAME|ADDRESS", type=NAME)
@click.option("--room", type=TEXT, default="", metavar="ROOM", help="The room where it stands, as people say it.")
@click.option("--key", type=TEXT, metavar="KEY", help='Its encryption key; "-" reads it from stdin. Asked for without.')
@click.option("--without-key", is_flag=True, help="It knows no encryption, and may listen and speak all the same.")
@AS_JSON
@click.pass_obj
def add(invocation: Invocation, which: str, room: str, key: str | None, without_key: bool, as_json: bool) -> None:
    """Pair the device of this NAME or ADDRESS.

    Its key stands in its ESPHome configuration (api: encryption: key). A key on the command line can be read by every
    user of this machine while the command runs.
    """
    config = configured(invocation)
    if without_key and key:
        raise click.UsageError("either --key or --without-key")
    secret = "" if without_key else _key(key)
    request: dict[str, Json] = {"do": "satellites.add", "satellite": which, "room": room}
    request |= {"key": secret, "without_key": without_key}
    answer = _told(config, request, PAIR_SECONDS)
    if as_json:
        tell_json(answer)
        return
    click.echo(answer["done"])
    _show_features(answer["satellite"])


@satellite.command("list")
@click.option("--paired", is_flag=True, help="Only those that are paired: nothing is asked of the network.")
@AS_JSON
@click.pass_obj
def list_satellites(invocation: Invocation, paired: bool, as_json: bool) -> None:
    """List paired satellites, and what the network has.

    Asks the network for three seconds. What is announced there is a hint: anybody can announce anything.
    """
    config = configured(invocation, log="ERROR")  # a damaged list is told at the end
    answer = _told(config, {"do": "satellites", "search": not paired}, SEARCH_SECONDS)
    if as_json:
        tell_json(answer)
    else:
        _show_listed(answer)
    if problem := answer.get("problem"):
        raise Problem(problem, Exit.UNAVAILABLE)


def _show_listed(answer: "dict[str, Any]") -> None:
    rows = [
        (each["room"], each["state"], each["name"], each["address"], str(each.get("firmware", "")), _lock(each))
        for each in answer["paired"]
    ]
    rows += [
        ("", "not paired", each["name"], each["address"], each["firmware"], _lock(each)) for each in answer["found"]
    ]
    table(rows, ("room", "state", "name", "address", "firmware", "encrypted"), styles=(STRONG, "", "", FAINT))
    for each in answer["paired"]:
        if reason := each.get("reason"):
            show(f"{each['room']}: {reason}", err=True)
    if not rows and "problem" not in answer:
        show("no satellites; `nakari satellite add ADDRESS` pairs one by its address", err=True)


@satellite.command()
@click.argument("which", metavar="ROOM|NAME", type=NAME)
@click.pass_obj
def remove(invocation: Invocation, which: str) -> None:
    """Forget the satellite in this ROOM, or of this NAME.

    Its connection ends, its key is erased.
    """
    click.echo(_told(configured(invocation), {"do": "satellites.remove", "satellite": which}, SEARCH_SECONDS)["done"])


@satellite.command("test")
@click.argument("which", metavar="ROOM|NAME", type=NAME)
@click.option(
    "--wake",
    "seconds",
    type=click.FloatRange(0.0, 60.0),
    default=0.0,
    metavar="SECONDS",
    help="Wait so long for somebody to say its wake word, and tell how loud its microphone hears.",
)
@AS_JSON
@click.pass_obj
def try_out(invocation: Invocation, which: str, seconds: float, as_json: bool) -> None:
    """Try the satellite in this ROOM with a short sound."""
    request: dict[str, Json] = {"do": "satellites.test", "satellite": which, "wake_seconds": seconds}
    answer = _told(configured(invocation), request, TRIAL_SECONDS + seconds)
    if as_json:
        tell_json(answer)
        return
    told = answer["satellite"]
    click.echo(f"{told['room']}: {told['model'] or told['name']}, firmware {told['firmware'] or 'unknown'}")
    for words in filter(None, (told.get("played"), told.get("heard"))):
        click.echo(words)
    if told.get("wakes_on"):
        click.echo(f"wakes on: {', '.join(told['wakes_on'])}")
    _show_features(told)


def _key(given: str | None) -> str:
    """Return the key as it was given, typed hidden, or piped."""
    if given not in (None, "-"):
        return str(given)
    if given is None and is_terminal(sys.stdin):
        return str(click.prompt("its encryption key", hide_input=True, err=True))
    return sys.stdin.readline().strip()


def _told(config: "Config", request: dict[str, Json], patience: float) -> dict[str, Any]:
    """Ask the running service; where there is none, do it here."""
    from appliance.api.requests.satellites import MODELS, answer_of
    from appliance.satellites.satellites import open_satellites

    if not config.satellites.enabled:
        raise Problem("satellites are off: set [satellites] enabled = true", Exit.CONFIG)
    meant = understood(request, MODELS)

    async def alone() -> dict[str, Json]:
        satellites = open_satellites(config.state_folder, str(config.zone), config.satellites)
        return await answer_of(satellites, meant)

    return asked(config, request, alone, patience=patience)


def _show_features(told: "dict[str, Any]") -> None:
    click.echo(f"it {'; '.join(told['features'])}")


def _lock(each: "dict[str, Any]") -> str:
    return {True: "yes", False: "no", None: "?"}[each["is_encrypted"]]
