"""Errors of the driver as errors of the memory: who may fix them, and how."""

from ssl import SSLError
from typing import TYPE_CHECKING, Final

from memory.errors import CommitUncertain, GraphRefused, GraphUnavailable, MemoryFailure, TooLarge, WriteNotAllowed
from memory.graph.embedded.refusals import refused

if TYPE_CHECKING:
    from neo4j.exceptions import DriverError, Neo4jError

READ_ONLY: Final = (
    "memory_query only reads, and this statement would change something: nothing was changed, call memory_write with it"
)

_WRITE_REFUSED: Final = ("Neo.ClientError.Security.Forbidden", "Neo.ClientError.Statement.AccessMode")
_TIMED_OUT: Final = "Neo.ClientError.Transaction.TransactionTimedOut"
_OUT_OF_MEMORY: Final = "OutOfMemoryError"
_UNAVAILABLE: Final = ("DatabaseUnavailable", "MaximumTransactionLimitReached")
"""How codes end that say nothing about the statement: the server starts, stops, or has too much to do."""
_TAKES_NO_WRITES: Final = ("WriteOnReadOnlyAccessDatabase", "ForbiddenOnReadOnlyDatabase")
_COMMIT_FAILED: Final = "Transaction error on commit"
"""What the embedded store says when its files take no more."""
_COMMIT_FAILED_THERE: Final = "TransactionCommitFailed"
"""How a server's code ends then."""

_TOO_OLD: Final = "Notification filtering is not supported"
"""What the driver says of a server before Neo4j 5.7."""
_WEB_SERVER: Final = "looks like HTTP"


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
    if code.endswith(_UNAVAILABLE + _TAKES_NO_WRITES):
        return _unfit_server(code, message)
    if message.startswith(_COMMIT_FAILED) or code.endswith(_COMMIT_FAILED_THERE):
        return CommitUncertain(
            "the memory could not finish the commit, as when the disk is full; whether the change was kept is not "
            "known: look with memory_query before writing it again"
        )
    if code.endswith(_OUT_OF_MEMORY):
        return TooLarge("the statement needs more memory than it may have, nothing was changed: do it in smaller steps")
    return refused(message or f"the store refused the statement without a reason ({code})")


def _unfit_server(code: str, message: str) -> GraphUnavailable:
    """Return what it means that the server, and not the statement, is at fault."""
    if code.endswith(_TAKES_NO_WRITES):
        return GraphUnavailable(
            f"the memory's server takes no writes ({_one_line(message)}), nothing was changed: "
            "make its database writable there"
        )
    return GraphUnavailable(f"the memory's server does not serve now ({_one_line(message)}): try again in some seconds")


def shut_out(error: "Neo4jError") -> GraphUnavailable:
    """Return what it means that the server let no transaction begin."""
    code, message = error.code or "", _one_line(error.message or "")
    if code.endswith("CredentialsExpired"):
        return GraphUnavailable(
            "the graph's server does not let us in before its first password is changed: change it there with ALTER "
            "CURRENT USER SET PASSWORD, on its system database, and set NAKARI_NEO4J_PASSWORD to the new one"
        )
    if code.endswith("AuthenticationRateLimit"):
        return GraphUnavailable(
            f"the graph's server does not let us in for some seconds ({message}): check [memory] user and "
            "NAKARI_NEO4J_PASSWORD if that goes on"
        )
    if ".Security." in code:
        return GraphUnavailable(
            f"the graph's server does not let us in ({message}): check [memory] user and NAKARI_NEO4J_PASSWORD"
        )
    return GraphUnavailable(f"the graph's server begins no transaction now ({message}): try again in some seconds")


def no_graph_server(uri: str, why: object) -> GraphUnavailable:
    """Return the error for an address where something answers that cannot be talked to."""
    return GraphUnavailable(
        f"what answers at {uri} is no graph server that can be used ({why}): check [memory] uri, the Bolt address of a "
        "Neo4j 5.26 or newer"
    )


def lost(error: "DriverError", uri: str) -> GraphUnavailable:
    """Return what the driver's own error, one about the connection to `uri`, means."""
    from neo4j.exceptions import ConfigurationError, IncompleteCommit, ServiceUnavailable

    if isinstance(error, IncompleteCommit):
        return uncertain()
    cause = _first_cause(error)
    if (misfit := _misfit(error, cause)) is not None:
        return no_graph_server(uri, misfit)
    if isinstance(error, ConfigurationError):
        return GraphUnavailable(f"the graph's server cannot be used with these settings ({error}): check [memory] uri")
    if isinstance(error, ServiceUnavailable) and "defunct" in str(error):
        return GraphUnavailable(
            "the memory broke off while the statement ran, nothing was changed: "
            "ask for less if it was a heavy one, else try again in some seconds"
        )
    if isinstance(cause, (SSLError, ConnectionResetError)) and "+s" in uri.partition(":")[0]:
        return GraphUnavailable(
            f"the graph's server at {uri} was reached, but not with TLS ({_told(cause)}): [memory] uri begins with "
            "bolt:// for a server without, with bolt+ssc:// for a certificate that nobody else has signed"
        )
    told = "it does not answer" if is_silence(error) else _told(cause)
    return GraphUnavailable(
        f"the memory at {uri} cannot be reached now ({told}): try again later, `nakari doctor` says more"
    )


def _misfit(error: "DriverError", cause: BaseException) -> str | None:
    """Return what is wrong with whoever answers; None when it may be the right one."""
    from neo4j.exceptions import UnsupportedServerProduct

    if isinstance(error, UnsupportedServerProduct):
        return "it speaks no Bolt, or one that is not known here"
    if _TOO_OLD in str(error):
        return "it is older"
    if _WEB_SERVER in str(cause):
        return "it is a web server; Bolt has a port of its own, 7687 unless somebody changed it"
    return None


def is_silence(error: BaseException) -> bool:
    """Whether somebody took the connection and then said nothing for as long as the driver waits."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, TimeoutError):
        seen = seen.exceptions[0] if isinstance(seen, BaseExceptionGroup) else seen.__cause__ or seen.__context__
    return seen is not None


def _first_cause(error: BaseException) -> BaseException:
    while True:
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        elif error.__cause__ is not None:
            error = error.__cause__
        else:
            return error


def _told(cause: BaseException) -> str:
    """Return the words of an error, also of one that has none."""
    silent = "it does not answer" if isinstance(cause, TimeoutError) else "it hung up"
    return _one_line(str(cause)) or silent


def _one_line(message: str) -> str:
    return " ".join(message.split())
