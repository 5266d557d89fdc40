"""Refusals of the embedded store: their whole text, and names that are both a label and a relationship type."""

import asyncio
import re
from collections.abc import Iterable, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from memory.errors import GraphRefused, TooLarge
from memory.graph.cypher import Statement
from memory.graph.dump.definitions import definition
from memory.graph.embedded.http_api import OK, Address, HttpClient
from memory.graph.store import Refused

SECONDS: Final = 5.0
"""For each of the three requests."""

QUICK_SECONDS: Final = 0.5
"""A statement that was refused sooner is asked about; on an idle machine that is known in milliseconds."""

_OUT_OF_MEMORY: Final = "heap size exceeded"

_CLASH: Final = re.compile(r"Type '(?P<name>.+)' is not an? (?P<wanted>vertex|edge) type", re.DOTALL)


class NameTaken(GraphRefused):
    """A name that the store of the box has for the one, and a statement wants for the other."""

    def __init__(self, name: str, *, is_label: bool) -> None:
        """`is_label` is whether it is a label now; else it is a relationship type."""
        there, wanted = ("a label", "a relationship type") if is_label else ("a relationship type", "a label")
        super().__init__(
            f"{name} is {there} here, and a name that is in use, or indexed, as {there} cannot be {wanted} too: "
            f"choose another name for {wanted}; nothing was changed"
        )
        self.name = name


def refused(message: str) -> GraphRefused:
    """Return the refusal with the store's message: a `NameTaken` where it tells of such a name."""
    found = _CLASH.match(message)
    return GraphRefused(message) if found is None else NameTaken(found["name"], is_label=found["wanted"] == "edge")


def free_name(name: str, client: HttpClient) -> bool:
    """Take an empty label or relationship type out of the store; say whether it is gone. Blocking.

    One that anything has, or that an index is on, stays. Whoever calls lets nobody write meanwhile. Raises OSError and
    HTTPException.
    """
    kinds = client.rows("SELECT name, parentTypes, indexes FROM schema:types")
    own = [kind for kind in kinds if kind["name"] == name]
    # Its count holds those with other labels beside it; the store itself would drop a label that they have.
    if "`" in name or not own or own[0]["indexes"] or client.rows(f"SELECT count(*) AS n FROM `{name}`") != [{"n": 0}]:
        return False
    sets_of_labels = [kind["name"] for kind in kinds if name in kind["parentTypes"]]
    return all(client.command("sql", f"DROP TYPE `{each}`").status == OK for each in [*sets_of_labels, name])


def check_label_free(name: str, client: HttpClient) -> None:
    """Have a name free for a label that an index is made on: the store would put it on the relationships instead.

    Blocking. Raises `GraphRefused`, OSError and HTTPException.
    """
    is_type = any(kind["name"] == name and kind["type"] == "edge" for kind in client.rows("SELECT FROM schema:types"))
    if is_type and not free_name(name, client):
        raise NameTaken(name, is_label=False)


def check_names_apart(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Have no name be a label and a relationship type in a snapshot's rows (`memory.graph.dump.dump.read_dump`).

    Blocking. Raises `GraphRefused`, for an index that cannot be made here too, and what reading the rows raises.
    """
    labels, kinds = set[str](), set[str]()
    for row in rows:
        match row:
            case {"n": [_, names, _]}:
                labels.update(names)
            case {"r": [kind, *_]}:
                kinds.add(kind)
            case {"i": str() as statement} if made := definition(Statement.parse(statement)):
                labels.add(made.label)
    if both := sorted(labels & kinds):
        raise GraphRefused(
            f"{path} has {', '.join(both)} both as a label and as a relationship type, which the memory of the box "
            "cannot hold: rename one of the two in the server that it is of, take a snapshot there again and restore "
            "that one; nothing was changed"
        )


async def explained(given: Refused, at: Address) -> GraphRefused:
    """Return a refusal with the store's detailed message, without the statement it repeats.

    The statement is repeated for it in a transaction that is always rolled back; one that ran for a while is not: what
    ends so is most often too large.
    """
    detail = await asyncio.to_thread(_detail, given, at) if given.seconds < QUICK_SECONDS else ""
    if not detail or _OUT_OF_MEMORY in detail:
        return TooLarge(
            "the statement needs more than it may have, or the store would not say what is wrong with it; "
            "nothing was changed: do it in smaller steps"
        )
    return refused(detail)


def _detail(given: Refused, at: Address) -> str:
    try:
        with replace(at, login=given.login).open(SECONDS) as client:
            client.begin()
            answer = client.command("opencypher", given.cypher, dict(given.params))
            client.rollback()
            return answer.detail
    except (OSError, HTTPException, TypeError, ValueError):
        return ""
