"""What the configuration may say of satellites: devices in other rooms that hear and speak."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Le

from appliance.config.meaning import Meaning


@dataclass(frozen=True, slots=True)
class SatelliteSettings:
    """Devices in other rooms that hear and speak by ESPHome's native API. `nakari satellite add` pairs one."""

    enabled: Annotated[bool, Meaning("Whether paired satellites are connected.")] = True
    reply_address: Annotated[
        str,
        Meaning(
            'The IP address of this machine at which they fetch the sound of replies; "" is that under which each '
            "reaches this machine. Nothing listens before one is spoken to."
        ),
    ] = ""
    reply_port: Annotated[
        int, Ge(0), Le(65_535), Meaning("Its port, for a firewall to let through; 0 is any that is free.")
    ] = 0
    most: Annotated[int, Ge(1), Le(32), Meaning("How many may be paired.")] = 8
