"""What the driver raises, as errors of the memory: who may mend it, and how."""

from typing import TYPE_CHECKING, Final

from memory.errors import CommitUncertain, GraphRefused, GraphUnavailable, MemoryFailure, TooLarge, WriteNotAllowed

if TYPE_CHECKING:
    from neo4j.exceptions import DriverError, Neo4jError

READ_ONLY: Final = (
    "memory_query only reads, and this statement would change something: nothing was changed, call memory_write with it"
)

_WRITE_REFUSED: Final = ("Neo.ClientError.Security.Forbidden", "Neo.ClientError.Statement.AccessMode")
_TIMED_OUT: Final = "Neo.ClientError.Transaction.TransactionTimedOut"
_OUT_OF_MEMORY: Final = "OutOfMemoryError"
_COMMIT_FAILED: Final = "Transaction error on commit"
"""What the embedded store says when its files take no more."""


def too_slow(seconds: float) -> TooLarge:
    """Return the refusal of a statement that took longer than it may."""
    return TooLarge(
        f"the statement took longer than {seconds:g} s and was stopped, nothing was changed: "
        "start from fewer nodes, bound variable-length paths, or do it in several calls"
    )


def collided(error: "Neo4jError") -> bool:
    """Say whether a write lost against another client's and may be tried again as it is."""
    return error.is_retryable() and not (error.code or "").endswith(_OUT_OF_MEMORY)


def uncertain() -> CommitUncertain:
    """Return the error for a commit whose answer never came."""
    return CommitUncertain(
        "the connection to the memory broke during the commit, whether the change was kept is not known: "
        "look with memory_query before writing it again"
    )


def no_answer(seconds: float) -> GraphUnavailable:
    """Return the error for a store that took the connection and then said nothing."""
    return GraphUnavailable(f"the memory did not answer within {seconds:g} s: try again in some seconds")


def unfit(error: Exception) -> GraphRefused:
    """Return the refusal of a parameter that cannot be sent (a number beyond 64 bits, half a character)."""
    return GraphRefused(
        f"a value in params cannot be stored ({error}): use numbers within 64 bits, whole characters, lists and maps"
    )


def refusal(error: "Neo4jError", seconds: float, writes: bool) -> MemoryFailure:
    """Return what the server's error about a statement means for whoever asked.

    `seconds` is the limit that statements have, `writes` whether the statement came through the writing door.
    """
    code, message = error.code or "", (error.message or "").strip()
    if code in _WRITE_REFUSED and not writes:
        return WriteNotAllowed(READ_ONLY)
    if code.startswith(_TIMED_OUT):
        return too_slow(seconds)
    if message.startswith(_COMMIT_FAILED):
        return CommitUncertain(
            "the memory could not finish the commit, as when the disk is full; whether the change was kept is not "
            "known: look with memory_query before writing it again"
        )
    if code.endswith(_OUT_OF_MEMORY):
        return TooLarge("the statement needs more memory than it may have, nothing was changed: do it in smaller steps")
    return GraphRefused(message or f"the store refused the statement without a reason ({code})")


def lost(error: "DriverError", uri: str) -> GraphUnavailable:
    """Return what the driver's own error, one about the connection to `uri`, means."""
    from neo4j.exceptions import ConfigurationError, IncompleteCommit, ServiceUnavailable

    if isinstance(error, IncompleteCommit):
        return uncertain()
    if isinstance(error, ConfigurationError):
        return GraphUnavailable(f"the graph's server cannot be used with these settings ({error}): check [memory] uri")
    if isinstance(error, ServiceUnavailable) and "defunct" in str(error):
        return GraphUnavailable(
            "the memory broke off while the statement ran, nothing was changed: "
            "ask for less if it was a heavy one, else try again in some seconds"
        )
    return GraphUnavailable(
        f"the memory at {uri} cannot be reached now ({_first_cause(error)}): try again later, `nakari doctor` says more"
    )


def _first_cause(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error)
