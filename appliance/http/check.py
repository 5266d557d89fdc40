"""What the doctor looks at of HTTP: where it is answered, by which certificate, who may come from elsewhere."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from appliance.config.load import Config
from appliance.config.network.http import is_loopback
from appliance.doctor.examine import Check, Finding, Line, Verdict, line_of, told_by_service
from memory.json_value import Json, objects

SOON: Final = timedelta(days=14)
"""Before its end a certificate is told of; who renews one by itself does so a month before."""


def http(config: Config) -> Line:
    """Look where HTTP is answered, whether its certificate is good, and how many tokens there are."""
    if not config.http.enabled:
        return Line("http", Verdict.OK, "off")
    from appliance.owners.owners import tokens_of

    running = objects(told_by_service(config.sockets, "http").get("addresses"))
    where = [str(each["address"]) for each in running] or [*config.http.addresses]
    count = len(tokens_of(config.state_folder).list())
    open_ones = [each for each in where if not is_loopback(each)]
    reach = f"other machines reach {', '.join(open_ones)}" if open_ones else "no other machine reaches it"
    tokens = f"{count} token{'' if count == 1 else 's'}"
    well = f"{'https' if config.http.certificate else 'http'} at {', '.join(where)}; {reach}; {tokens}"
    found = [(Verdict.OK, well, ""), *unanswered(running), *ending(config.http.certificate, datetime.now(UTC))]
    if open_ones and not count:
        found.append((Verdict.WARNING, f"{reach}, and there is no token", "make one: nakari token create NAME"))
    return line_of("http", found)


def unanswered(running: Sequence[Mapping[str, Json]]) -> Iterator[Finding]:
    """Yield at which addresses the running service cannot answer."""
    for each in running:
        if each["problem"]:
            yield Verdict.FAULT, str(each["problem"]), "stop what has it, or set other [http] addresses"


def ending(certificate: str, now: datetime) -> Iterator[Finding]:
    """Yield what is wrong with a certificate, "" for none, or soon will be."""
    if not certificate:
        return
    from cryptography import x509

    renew = "renew it; a running nakari takes up the new one by itself"
    try:
        ends = x509.load_pem_x509_certificates(Path(certificate).expanduser().read_bytes())[0].not_valid_after_utc
    except (OSError, ValueError) as error:
        yield Verdict.FAULT, f"the certificate {certificate} cannot be read ({error})", "correct [http] certificate"
        return
    if ends < now:
        yield Verdict.FAULT, f"its certificate ended on {ends:%Y-%m-%d}", renew
    elif ends < now + SOON:
        yield Verdict.WARNING, f"its certificate ends on {ends:%Y-%m-%d}", renew


CHECKS: tuple[Check, ...] = (http,)
