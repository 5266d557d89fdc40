"""The embedded store's HTTP API on loopback: whole error texts, and SQL for what its Cypher does not take."""

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import Any, Final

from msgspec import Struct

from memory.graph.embedded.folder import DATABASE
from memory.graph.store import Login

OK: Final = 200


class Answer(Struct, frozen=True):
    """What the store said."""

    status: int
    body: bytes

    @property
    def detail(self) -> str:
        """What was wrong, in the store's words; "" where it says nothing."""
        try:
            return str(json.loads(self.body).get("detail", "")).rpartition(" -> ")[2]
        except (AttributeError, ValueError):
            return ""


class Address(Struct, frozen=True):
    """Where the store's HTTP API is since its last start, and as whom to come."""

    port: int
    login: Login

    @contextmanager
    def open(self, seconds: float) -> Iterator["HttpClient"]:
        """Give a client of one connection, made at the first request; each request may take so long."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=seconds)) as connection:
            yield HttpClient(connection, self.login)


class HttpClient:
    """One connection, blocking, for a worker thread; raises OSError and HTTPException when the store does not answer.

    After `begin` all that follows is one transaction until `rollback`.
    """

    def __init__(self, connection: HTTPConnection, login: Login) -> None:
        credentials = base64.b64encode(":".join(login or ()).encode()).decode()
        self._headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
        self._connection = connection

    def begin(self) -> None:
        """Open a transaction."""
        self._post("begin", "")

    def rollback(self) -> None:
        """End the transaction, nothing of it is kept."""
        self._post("rollback", "")

    def command(self, language: str, command: str, params: Mapping[str, object] | None = None) -> Answer:
        """Run a statement. Raises TypeError for parameters that JSON does not carry."""
        return self._post("command", json.dumps({"language": language, "command": command, "params": params or {}}))

    def rows(self, question: str) -> list[dict[str, Any]]:
        """Return what the store's SQL answers; nothing where it knows no such thing."""
        answer = self.command("sql", question)
        found: list[dict[str, Any]] = json.loads(answer.body)["result"] if answer.status == OK else []
        return found

    def _post(self, verb: str, body: str) -> Answer:
        self._connection.request("POST", f"/api/v1/{verb}/{DATABASE}", body.encode(), self._headers)
        answer = self._connection.getresponse()
        if session := answer.headers.get("arcadedb-session-id"):
            self._headers["arcadedb-session-id"] = session
        return Answer(answer.status, answer.read())
