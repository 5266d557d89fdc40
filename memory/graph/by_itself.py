"""Names of the indexes that nobody asked for; light, for the store's own process asks by them at every start."""

import json
import re
from hashlib import blake2b
from typing import Final

_BY_ITSELF: Final = re.compile(r"nakari_lookup_[0-9a-f]{12}")
"""What such an index is called, so that it is known by its name in either store."""


def lookup_index(label: str, key: str) -> str:
    """Return the name of the index that is made by itself over a property of nodes with a label."""
    return f"nakari_lookup_{blake2b(json.dumps([label, key]).encode(), digest_size=6).hexdigest()}"


def is_by_itself(name: object) -> bool:
    """Say whether an index of this name was made by itself."""
    return _BY_ITSELF.fullmatch(str(name)) is not None
