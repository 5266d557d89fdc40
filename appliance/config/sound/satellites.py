"""What the configuration may say of satellites: devices in other rooms that hear and speak."""

from msgspec import Struct

from appliance.config.meaning import setting


class SatelliteSettings(Struct, frozen=True):
    """Devices in other rooms that hear and speak by ESPHome's native API. `nakari satellite add` pairs one."""

    enabled: bool = setting(True, "Whether paired satellites are connected.")
    reply_address: str = setting(
        "",
        'The IP address of this machine at which they fetch the sound of replies; "" is that under which each '
        "reaches this machine. Nothing listens before one is spoken to.",
    )
    reply_port: int = setting(0, "Its port, for a firewall to let through; 0 is any that is free.", between=(0, 65_535))
    most: int = setting(8, "How many may be paired.", between=(1, 32))
