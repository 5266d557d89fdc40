"""What may be asked at the door about the models that think."""

from typing import Literal, Protocol

from appliance.api.request_model import Asked, Name


class UseModel(Asked):
    """Somebody wants another model to think from the next event on."""

    do: Literal["model"]
    use: Name
    """Its alias: configured, offline, or one of [models.NAME]."""


class ModelHandler(Protocol):
    """Who changes it."""

    async def use(self, alias: str) -> str:
        """Return the sentence that says what was done; durable then."""
