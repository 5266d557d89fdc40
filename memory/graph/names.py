"""A name that was a relationship's type and is to be a label now, or the reverse: nothing of it left, it gives way."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from memory.errors import GraphRefused
from memory.graph.cypher import Statement
from memory.graph.definitions import definition
from memory.graph.embedded.http import OK, Door

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


def give_way(name: str, door: Door) -> bool:
    """Take an empty label or relationship type out of the store; say whether it is gone. Blocking.

    One that anything has, or that an index is on, stays. Whoever calls lets nobody write meanwhile. Raises OSError and
    HTTPException.
    """
    kinds = door.rows("SELECT name, parentTypes, indexes FROM schema:types")
    own = [kind for kind in kinds if kind["name"] == name]
    # Its count holds those with other labels beside it; the store itself would drop a label that they have.
    if "`" in name or not own or own[0]["indexes"] or door.rows(f"SELECT count(*) AS n FROM `{name}`") != [{"n": 0}]:
        return False
    sets_of_labels = [kind["name"] for kind in kinds if name in kind["parentTypes"]]
    return all(door.command("sql", f"DROP TYPE `{each}`").status == OK for each in [*sets_of_labels, name])


def see_label(name: str, door: Door) -> None:
    """Have a name free for a label that an index is made on: the store would put it on the relationships instead.

    Blocking. Raises `GraphRefused`, OSError and HTTPException.
    """
    is_type = any(kind["name"] == name and kind["type"] == "edge" for kind in door.rows("SELECT FROM schema:types"))
    if is_type and not give_way(name, door):
        raise NameTaken(name, is_label=False)


def see_apart(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Have no name be a label and a relationship type in a snapshot's rows (`memory.graph.dump.read_dump`).

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
