"""The errors of failed model calls: their kind, and the one sentence with the fix that people read."""

import json

from agent.errors import ModelError, ModelRefused, ModelUnavailable

MAX_WORDS = 200
"""Characters of a server's own words that are passed on."""


def unreachable(name: str, where: str) -> ModelError:
    """Say that nothing listens there, or that the connection died before an answer began."""
    return ModelUnavailable(
        f"{name} cannot be reached at {where}: start that server, or correct its address in the configuration"
    )


def broken(name: str, how: str) -> ModelError:
    """Say that the answer stopped or made no sense; `how` completes "the answer of NAME …"."""
    return ModelUnavailable(f"the answer of {name} {how}: ask again, or use another model")


def refused(name: str, status: int, words: str, retry_after: str = "") -> ModelError:
    """Return the error of an HTTP status other than 200; `retry_after` is the header of that name."""
    said = f" ({words})" if words else ""
    if status in {401, 403}:
        return ModelRefused(f"{name} rejects the API key{said}: correct the key in the configuration")
    if status == 404:
        return ModelRefused(f"{name} is not on that server{said}: install it there, or correct its name or address")
    if status == 402:
        return ModelUnavailable(f"{name} has no credit left{said}: add some, or use another model")
    if status == 429:
        wait = f"wait {retry_after} s" if retry_after.isdecimal() else "wait"
        return _unavailable(f"{name} takes no more requests now{said}: {wait}, or use another model", retry_after)
    if status in {408, 409, 425} or status >= 500:
        return _unavailable(f"{name} has trouble of its own, HTTP {status}{said}: ask again later", retry_after)
    return ModelRefused(f"{name} rejects the request, HTTP {status}{said}: correct its parameters in the configuration")


def _unavailable(sentence: str, retry_after: str) -> ModelUnavailable:
    error = ModelUnavailable(sentence)
    error.retry_after = float(retry_after) if retry_after.isdecimal() else 0.0
    return error


def words_of(body: bytes | str, secret: str = "") -> str:
    """Return what a server said about an error, as one short line without the secret.

    Takes OpenAI's `{"error": {"message": …}}` and its relatives, and any other text.
    """
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    for key in ("error", "message", "detail"):
        if isinstance(found, dict) and key in found:
            found = found[key]
    line = " ".join(str(found).split())
    if secret:
        line = line.replace(secret, "…")
    return line if len(line) <= MAX_WORDS else f"{line[:MAX_WORDS]}…"
