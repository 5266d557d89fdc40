"""The verbs as the agent's tools reach them."""

from dataclasses import dataclass

from agent.tools.device import DeviceVerb
from appliance.reflexes.reflexes import Reflexes
from appliance.reflexes.verbs import Order, Verbs


@dataclass(frozen=True, slots=True)
class Device:
    """Acts for the agent as for a spoken word (`agent.tools.device.DeviceVerbs`): at once, kept and journaled."""

    reflexes: Reflexes
    verbs: Verbs

    async def set_volume(self, percent: int | None, change: int | None) -> int:
        """Set the volume, or change it; return the percent it is then."""
        volume = self.verbs.mouth.volume
        await self.reflexes.told(
            Order("volume", volume.percent + (change or 0) if percent is None else percent), how="tool"
        )
        return volume.percent

    async def act(self, verb: DeviceVerb, minutes: float | None = None) -> str:
        """Do it; return the sentence that says what came of it."""
        return await self.reflexes.told(Order(verb, minutes=minutes), how="tool")
