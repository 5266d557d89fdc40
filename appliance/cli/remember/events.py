"""Commands about what waits and what happened: mailbox, timers, journal."""

import json
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

import click

from appliance.cli.root import NAME, WORDS, configured, loaded, nakari
from appliance.cli.telling import AS_JSON, LINES, asked, tell_json, understood
from appliance.cli.terminal import FAINT, STRONG, show, table
from appliance.config.options import Invocation
from appliance.errors import Exit, Problem
from memory.json_value import Json, fields, objects

if TYPE_CHECKING:
    from appliance.config.load import Config

STATES = ["dead", "pending", "waiting", "suspended", "in_hand", "completed", "withdrawn"]


@nakari.command()
@click.option(
    "--state", type=click.Choice(STATES), default="dead", help="Which events; those nakari gave up if not given."
)
@LINES
@click.option("--retry", type=NAME, metavar="ID", help="Try an event again that nakari gave up.")
@click.option("--withdraw", type=NAME, metavar="ID", help="Drop an event that waits.")
@AS_JSON
@click.pass_obj
def mailbox(
    invocation: Invocation, state: str, lines: int, retry: str | None, withdraw: str | None, as_json: bool
) -> None:
    """List what it gave up, and why; or what waits.

    `--state` shows its other events: those that wait (for a model: waiting), were put back, are in
    hand, or are done.
    """
    if retry is not None and withdraw is not None:
        raise click.UsageError("either --retry or --withdraw")
    request: dict[str, Json] = {"do": "mailbox", "state": state, "limit": lines}
    if retry is not None:
        request = {"do": "mailbox.retry", "id": retry}
    elif withdraw is not None:
        request = {"do": "mailbox.withdraw", "id": withdraw}
    answer = _mail(configured(invocation), request)
    click.echo(json.dumps(answer, ensure_ascii=False) if as_json else "\n".join(lines_of(answer)))


@nakari.group(invoke_without_command=True)
@AS_JSON
@click.pass_context
def timers(context: click.Context, *, as_json: bool) -> None:
    """List timers and alarms: when each rings, and what for."""
    if context.invoked_subcommand is not None:
        return
    config = configured(context.obj)
    answer = _mail(config, {"do": "timers"})
    if as_json:
        tell_json(answer)
    elif not (found := _timers_of(answer)):
        show("no timers")
    else:
        from agent.intents.saying.spoken import every

        rows = []
        for each in found:
            again = every(each["repeats"], "en") or each["repeats"]
            rows.append((_local(each, config.zone), each["label"] or "-", again, each["id"]))
        table(rows, ("rings", "what for", "again", "id"), styles=(STRONG, "", "", FAINT))


@timers.command()
@click.argument("which", type=NAME, metavar="ID|NAME")
@click.pass_obj
def cancel(invocation: Invocation, which: str) -> None:
    """Cancel a timer or an alarm, by its id or by what it is for."""
    config, wanted = configured(invocation), which.casefold()
    found = [
        each for each in _timers_of(_mail(config, {"do": "timers"})) if wanted in (each["id"], each["label"].casefold())
    ]
    if len(found) > 1:
        raise Problem(f"{len(found)} timers are called {which}; name one by its id (`nakari timers`)", Exit.FAULT)
    if not found:
        raise Problem(f"there is no timer {which}; `nakari timers` lists them", Exit.NO_INPUT)
    _mail(config, {"do": "mailbox.withdraw", "id": found[0]["id"]})
    click.echo(f"Cancelled: {found[0]['label'] or 'the timer'}, {_local(found[0], config.zone)}.")


@nakari.group(invoke_without_command=True)
@click.option("-n", "--lines", type=click.IntRange(1, 1000), default=20, metavar="N", help="The next N; 20.")
@AS_JSON
@click.pass_context
def events(context: click.Context, *, lines: int, as_json: bool) -> None:
    """List what waits to be handled, and when."""
    if context.invoked_subcommand is not None:
        return
    answer = _mail(configured(context.obj), {"do": "events", "limit": lines})
    found = objects(answer["events"])
    if as_json:
        tell_json(answer)
    elif not found:
        show("nothing waits")
    else:
        keys = ("when", "words", "type", "priority", "id")
        rows = [tuple(str(each[key]) for key in keys) for each in found]
        table(rows, keys, styles=(STRONG, "", "", "", FAINT))


@events.command("cancel")
@click.argument("id", type=NAME)
@click.pass_obj
def cancel_event(invocation: Invocation, id: str) -> None:
    """Cancel an event that waits; one that repeats for good."""
    click.echo(_mail(configured(invocation), {"do": "events.change", "id": id, "cancel": True})["done"])


@events.command("move")
@click.argument("id", type=NAME)
@click.option("--priority", type=click.IntRange(-10, 10), help="Higher comes first; below 0 only when idle.")
@click.option("--at", "at", type=NAME, metavar="TIME", help='Not before: "now", "07:30" or "2026-11-22T07:30".')
@click.pass_obj
def move_event(invocation: Invocation, id: str, priority: int | None, at: str | None) -> None:
    """Give an event that waits another priority, another time, or both."""
    if priority is None and at is None:
        raise click.UsageError("say where it shall go: --priority, --at, or both")
    config = configured(invocation)
    request: dict[str, Json] = {"do": "events.change", "id": id, "priority": priority}
    click.echo(_mail(config, request | {"not_before": _moment(at, config.zone)})["done"])


def _moment(at: str | None, zone: "tzinfo") -> str | None:
    """Return a time of the household's clock as ISO text; None where none was said."""
    if at is None:
        return None
    from zoneinfo import ZoneInfo

    from agent.tools.timers import moment

    now = datetime.now(UTC)
    found = now if at == "now" else moment(at, now, ZoneInfo(str(zone)))
    if found is None:
        raise click.UsageError(f"{at!r} is no time; write it as now, 07:30 or 2026-11-22T07:30")
    return found.isoformat()


def _timers_of(answer: dict[str, Json]) -> list[dict[str, str]]:
    return [{key: str(value) for key, value in each.items()} for each in objects(answer["timers"])]


def _local(timer: dict[str, str], zone: "tzinfo") -> str:
    return f"{datetime.fromisoformat(timer['due']).astimezone(zone):%Y-%m-%d %H:%M:%S}"


def _mail(config: "Config", request: dict[str, Json]) -> dict[str, Json]:
    """Ask the running service; where there is none, open the mailbox for it here."""

    async def alone() -> dict[str, Json]:
        from appliance.api.requests.mailbox import MODELS, answer_of
        from appliance.wiring.memory.state import open_state

        async with open_state(config.state_folder) as state:
            return await answer_of(state.mailbox, understood(request, MODELS))

    return asked(config, request, alone)


def lines_of(answer: dict[str, Json]) -> list[str]:
    """Return an answer as lines for people: the sentence of what was done, or the counts and an event a line."""
    if "done" in answer:
        return [str(answer["done"])]
    counts, events = fields(answer["counts"]), objects(answer["events"])
    head = ", ".join(f"{state.replace('_', ' ')} {count}" for state, count in counts.items())
    return [head, *(map(_line, events) if events else ["none of these"])]


def _line(event: dict[str, Json]) -> str:
    words = str(event.get("content", "")).replace("\n", " ")
    why = event.get("reason") or event.get("summary") or event.get("waits_for") or event.get("due_at") or ""
    return f"{event['id']}  {event['type']}" + (f": {words[:80]}" if words else "") + (f"  ({why})" if why else "")


@nakari.group(no_args_is_help=False)
def journal() -> None:
    """Look into the journal, also while nakari runs."""


@journal.command()
@LINES
@click.pass_obj
def calls(invocation: Invocation, lines: int) -> None:
    """List the newest model calls with their ids."""
    import asyncio

    config = loaded(invocation)
    from appliance.admin.past_calls import newest

    found = asyncio.run(newest(config.state_folder, config.zone, lines))
    for line in found or ["no model was asked yet"]:
        click.echo(line)


@journal.command()
@click.argument("id", type=WORDS)
@click.pass_obj
def call(invocation: Invocation, id: str) -> Exit:
    """Print what the model was asked in the call ID.

    The exact messages and tools, as one JSON object. They are rebuilt from the journal; "is_proven" says that their
    digest is the one written down before the call. Ends with 1 when it is not.
    """
    import asyncio

    config = loaded(invocation)
    from appliance.admin.past_calls import past_call

    told, is_proven = asyncio.run(past_call(config.state_folder, id))
    click.echo(json.dumps(told, ensure_ascii=False, indent=1))
    return Exit.OK if is_proven else Exit.FAULT
