"""What the doctor looks at of satellites: whether their list can be read, and whether each is there."""

from collections.abc import Mapping
from typing import Final, cast

from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict, told_by_service
from appliance.satellites.paired import PairedList
from memory.json_value import Json

UNENCRYPTED: Final = "speaks without encryption"


def satellites(config: Config) -> Line:
    """Ask the running service how each satellite is; without one, read which are paired. Raises SatellitesDamaged."""
    if not config.satellites.enabled:
        return Line("satellites", Verdict.OK, "off")
    paired = PairedList(config.state_folder).read()
    if not paired:
        return Line("satellites", Verdict.OK, "none is paired")
    told = told_by_service(config.sockets, "satellites")
    if not told:
        open_ones = [f"the one in the {each.place} {UNENCRYPTED}" for each in paired if not each.key]
        rooms = ", ".join(each.place for each in paired)
        return Line("satellites", Verdict.OK, "; ".join([f"{len(paired)} paired ({rooms})", *open_ones]))
    return judge_satellites(told)


def judge_satellites(told: Mapping[str, Json]) -> Line:
    """Judge the satellites by what the service says of them."""
    each = cast("list[dict[str, Json]]", told.get("paired", []))
    away = [one for one in each if one.get("state") != "connected"]
    words = [f"{one['room']} {one['state']}{_about(one)}" for one in each]
    if problem := told.get("problem"):
        return Line("satellites", Verdict.FAULT, str(problem))
    if not away:
        return Line("satellites", Verdict.OK, "; ".join(words))
    fix = "; ".join(f"{one['room']}: {one.get('reason')}" for one in away)
    return Line("satellites", Verdict.WARNING, "; ".join(words), fix)


def _about(one: Mapping[str, Json]) -> str:
    firmware = f" (firmware {one['firmware']})" if one.get("firmware") else ""
    return firmware + ("" if one.get("is_encrypted") else f", {UNENCRYPTED}")


CHECKS: tuple[Check, ...] = (satellites,)
