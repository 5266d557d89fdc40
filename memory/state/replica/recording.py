"""Connections that record what a transaction changes, as statements that make another copy of the file equal."""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

Parameter: TypeAlias = int | float | str | bytes | None
Parameters: TypeAlias = Mapping[str, Parameter] | Sequence[Parameter]

UNCOUNTED: Final = -1
"""Stands for the number of rows where SQLite does not tell it: schema, RETURNING."""

_FIRST: Final = re.compile(r"(?:\s+|--[^\n]*\n|/\*.*?\*/)*(\w+)", re.DOTALL)
_VERSION: Final = re.compile(r"\s*PRAGMA\s+user_version\s*=", re.IGNORECASE)

_READS: Final = frozenset({"SELECT", "VALUES", "EXPLAIN"})
_CHANGES_ROWS: Final = frozenset({"UPDATE", "DELETE", "WITH"})
"""Where no row changed, nothing did. INSERT is not among them: an ignored one takes a number of AUTOINCREMENT."""
_CHANGES: Final = _CHANGES_ROWS | {"INSERT", "REPLACE", "CREATE", "DROP", "ALTER"}


class Change(Struct, frozen=True):
    """A statement that changed something."""

    statement: str
    parameters: tuple[Parameters, ...]
    """One set for `execute`, several for `executemany`."""
    rows: int = UNCOUNTED
    """How many it changed directly, of all its sets together: another copy that counts otherwise is not equal."""

    def apply(self, connection: sqlite3.Connection) -> bool:
        """Execute it; False when it did not change as many rows as where it was recorded. Raises sqlite3.Error."""
        rows = [connection.execute(self.statement, each).rowcount for each in self.parameters]
        return self.rows == UNCOUNTED or sum(rows) == self.rows


class _Cursor(sqlite3.Cursor):
    """Tells its connection what it executed."""

    connection: "RecordingConnection"

    def execute(self, statement: str, parameters: Parameters = (), /) -> "_Cursor":  # type: ignore[override]
        before = self.connection.total_changes
        super().execute(statement, parameters)
        self.connection.note(statement, [parameters], self, self.connection.total_changes != before)
        return self

    def executemany(self, statement: str, parameters: Iterable[Parameters], /) -> "_Cursor":  # type: ignore[override]
        before, each = self.connection.total_changes, list(parameters)
        super().executemany(statement, each)
        self.connection.note(statement, each, self, self.connection.total_changes != before)
        return self

    def executescript(self, script: str, /) -> "_Cursor":
        """Execute each statement of a script; other than sqlite3 without committing what is under way."""
        for statement in statements_of(script):
            self.execute(statement)
        return self


class RecordingConnection(sqlite3.Connection):
    """Keeps what the transaction under way has changed so far; what was rolled back, also to a savepoint, is gone.

    One thread, as any connection. What is random or reads a clock inside SQL would not be the same elsewhere: values
    come from outside, as parameters.
    """

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]  # as `sqlite3.connect` gives them
        self.changes: list[Change] = []
        """Of the transaction, in order."""
        self._savepoints: list[tuple[str, int]] = []

    def cursor(self, factory: object = None) -> _Cursor:  # type: ignore[override]
        """Return a cursor that tells what it executes."""
        return super().cursor(_Cursor)

    def execute(self, statement: str, parameters: Parameters = (), /) -> _Cursor:  # type: ignore[override]
        """Execute and record a statement."""
        return self.cursor().execute(statement, parameters)

    def executemany(self, statement: str, parameters: Iterable[Parameters], /) -> _Cursor:  # type: ignore[override]
        """Execute and record a statement with several sets of parameters."""
        return self.cursor().executemany(statement, parameters)

    def executescript(self, script: str, /) -> _Cursor:
        """Execute and record each statement of a script, inside the transaction that is under way."""
        return self.cursor().executescript(script)

    def note(self, statement: str, parameters: Sequence[Parameters], cursor: sqlite3.Cursor, has_changed: bool) -> None:
        """Record a statement that was executed, if it belongs to what changed; follow the transaction's savepoints."""
        found = _FIRST.match(statement)
        first = found.group(1).upper() if found else ""
        if first in _READS or (first in _CHANGES_ROWS and not has_changed):
            return
        if first in _CHANGES or _VERSION.match(statement):
            rows = cursor.rowcount if cursor.description is None else UNCOUNTED
            self.changes.append(Change(statement, tuple(map(_kept, parameters)), rows))
        else:
            self._follow(first, statement)

    def _follow(self, first: str, statement: str) -> None:
        words = statement.replace(";", " ").upper().split()
        if first == "SAVEPOINT":
            self._savepoints.append((words[-1], len(self.changes)))
        elif (first == "ROLLBACK" and "TO" in words) or first == "RELEASE":
            while self._savepoints[-1][0] != words[-1]:
                self._savepoints.pop()
            if first == "RELEASE":
                self._savepoints.pop()
            else:
                del self.changes[self._savepoints[-1][1] :]
        elif first in {"BEGIN", "COMMIT", "END", "ROLLBACK"}:
            self.changes.clear()
            self._savepoints.clear()


def _kept(parameters: Parameters) -> Parameters:
    """Return parameters as they are now; what the caller does with its own list later changes nothing."""
    if isinstance(parameters, Mapping):
        return {str(name): _value(value) for name, value in parameters.items()}
    return tuple(_value(value) for value in parameters)


def _value(value: object) -> Parameter:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if value is None or isinstance(value, int | float | str):
        return value
    raise TypeError(f"a parameter of the type {type(value).__name__} cannot be recorded")


def statements_of(script: str) -> Iterator[str]:
    """Yield the statements of an SQL script, whole triggers among them."""
    begun = ""
    for piece in re.split(r"(?<=;)", script):
        begun += piece
        if sqlite3.complete_statement(begun):
            yield begun.strip()
            begun = ""
    if _FIRST.match(begun):
        yield begun.strip()
