"""Asks the store over HTTP what was wrong with a statement whose message over Bolt does not say it."""

import asyncio
from http.client import HTTPException
from typing import Final

from memory.errors import GraphRefused, TooLarge
from memory.graph.embedded.http import Door
from memory.graph.names import refused as refused_for
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
        return refused_for(detail)

    def _ask(self, refused: Refused) -> str:
        try:
            with Door(self._port, self._database, refused.login, SECONDS) as door:
                door.begin()
                answer = door.command("opencypher", refused.cypher, dict(refused.params))
                door.rollback()
                return answer.detail
        except (OSError, HTTPException, TypeError, ValueError):
            return ""
