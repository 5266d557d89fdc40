"""Wyoming's server, where it is wanted: over the room's recognizer and voices, and the household's way to ask."""

from appliance.api.handler import Household
from appliance.config.http import host_and_port, is_loopback
from appliance.config.wyoming import WyomingSettings
from appliance.remote.place import House
from appliance.wyoming.door import WyomingDoor


def wyoming_door(settings: WyomingSettings, house: House, household: Household) -> WyomingDoor | None:
    """Return the door, None where it is off; what it needs is loaded here, for nobody else does."""
    if not settings.listen:
        return None
    from appliance.wyoming.announcement import Announcement, addresses_towards
    from appliance.wyoming.asr import Transcription
    from appliance.wyoming.connection import Services
    from appliance.wyoming.guests import guests_of
    from appliance.wyoming.handle import Conversation
    from appliance.wyoming.info import Abilities
    from appliance.wyoming.server import WyomingServer
    from appliance.wyoming.tts import Speaking

    hearing, speaking = house.recognizing, house.speaking
    services = Services(
        Abilities(lambda: hearing.recognizer.name, hearing.language),
        Transcription(hearing),
        Speaking(speaking.voice, speaking.language),
        Conversation(household),
    )
    server = WyomingServer(services, guests_of(settings.networks), settings.connections, household.mailbox.now)
    announcement = None
    if not is_loopback(settings.listen):
        host = host_and_port(settings.listen)[0]
        is_all = host in ("0.0.0.0", "::")
        announcement = Announcement(lambda: addresses_towards(settings.networks) if is_all else [host])
    return WyomingDoor(settings.listen, settings.networks, server, announcement)
