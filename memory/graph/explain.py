"""Asks the store over HTTP what was wrong with a statement whose message over Bolt does not say it."""

import asyncio
import base64
import json
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any, Final

from memory.graph.store import Login

SECONDS: Final = 5.0
"""For each of the three requests; the statement itself failed at once the first time."""


class Explainer:
    """Repeats a refused statement in a transaction that is always rolled back, and returns the whole message."""

    def __init__(self, port: int, database: str) -> None:
        self._port = port
        self._database = database

    async def explanation(self, login: Login, cypher: str, params: Mapping[str, Any]) -> str:
        """Return the store's detailed message, without the statement it repeats; "" when it gives none."""
        return await asyncio.to_thread(self._ask, login, cypher, params)

    def _ask(self, login: Login, cypher: str, params: Mapping[str, Any]) -> str:
        credentials = base64.b64encode(":".join(login or ()).encode()).decode()
        headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
        connection = HTTPConnection("127.0.0.1", self._port, timeout=SECONDS)
        try:
            body = json.dumps({"language": "opencypher", "command": cypher, "params": dict(params)})
            session, _ = self._post(connection, "begin", headers, "")
            headers["arcadedb-session-id"] = session
            _, refused = self._post(connection, "command", headers, body)
            self._post(connection, "rollback", headers, "")
            return str(json.loads(refused).get("detail", "")).rpartition(" -> ")[2]
        except (OSError, HTTPException, TypeError, ValueError):
            return ""
        finally:
            connection.close()

    def _post(self, connection: HTTPConnection, verb: str, headers: dict[str, str], body: str) -> tuple[str, bytes]:
        """Return the session that the answer names, and its body."""
        connection.request("POST", f"/api/v1/{verb}/{self._database}", body.encode(), headers)
        answer = connection.getresponse()
        return answer.headers.get("arcadedb-session-id", ""), answer.read()
