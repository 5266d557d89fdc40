"""The verbs of the device as the agent's tools reach them: done as for a spoken word, kept and journaled."""

from msgspec import Struct

from agent.event import Event
from agent.tools.device import DeviceVerb
from appliance.reflexes.forget import Forgetting
from appliance.reflexes.reflexes import Reflexes
from appliance.reflexes.verbs import Order, Verbs
from appliance.reflexes.words import beginnings, sentence


class Device(Struct, frozen=True):
    """What the tools act through (`agent.tools.device.DeviceVerbs`)."""

    reflexes: Reflexes
    verbs: Verbs
    forgetting: Forgetting
    language: str
    """Of the house (ISO 639-1)."""

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

    async def forget(self, event: Event, about: str = "", minutes: float | None = None) -> str:
        """Have it forgotten when the run is over; return the sentence that names it, "" where there is nothing.

        Raises `MemoryFailure` where it cannot be looked for.
        """
        events = await self.forgetting.asked(event, about, minutes)
        words = beginnings([each.content for each in await self.forgetting.news(events)])
        if not events:
            return ""
        self.reflexes.forget_soon(self.forgetting.after(event, {each.id for each in events}))
        return sentence("forgetting", self.language, about or words, words=words)

    async def would_forget(self, about: str, minutes: float | None) -> str:
        """Return the beginnings of what was said with these words, or since then. Raises `MemoryFailure`."""
        events = await self.forgetting.news(await self.forgetting.would_go(minutes=minutes, about=about))
        return beginnings([each.content for each in events])
