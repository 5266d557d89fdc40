"""Proxies that the environment names."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def proxies(url: str) -> Iterator[None]:
    """Have the environment name one for all that is fetched, while the block runs."""
    names = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
    os.environ |= dict.fromkeys(names, url)
    try:
        yield
    finally:
        for name in names:
            del os.environ[name]
