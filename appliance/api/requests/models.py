"""What may be asked at the door about the models that think."""

from collections.abc import Awaitable, Callable
from typing import Literal

from appliance.api import answer_models as answers
from appliance.api.caller import Caller
from appliance.api.register import Answer, AnyEntry, Asked, Entry, Name, Tell


class UseModel(Asked):
    """Somebody wants another model to think from the next event on."""

    do: Literal["model"] = "model"
    use: Name
    """Its alias: configured, offline, or one of [models.NAME]."""


def entries(use: Callable[[str], Awaitable[str]]) -> list[AnyEntry]:
    """Return what may be asked about the models; `use` takes an alias and returns what was done, durable then."""

    async def use_model(request: UseModel, caller: Caller, tell: Tell) -> Answer:
        return {"done": await use(request.use)}

    return [Entry(UseModel, answers.Done, use_model, is_command=True)]
