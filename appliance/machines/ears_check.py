"""What the doctor looks at of ears: whether they run, whether their mind is there, and what waits for it."""

from typing import Final

from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict
from appliance.doctor.service import told_by_service

NAME: Final = "ears"


def ears(config: Config) -> Line:
    """Look what the running ears say of their mind; a machine that is more than ears has nothing to say here."""
    told = told_by_service(config.sockets, "machines")
    if not config.machines.url or (told.get("role") if told else config.machines.role) != "ears":
        return Line(NAME, Verdict.OK, "the mind is in this machine")
    if not told:
        fix = "start it with `nakari run`, and look here again"
        return Line(NAME, Verdict.WARNING, "of a mind elsewhere, and not running", fix)
    waiting = f"; {told['waiting']} turns wait for it" if told["waiting"] else ""
    if told["mind"] == "there":
        return Line(NAME, Verdict.OK, f"{told['machine']}, of the mind on {told['mind_name']}{waiting}")
    what = f"{told['machine']}, and no mind is there since {told['mind_since']}{waiting}; the offline model answers"
    if told["engine"] != "connected":
        return Line(NAME, Verdict.FAULT, what, f"start the server at {config.machines.url}, or mend the network to it")
    return Line(NAME, Verdict.FAULT, what, "start nakari on the machine of the mind; `nakari logs` there says more")


CHECKS: Final[tuple[Check, ...]] = (ears,)
