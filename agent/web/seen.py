"""Which addresses may be opened once strangers' words were read: none that could carry away what the agent knows."""

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import Final

from agent.attachments.attachment import Document
from agent.errors import ToolFailed
from agent.event import Event
from agent.web.fetch import judged

MOST_SEEN: Final = 4_000
"""Addresses that are remembered, of everybody together; the oldest go first."""

MOST_EVENTS: Final = 200

MADE_UP: Final = (
    "refused: this event has read strangers' words, and after them only addresses are opened that stand in a result, "
    "on a page that was read, or in what the person wrote"
)
WITH_QUERY: Final = "refused: an address of your own may have no query; search for the page instead"


class SeenAddresses:
    """Keeps the addresses that results and pages named, and in which events these were read.

    A page may tell the agent to open an address with a secret in it. So one that it made up itself is opened only
    while nothing from outside was read in its event, and without a query.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[Hashable, None] = OrderedDict()
        self._events: OrderedDict[Hashable, None] = OrderedDict()

    def found(self, event: Event, addresses: Iterable[str]) -> None:
        """Note that strangers' words were read in an event, and which addresses stood in them."""
        _keep(self._events, event.id, MOST_EVENTS)
        for address in addresses:
            _keep(self._seen, (event.owner_key, address.rstrip("/")), MOST_SEEN)

    def check(self, event: Event, address: str) -> str:
        """Return the address as it is opened, by https where it names no scheme.

        Raises `ToolFailed` for one that may not be opened, and for what is none.
        """
        url = judged(address if "://" in address else f"https://{address.strip()}")
        told = str(url)
        is_told = event.is_from_person and (told in event.content or address.strip() in event.content.split())
        is_in_document = any(told in each.text for each in event.attachments if isinstance(each, Document))
        if is_told or is_in_document or (event.owner_key, told.rstrip("/")) in self._seen:
            return told
        if event.id in self._events or event.outside:
            raise ToolFailed(MADE_UP)
        if url.query:
            raise ToolFailed(WITH_QUERY)
        return told


def _keep(kept: OrderedDict[Hashable, None], key: Hashable, most: int) -> None:
    kept[key] = None
    kept.move_to_end(key)
    if len(kept) > most:
        kept.popitem(last=False)
