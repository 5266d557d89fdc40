"""Whose events there are: the household, its members by key, visitors; and what each has set for themselves."""

from collections.abc import Callable
from dataclasses import dataclass, field

from agent.event import HOUSEHOLD
from agent.prompts import MODULES
from appliance.config import Config
from appliance.state import State
from memory.identity import Identities
from memory.owner_settings import PROMPT, OwnerSettings, Value


@dataclass(slots=True)
class Owners:
    """The household needs no key: it is in the house."""

    identities: Identities
    settings: OwnerSettings
    on_change: Callable[[str], None] = field(default=lambda owner_key: None)
    """Called with whose settings have changed, once that is durable, on the event loop; has to return at once."""

    def shares_graph(self, owner_key: str) -> bool:
        """Whether this owner's events may use the household's graph: its own and its members' (DESIGN 17)."""
        return owner_key == HOUSEHOLD or self.identities.find(owner_key).is_member

    async def of(self, owner_key: str) -> dict[str, str]:
        """Return an owner's own prompt modules (`agent.prompts` asks for them at each event)."""
        return self.settings.prompts(owner_key)

    async def set(self, owner_key: str, name: str, value: Value) -> None:
        """Keep a setting of theirs; it holds from their next event on. Raises what `OwnerSettings.set` raises."""
        await self.settings.set(owner_key, name, value)
        self.on_change(owner_key)

    async def reset(self, owner_key: str, *names: str) -> None:
        """Take settings of theirs back, all where none is named. Raises what `OwnerSettings.reset` raises."""
        await self.settings.reset(owner_key, *names)
        self.on_change(owner_key)


def identities_of(config: Config) -> Identities:
    """Return who is known here; for a command too, while the service runs."""
    return Identities(config.state_folder / "identities")


async def open_owners(config: Config, state: State) -> Owners:
    """Read who is known, and what they have set. The cap on tool calls is the box's, whatever an owner sets."""
    identities = identities_of(config)

    def may_keep(owner_key: str) -> None:
        if owner_key != HOUSEHOLD:
            identities.require_member(owner_key)

    defaults: dict[str, Value] = {f"{PROMPT}{module}": "" for module in MODULES}
    system: dict[str, Value] = {"mind.max_tool_calls": config.mind.max_tool_calls}
    settings = OwnerSettings(state.journal.database, defaults, system, may_keep)
    await settings.load()
    return Owners(identities, settings)
