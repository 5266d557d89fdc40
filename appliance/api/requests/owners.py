"""What may be asked by somebody with a key: to prove it, the settings that are theirs, and to be forgotten."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Final, TypeAlias, get_args

from msgspec import Struct
from pydantic import BeforeValidator, model_validator

from appliance.api import answer_models as answers
from appliance.api.caller import Caller
from appliance.api.register import Answer, AnyEntry, Asked, Entry, Name, Tell
from appliance.api.requests.memory import progress_to
from appliance.errors import Exit, Problem
from appliance.owners.owners import Challenges, Owners, owner_of
from memory.identity import HOW_TO_REGISTER
from memory.json_value import Json
from memory.progress import Progress
from memory.state.owner_settings import Value


class OwnerHandler(Struct, frozen=True):
    """What is done for somebody with a key."""

    owners: Owners
    challenges: Challenges
    erase: Callable[[str, Progress], Awaitable[str]]
    """Erases everything of an owner and returns the sentence that says so."""


def _single(value: object) -> object:
    if not isinstance(value, bool | int | float | str):
        raise ValueError("should be a text, a number, true or false")  # noqa: TRY004  pydantic wants a ValueError
    return value


class AskChallenge(Asked, do="challenge"):
    """Somebody wants to prove a key, and needs something to sign."""


class Prove(Asked, do="prove"):
    """They have signed it; the answer has a token, and what comes with that is theirs."""

    owner_key: Name
    """The public key, 64 hexadecimal digits."""
    challenge: Name
    signature: Name
    """128 hexadecimal digits, of `memory.identity.PURPOSE` and the challenge."""


class WhoAsks(Asked, do="who"):
    """Who this is taken for; the household is told of its members too."""


class ListSettings(Asked, do="settings"):
    """What holds for whoever asks, and at which level it was set."""


class SetSetting(Asked, do="settings.set"):
    """A setting of their own, from their next event on."""

    name: Name
    value: Annotated[Value, BeforeValidator(_single)]


class ResetSettings(Asked, do="settings.reset"):
    """One of their settings as it was before they set it, or all of them."""

    name: Name | None = None
    all: bool = False

    @model_validator(mode="after")
    def _says_which(self) -> "ResetSettings":
        if (self.name is None) != self.all:
            raise ValueError('either a "name", or "all": true')
        return self


class ForgetOwner(Asked, do="forget.owner"):
    """Somebody wants everything of theirs erased, or the household wants everything of an owner erased."""

    owner: Name | None = None
    """A key, or a member's name; whoever has proven a key leaves it out."""


SettingsRequest: TypeAlias = ListSettings | SetSetting | ResetSettings

SETTINGS: Final[tuple[type[SettingsRequest], ...]] = get_args(SettingsRequest)


def entries(handler: OwnerHandler) -> list[AnyEntry]:
    """Return what may be asked by somebody with a key."""

    async def challenge(request: AskChallenge, caller: Caller, tell: Tell) -> Answer:
        return {"challenge": handler.challenges.new()}

    async def prove(request: Prove, caller: Caller, tell: Tell) -> Answer:
        found = handler.challenges.prove(request.owner_key, request.challenge, request.signature)
        who: dict[str, Json] = {
            "owner_key": found.owner_key,
            "name": found.name,
            "member": found.is_member,
            "token": handler.owners.tokens.issue(found.owner_key),
        }
        return who if found.is_member else who | {"told": HOW_TO_REGISTER}

    async def who(request: WhoAsks, caller: Caller, tell: Tell) -> Answer:
        identities = handler.owners.identities
        found = None if caller.is_household else identities.find(caller.owner_key)
        members = identities.members() if caller.is_household else []
        return {
            "owner_key": caller.owner_key,
            "name": found.name if found else "",
            "is_household": caller.is_household,
            "is_member": found is not None and found.is_member,
            "token": caller.program,
            "members": [{"name": each.name, "owner_key": each.owner_key} for each in members],
        }

    async def settings(request: SettingsRequest, caller: Caller, tell: Tell) -> Answer:
        return await settings_of(handler.owners, caller.owner_key, request)

    async def forget(request: ForgetOwner, caller: Caller, tell: Tell) -> Answer:
        whose = caller.owner_key
        if caller.is_household:
            if request.owner is None:
                raise Problem("owner: say whose, by the key or a member's name", Exit.USAGE)
            whose = owner_of(handler.owners.identities, request.owner).owner_key
        elif request.owner not in (None, whose):
            raise Problem("what is another's is for them, or for the household, to erase", Exit.NOT_ALLOWED)
        return {"result": await handler.erase(whose, progress_to(tell))}

    return [
        Entry(AskChallenge, answers.Challenge, challenge, is_for_all=True),
        Entry(Prove, answers.Proven, prove, is_for_all=True),
        Entry(WhoAsks, answers.Asker, who, "GET /who", is_for_all=True),
        Entry(ListSettings, answers.Settings, settings, "GET /settings", is_for_all=True),
        Entry(SetSetting, answers.Done, settings, is_for_all=True, is_command=True),
        Entry(ResetSettings, answers.Done, settings, is_for_all=True, is_command=True),
        Entry(ForgetOwner, answers.Result, forget, is_for_all=True, is_command=True, is_streamed=True),
    ]


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
