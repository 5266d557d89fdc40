"""What the doctor looks at of several machines: the server between them, who is there, and the mind of these ears."""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from typing import Final, cast

from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict, told_by_service
from appliance.egress import is_here
from memory.json_value import Json

NO_TLS: Final = "without encryption: whoever is in that network can read and change what the machines tell each other"


def engine(config: Config) -> Line:
    """Ask the server what it is and what is wrong with it. Raises `EngineFailure`."""
    if not config.machines.url:
        return Line("engine", Verdict.OK, "none: this machine is alone")
    from appliance.machines.joining.joining import handshake
    from memory.engine.access import address

    server = address(config.machines.url)
    try:
        if server.scheme == "tls":
            from appliance.machines.joining.login import login_of

            handshake(server, login_of(config).authority)
        return judge_engine(*asyncio.run(_asked(config)), is_open=not (server.is_secure or is_here(server.host)))
    except ssl.SSLError as error:
        what = f"the certificate of {server.url} is not trusted ({error.reason or error})"
        return Line("engine", Verdict.FAULT, what, "name the file of its authority in [machines] ca")
    except OSError as error:
        what = f"{server.url} does not answer ({error.strerror or error})"
        return Line("engine", Verdict.FAULT, what, "see whether it runs and this machine reaches it")


async def _asked(config: Config) -> tuple[str, Sequence[str]]:
    from appliance.wiring.machines.engine import engine_of

    made = engine_of(config)
    try:
        return await made.describe(), await made.check()
    finally:
        await made.close()


def judge_engine(described: str, wrong: Sequence[str], *, is_open: bool) -> Line:
    """Judge the server by what it says of itself; `is_open` where others on the network can read along."""
    warned = [*wrong, *([NO_TLS] if is_open else [])]
    if not warned:
        return Line("engine", Verdict.OK, described)
    fix = "give the server a certificate, and write tls:// or rediss:// in [machines] url" if is_open else ""
    return Line("engine", Verdict.WARNING, "; ".join([described, *warned]), fix)


def machines(config: Config) -> Line:
    """Listen who tells that it lives. Raises `EngineFailure`."""
    if not config.machines.url:
        return Line("machines", Verdict.OK, "this one alone")
    from appliance.machines.roll import roll_of

    return judge_machines(asyncio.run(roll_of(config)))


def judge_machines(told: Mapping[str, Json]) -> Line:
    """Judge the household's machines by their roll."""
    from appliance.machines.namesakes import MEND, two_called

    rows = cast("list[dict[str, object]]", told["machines"])
    words = [f"{each['machine']} ({each['role']}) {each['state']}{_waits(each)}" for each in rows]
    if refused := str(told.get("refused", "")):
        return Line("machines", Verdict.WARNING, "; ".join(words) or "none is there", refused)
    if twice := cast("list[str]", told.get("namesakes", [])):
        return Line("machines", Verdict.WARNING, "; ".join([*words, *map(two_called, twice)]), MEND)
    if not any(each["role"] != "ears" and each["state"] not in {"away", "follows"} for each in rows):
        follows = [str(each["machine"]) for each in rows if each["state"] == "follows"]
        fix = "start nakari on the machine that has the mind, or look there why it stopped"
        if follows:
            fix = f"{follows[0]} takes over within ten seconds; look again then, and else at its log"
        return Line("machines", Verdict.WARNING, "; ".join([*words, "no mind is there"]), fix)
    away = [str(each["machine"]) for each in rows if each["state"] == "away"]
    if away:
        fix = f"start nakari on {', '.join(away)}, or `nakari machines remove` it"
        return Line("machines", Verdict.WARNING, "; ".join(words), fix)
    return Line("machines", Verdict.OK, "; ".join(words))


def _waits(each: Mapping[str, object]) -> str:
    return f", {each['waiting']} wait" if each.get("waiting") else ""


def ears(config: Config) -> Line:
    """Look what the running ears say of their mind; a machine that is more than ears has nothing to say here."""
    told = told_by_service(config.sockets, "machines")
    if not config.machines.url or (told.get("role") if told else config.machines.role) != "ears":
        return Line("ears", Verdict.OK, "the mind is in this machine")
    if not told:
        fix = "start it with `nakari run`, and look here again"
        return Line("ears", Verdict.WARNING, "of a mind elsewhere, and not running", fix)
    waiting = f"; {told['waiting']} turns wait for it" if told["waiting"] else ""
    if told["mind"] == "there":
        return Line("ears", Verdict.OK, f"{told['machine']}, of the mind on {told['mind_name']}{waiting}")
    what = f"{told['machine']}, and no mind is there since {told['mind_since']}{waiting}; the offline model answers"
    if told["engine"] != "connected":
        return Line(
            "ears", Verdict.FAULT, what, f"start the server at {config.machines.url}, or mend the network to it"
        )
    return Line("ears", Verdict.FAULT, what, "start nakari on the machine of the mind; `nakari logs` there says more")


CHECKS: tuple[Check, ...] = (engine, machines, ears)
