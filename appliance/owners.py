"""Whose events there are: the household, its members by key, visitors; and what each has set for themselves."""

from dataclasses import dataclass

from agent.event import HOUSEHOLD
from agent.prompts import MODULES
from appliance.config import Config
from appliance.state import State
from memory.identity import Identities
from memory.owner_settings import PROMPT, OwnerSettings, Value


@dataclass(frozen=True, slots=True)
class Owners:
    """The household needs no key: it is in the house."""

    identities: Identities
    settings: OwnerSettings

    def shares_graph(self, owner_key: str) -> bool:
        """Whether this owner's events may use the household's graph: its own and its members' (DESIGN 17)."""
        return owner_key == HOUSEHOLD or self.identities.find(owner_key).is_member

    async def of(self, owner_key: str) -> dict[str, str]:
        """Return an owner's own prompt modules (`agent.prompts` asks for them at each event)."""
        return self.settings.prompts(owner_key)


async def open_owners(config: Config, state: State) -> Owners:
    """Read who is known, and what they have set. The cap on tool calls is the box's, whatever an owner sets."""
    identities = Identities(config.state_folder / "identities")

    def may_keep(owner_key: str) -> None:
        if owner_key != HOUSEHOLD:
            identities.require_member(owner_key)

    defaults: dict[str, Value] = {f"{PROMPT}{module}": "" for module in MODULES}
    system: dict[str, Value] = {"mind.max_tool_calls": config.mind.max_tool_calls}
    settings = OwnerSettings(state.journal.database, defaults, system, may_keep)
    await settings.load()
    return Owners(identities, settings)
