"""How commands ask the running service, and tell what came of it: in lines, or as JSON."""

import json
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from appliance.errors import Exit, Problem, ServiceNotRunning
from memory.json_value import Json

if TYPE_CHECKING:
    from appliance.api.register import Asked
    from appliance.config.load import Config

AS_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object.")
LINES = click.option("-n", "--lines", type=click.IntRange(1, 1000), default=20, metavar="N", help="The newest N; 20.")


def asked(
    config: "Config",
    request: dict[str, Json],
    alone: "Callable[[], Coroutine[Any, Any, dict[str, Json]]] | None" = None,
    *,
    patience: float | None = None,
    key: bytes = b"",
) -> dict[str, Json]:
    """Ask the running service; where there is none, return what `alone` gives, for what can be done without one.

    Raises `Problem`, `ServiceNotRunning` among them where there is neither.
    """
    import asyncio

    from appliance.api.client import PATIENCE, service_of, service_that_came, tell

    try:
        path = asyncio.run(service_of(config))
    except ServiceNotRunning:
        if alone is None:
            refuse_where_it_follows(config)
            raise
        from appliance.admin.disk import require_answer
        from memory.state.database import StateInUse

        require_answer(config.state_folder)
        try:
            return asyncio.run(alone())
        except StateInUse as in_use:
            refuse_where_it_follows(config)
            path = asyncio.run(service_that_came(config, in_use))
    return asyncio.run(tell(path, request, PATIENCE if patience is None else patience, key))


def refuse_where_it_follows(config: "Config") -> None:
    """Raise `Problem` where the nakari that runs here only follows: it answers nobody."""
    if config.machines.url:
        from appliance.machines.standby.following import whom_it_follows

        if told := whom_it_follows(config.machines, config.state_folder):
            what = "ask on the machine that leads, or have this one lead by `nakari handover`"
            raise Problem(f"{told}; {what}", Exit.UNAVAILABLE)


def understood(request: dict[str, Json], models: "Sequence[type[Asked]]") -> Any:
    """Return a request as one of the models, which is what the service makes of it. Raises `UsageError`."""
    from appliance.api.register import BadRequest, parse

    try:
        return parse(json.dumps(request).encode(), models)
    except BadRequest as error:
        raise click.UsageError(str(error)) from error


def tell_json(found: object) -> None:
    """Print one JSON object in one line; a record as an object of its fields."""
    click.echo(json.dumps(msgspec.to_builtins(found), ensure_ascii=False))


def tell(found: Json, *, as_json: bool) -> None:
    """Print what came of it."""
    if as_json:
        tell_json(found)
        return
    for line in lines(found):
        click.echo(line)


def lines(found: Json, indent: str = "") -> list[str]:
    """Return nested values as lines for people: one for each of a list, one for each of an object's keys."""
    match found:
        case list():
            return [f"{indent}{_in_a_line(item)}" for item in found] or [f"{indent}none"]
        case dict():
            told: list[str] = []
            for key, value in found.items():
                if isinstance(value, dict | list) and value:
                    told += [f"{indent}{key}:", *lines(value, f"{indent}  ")]
                else:
                    told.append(f"{indent}{key}: {_in_a_line(value) if value not in ({}, []) else 'none'}")
            return told
    return [f"{indent}{_in_a_line(found)}"]


def _in_a_line(value: Json) -> str:
    if isinstance(value, dict):
        return "  ".join(f"{key}: {_in_a_line(item)}" for key, item in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
