"""Which certificates are trusted: one module under two names, for `audio` and for `memory`."""

import ssl
from collections.abc import Iterator
from functools import cache
from typing import Final

WHOLE_STORE: Final = 20
"""Authorities: with fewer a store is a household's own, or none, and the public ones are added."""

_TRUST_IT: Final = "have this machine trust who signed it (update-ca-certificates, or SSL_CERT_FILE: docs/operation.md)"
"""The mend for a certificate of an authority that nobody here knows."""

_UNKNOWN_SIGNER: Final = frozenset({2, 18, 19, 20, 21})
"""OpenSSL's codes of a certificate that nobody who is trusted has signed."""


def trust_for(url: str) -> ssl.SSLContext | bool:
    """Return what a client checks the server of an address by; False for plain http, which has no certificates."""
    return False if url.startswith("http:") else trusted()


@cache
def trusted() -> ssl.SSLContext:
    """Return the authorities of this machine, read once: that takes some 100 ms.

    They are the system's own store, in which a household may have put its authority, or what SSL_CERT_FILE and
    SSL_CERT_DIR name in its place; OpenSSL reads those itself. Where that is no whole store, the public authorities
    stand beside it: whoever names one of their own has not meant that nobody else is trusted.
    A household's certificates need no key identifiers, which Python asks for from 3.13 on, and openssl's commands
    leave out: on every Python those are good that are good for curl.
    """
    import certifi

    context = ssl.create_default_context()
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if context.cert_store_stats()["x509_ca"] < WHOLE_STORE:
        context.load_verify_locations(certifi.where())
    return context


def tls_fault(error: BaseException) -> tuple[str, str] | None:
    """Return what follows on a server's name where TLS led to an error, and the mend; None where it did not."""
    waits = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
    faults = [cause for cause in causes(error) if isinstance(cause, ssl.SSLError) and not isinstance(cause, waits)]
    if not faults:
        return None
    fault = faults[-1]  # clients wrap it in errors of their own
    if isinstance(fault, ssl.SSLCertVerificationError):
        words = (getattr(fault, "verify_message", "") or str(fault)).rstrip(".")
        is_unknown = getattr(fault, "verify_code", 0) in _UNKNOWN_SIGNER
        mend = _TRUST_IT if is_unknown else "give it one that is good now, and for that name"
        return f"has a certificate that is not trusted ({words})", mend
    if "WRONG_VERSION" in str(fault) or "RECORD_LAYER" in str(fault):
        return "does not speak TLS", "write http:// in place of https:// in its address"
    mend = "write http:// in its address if it speaks no TLS, or correct its certificate"
    return f"lets no TLS connection stand ({fault.reason or fault})", mend


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and what it came from."""
    known: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in known:
        known.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__
