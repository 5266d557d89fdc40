"""The names of a server's tools: legal for every provider, and the same whatever else there is."""

import hashlib
from collections.abc import Collection
from typing import Final

from agent.model.wire.profile import NOT_IN_NAMES

MOST_CHARACTERS: Final = 64
"""Of a tool's name, the narrowest rule among providers (`agent.model.wire.profile.NAME`)."""

_DIGEST: Final = 6
"""Hexadecimal digits that tell changed names apart."""


def name_of(server: str, tool: str, taken: Collection[str] = ()) -> str:
    """Return the name she calls a server's tool by: `SERVER_TOOL`.

    One with other characters than letters, digits, _ and -, one too long, and one that is taken by a tool of ours ends
    in a digest of the tool's own name. So no name depends on what other tools the server has today; and as a server's
    name has no _, two servers never share one.
    """
    name = f"{server}_{tool}"
    legal = NOT_IN_NAMES.sub("_", name)
    if name == legal and len(name) <= MOST_CHARACTERS and name not in taken:
        return name
    digest = hashlib.sha256(tool.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{legal[: MOST_CHARACTERS - _DIGEST - 1]}_{digest}"
