"""What may be asked at the door about the models that think."""

from typing import Literal, Protocol

from appliance.api import answer_models as answers
from appliance.api.caller import Caller
from appliance.api.register import Answer, AnyEntry, Entry, Tell
from appliance.api.request_model import Asked, Name


class UseModel(Asked):
    """Somebody wants another model to think from the next event on."""

    do: Literal["model"] = "model"
    use: Name
    """Its alias: configured, offline, or one of [models.NAME]."""


class ModelHandler(Protocol):
    """Who changes it."""

    async def use(self, alias: str) -> str:
        """Return the sentence that says what was done; durable then."""


def entries(models: ModelHandler) -> list[AnyEntry]:
    """Return what may be asked about the models."""

    async def use(request: UseModel, caller: Caller, tell: Tell) -> Answer:
        return {"done": await models.use(request.use)}

    return [Entry(UseModel, answers.Done, use, is_command=True)]
