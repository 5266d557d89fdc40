"""What may be asked at a door by somebody with a key: to prove it, and for the settings that are theirs."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, model_validator

from agent.model.messages import Json
from appliance.door.asked import Asked, Name
from appliance.door.caller import Caller
from appliance.owners import Owners
from memory.identity import HOW_TO_REGISTER
from memory.owner_settings import Value


def _single(value: object) -> object:
    if not isinstance(value, bool | int | float | str):
        raise ValueError("should be a text, a number, true or false")  # noqa: TRY004  pydantic wants a ValueError
    return value


class AskChallenge(Asked):
    """Somebody wants to prove a key, and needs something to sign."""

    do: Literal["challenge"]


class Prove(Asked):
    """They have signed it; what comes after this on the connection is theirs."""

    do: Literal["prove"]
    owner_key: Name
    """The public key, 64 hexadecimal digits."""
    challenge: Name
    signature: Name
    """128 hexadecimal digits, of `memory.identity.PURPOSE` and the challenge."""


class ListSettings(Asked):
    """What holds for whoever asks, and at which level it was set."""

    do: Literal["settings"] = "settings"


class SetSetting(Asked):
    """A setting of their own, from their next event on."""

    do: Literal["settings.set"] = "settings.set"
    name: Name
    value: Annotated[Value, BeforeValidator(_single)]


class ResetSettings(Asked):
    """One of their settings as it was before they set it, or all of them."""

    do: Literal["settings.reset"] = "settings.reset"
    name: Name | None = None
    all: bool = False

    @model_validator(mode="after")
    def _says_which(self) -> "ResetSettings":
        if (self.name is None) != self.all:
            raise ValueError('either a "name", or "all": true')
        return self


SettingsRequest: TypeAlias = ListSettings | SetSetting | ResetSettings
OwnerRequest: TypeAlias = AskChallenge | Prove | SettingsRequest


async def answer_of(owners: Owners, caller: Caller, request: OwnerRequest) -> dict[str, Json]:
    """Do what is asked, and return the answer. Raises `NotProven`, `RegistrationNeeded`, `SettingRefused`."""
    match request:
        case AskChallenge():
            return {"challenge": caller.challenged(owners.identities)}
        case Prove():
            found = caller.prove(owners.identities, request.owner_key, request.challenge, request.signature)
            who: dict[str, Json] = {"owner_key": found.owner_key, "name": found.name, "member": found.is_member}
            return who if found.is_member else who | {"told": HOW_TO_REGISTER}
    return await settings_of(owners, caller.owner_key, request)


async def settings_of(owners: Owners, owner_key: str, request: SettingsRequest) -> dict[str, Json]:
    """Tell or change the settings of an owner. Raises `RegistrationNeeded`, `SettingRefused`."""
    match request:
        case ListSettings():
            found = owners.settings.all(owner_key)
            return {"settings": {name: {"value": one.value, "level": one.level} for name, one in found.items()}}
        case SetSetting():
            await owners.set(owner_key, request.name, request.value)
            return {"done": f"{request.name} is yours from your next event on."}
        case ResetSettings():
            await owners.reset(owner_key, *([request.name] if request.name is not None else []))
            which = request.name or "Everything"
            return {"done": f"{which} is as it was before you set it."}
