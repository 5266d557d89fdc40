"""What may be asked about satellites: which are paired or on the network, to pair, try and forget one."""

from typing import Annotated, Final, TypeAlias, get_args

from pydantic import Field

from appliance.api import answer_models as answers
from appliance.api.caller import Caller
from appliance.api.register import Answer, AnyEntry, Asked, Entry, Name, Tell
from appliance.satellites.paired import host_and_port
from appliance.satellites.satellites import Satellites, words_of
from appliance.satellites.sightings import Sighting
from memory.json_value import Json

MOST_WAKE_SECONDS: Final = 60.0

OPEN: Final = (
    "It speaks without encryption: whoever is in this network can listen to it, and can pretend to be it or this box."
)


class ListSatellites(Asked, do="satellites"):
    """Which satellites are paired, and with `search` those that the network announces."""

    search: bool = False


class AddSatellite(Asked, do="satellites.add"):
    """Pair a satellite; one that is paired already gets this key and room."""

    satellite: Name
    """Its name on the network, or its address."""
    room: Annotated[str, Field(max_length=64)] = ""
    key: Annotated[str, Field(max_length=100)] = ""
    """Of its encryption, in base64."""
    without_key: bool = False
    """Whether it may be one without encryption."""


class RemoveSatellite(Asked, do="satellites.remove"):
    """Forget a satellite: its connection ends."""

    satellite: Name
    """Its room, name, or MAC address."""


class TrySatellite(Asked, do="satellites.test"):
    """Play a short sound at a satellite, and listen to it for a while if it is woken."""

    satellite: Name
    wake_seconds: Annotated[float, Field(ge=0.0, le=MOST_WAKE_SECONDS)] = 0.0


SatelliteRequest: TypeAlias = ListSatellites | AddSatellite | RemoveSatellite | TrySatellite

MODELS: Final[tuple[type[SatelliteRequest], ...]] = get_args(SatelliteRequest)


def entries(satellites: Satellites) -> list[AnyEntry]:
    """Return what may be asked about satellites."""

    async def handle(request: SatelliteRequest, caller: Caller, tell: Tell) -> Answer:
        return await answer_of(satellites, request)

    return [
        Entry(ListSatellites, answers.Satellites, handle, "GET /satellites"),
        Entry(AddSatellite, answers.Satellite, handle, is_command=True),
        Entry(RemoveSatellite, answers.Done, handle, is_command=True),
        Entry(TrySatellite, answers.Satellite, handle, is_command=True),
    ]


async def answer_of(satellites: Satellites, request: SatelliteRequest) -> dict[str, Json]:
    """Do what is asked. Raises SatelliteGone, SatelliteRefused, SatellitesDamaged."""
    match request:
        case ListSatellites():
            found = await satellites.search() if request.search else ()
            known = {link.name for link in satellites.links}
            others: list[Json] = [_announced(each) for each in found if each.name not in known]
            told: dict[str, Json] = {**satellites.describe(), "found": others}
            problem = await satellites.unreadable()
            return told | ({"problem": problem} if problem else {})
        case AddSatellite():
            paired, about, features = await satellites.pair(
                request.satellite, request.room, request.key, without_key=request.without_key
            )
            done = f"{about.label or about.name} ({paired.id}) is the satellite in the {paired.place} now."
            if not paired.key:
                done += f" {OPEN}"
            its: Json = {"model": about.model, "firmware": about.firmware, "features": words_of(features)}
            return {"done": done, "satellite": its}
        case RemoveSatellite():
            forgotten = await satellites.forget(request.satellite)
            return {"done": f"{forgotten.name} ({forgotten.id}) is forgotten, its key too."}
        case TrySatellite():
            return {"done": "", "satellite": await satellites.try_out(request.satellite, request.wake_seconds)}


def _announced(sighting: Sighting) -> dict[str, Json]:
    return {
        "name": sighting.name,
        "label": sighting.label,
        "address": host_and_port(sighting.addresses[0], sighting.port),
        "firmware": sighting.firmware,
        "is_encrypted": sighting.is_encrypted,
    }
