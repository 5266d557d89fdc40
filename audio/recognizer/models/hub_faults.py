"""What the hub can do wrong, as one sentence with the fix."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from audio.errors import ModelNotFound

if TYPE_CHECKING:
    from httpx import Response

TOO_MANY: Final = 429
REQUEST_TIMEOUT: Final = 408
SERVER_FAULT: Final = 500
NOT_GIVEN: Final = (401, 403, 404)
"""A private model, one behind a licence, one that is not there: the hub tells the first from the last to nobody."""


class Damaged(Exception):
    """What came of a file is not what the hub lists; it was thrown away."""


@contextmanager
def in_a_sentence(name: str, hub: str, target: Path) -> Iterator[None]:
    """Turn what the hub's client raises into `ModelNotFound`; what this machine refuses (`OSError`) stays as it is."""
    from httpx import HTTPError, InvalidURL
    from huggingface_hub import constants

    try:
        yield
    except (HTTPError, InvalidURL, ValueError, KeyError, Damaged) as error:
        why = explain(error, hub or constants.ENDPOINT, target)
        raise ModelNotFound(f"the model {name} could not be fetched: {why}") from error


def may_pass(error: Exception) -> bool:
    """Say whether the same request may well succeed in a while."""
    from httpx import TransportError, UnsupportedProtocol

    if isinstance(error, TransportError):
        return not isinstance(error, UnsupportedProtocol)
    status = _status(error)
    return status in (TOO_MANY, REQUEST_TIMEOUT) or status >= SERVER_FAULT


def explain(error: Exception, hub: str, target: Path) -> str:
    """Return why a model does not come, with the fix, without a name in front."""
    by_hand, kept = f"put its files into {target} by hand", "what has come is kept"
    status, words = _status(error), _first_line(error)
    if isinstance(error, Damaged):
        return f"{words} arrived damaged from {hub}, twice; try again, or {by_hand}"
    if status == TOO_MANY:
        return f"{hub} has no time for us ({status}, too many requests); try again {_when(error)}, {kept}"
    if status >= SERVER_FAULT:
        return f"{hub} has a fault of its own ({status}); try again later, {kept}"
    if status in NOT_GIVEN:
        return f"{hub} does not give it to us ({status}); see whether $HF_ENDPOINT names the right hub, or {by_hand}"
    if may_pass(error):
        return f"{hub} cannot be reached ({words}); look at the network ({kept}), or {by_hand}"
    return f"what answers at {hub} is no hub ({words}); see whether $HF_ENDPOINT or a log-in page is in the way"


def _status(error: Exception) -> int:
    """Return the status of an HTTP answer that is an error, 0 where there was no answer."""
    answer = _answer(error)
    return answer.status_code if answer is not None else 0


def _when(error: Exception) -> str:
    answer = _answer(error)
    seconds = answer.headers.get("Retry-After", "") if answer is not None else ""
    return f"in {seconds} s" if seconds.isdecimal() else "later"


def _answer(error: Exception) -> "Response | None":
    from httpx import HTTPStatusError
    from huggingface_hub.errors import HfHubHTTPError

    return error.response if isinstance(error, HTTPStatusError | HfHubHTTPError) else None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
