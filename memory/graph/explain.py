"""Asks the store over HTTP what was wrong with a statement whose message over Bolt does not say it."""

import asyncio
import base64
import json
from http.client import HTTPConnection, HTTPException
from typing import Final

from memory.errors import GraphRefused, TooLarge
from memory.graph.store import Refused

SECONDS: Final = 5.0
"""For each of the three requests."""

QUICK_SECONDS: Final = 0.5
"""A statement that was refused sooner is asked about; on an idle machine that is known in milliseconds."""

_OUT_OF_MEMORY: Final = "heap size exceeded"


class Explainer:
    """Repeats a refused statement in a transaction that is always rolled back, and returns the whole message."""

    def __init__(self, port: int, database: str) -> None:
        self._port = port
        self._database = database

    async def explained(self, refused: Refused) -> GraphRefused:
        """Return the refusal with the store's detailed message, without the statement it repeats.

        A statement that ran for a while is not run again: what ends so is most often too large.
        """
        detail = await asyncio.to_thread(self._ask, refused) if refused.seconds < QUICK_SECONDS else ""
        if not detail or _OUT_OF_MEMORY in detail:
            return TooLarge(
                "the statement needs more than it may have, or the store would not say what is wrong with it; "
                "nothing was changed: do it in smaller steps"
            )
        return GraphRefused(detail)

    def _ask(self, refused: Refused) -> str:
        credentials = base64.b64encode(":".join(refused.login or ()).encode()).decode()
        headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/json"}
        connection = HTTPConnection("127.0.0.1", self._port, timeout=SECONDS)
        try:
            body = json.dumps({"language": "opencypher", "command": refused.cypher, "params": dict(refused.params)})
            session, _ = self._post(connection, "begin", headers, "")
            headers["arcadedb-session-id"] = session
            _, answer = self._post(connection, "command", headers, body)
            self._post(connection, "rollback", headers, "")
            return str(json.loads(answer).get("detail", "")).rpartition(" -> ")[2]
        except (OSError, HTTPException, TypeError, ValueError):
            return ""
        finally:
            connection.close()

    def _post(self, connection: HTTPConnection, verb: str, headers: dict[str, str], body: str) -> tuple[str, bytes]:
        """Return the session that the answer names, and its body."""
        connection.request("POST", f"/api/v1/{verb}/{self._database}", body.encode(), headers)
        answer = connection.getresponse()
        return answer.headers.get("arcadedb-session-id", ""), answer.read()
