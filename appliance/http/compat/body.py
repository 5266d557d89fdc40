"""The JSON that a program sent, as the model of its protocol; what the model does not know is passed over."""

import json
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import ClientDisconnect, Request

from appliance.api.register import sentence_of
from appliance.errors import Exit, Problem
from memory.json_value import Json

MOST_BYTES: Final = 32_000_000
"""Of a request: programs send the images of the whole conversation again, as base64."""

MOST_COMING_BYTES: Final = 64_000_000
"""Of all requests that are just coming."""


class Sent(BaseModel):
    """Something in a request. Programs send more than anybody reads: that is passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


M = TypeVar("M", bound=Sent)

REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    400: {"description": "What was sent cannot be asked; one sentence says why."},
    403: {"description": "It is not theirs to ask."},
    404: {"description": "There is no such model."},
    429: {"description": "A visitor asked too much, or too much comes at a time."},
}
"""What else than an answer may come, for the OpenAPI document."""


class Bodies(Struct):
    """Reads requests, so many bytes at a time."""

    _coming: dict[object, int] = {}
    """Bytes so far, by request."""

    async def read(self, request: Request, model: type[M]) -> M:
        """Return what was sent. Raises `Problem` for what is no JSON, not as the model has it, or too large."""
        content, mine = bytearray(), object()
        try:
            async for piece in request.stream():
                content += piece
                self._coming[mine] = len(content)
                if len(content) > MOST_BYTES:
                    raise Problem(f"a request of more than {MOST_BYTES // 1_000_000} MB is refused", Exit.USAGE)
                if sum(self._coming.values()) > MOST_COMING_BYTES:
                    raise Problem("too much comes at the same time: try again in a minute", Exit.UNAVAILABLE)
            return understood(model, bytes(content))
        except ClientDisconnect as error:
            raise Problem("the request broke off", Exit.USAGE) from error
        finally:
            self._coming.pop(mine, None)


def understood(model: type[M], content: bytes) -> M:
    """Return what a text says. Raises `Problem`, one sentence with the place first."""
    try:
        return model.model_validate_json(content or b"{}")
    except ValidationError as error:
        raise Problem(sentence_of(error, "the request"), Exit.USAGE) from None  # it repeats what was sent


def as_json(body: Mapping[str, Json]) -> bytes:
    """Return an object on one line; a character that UTF-8 cannot have becomes a question mark."""
    return json.dumps(body, ensure_ascii=False).encode(errors="replace")


def documented(model: type[Sent]) -> dict[str, Any]:
    """Return what the OpenAPI document says of a request that is read here; both protocols have a `ChatMessage`."""
    schema = model.model_json_schema()
    whole = _inlined({name: each for name, each in schema.items() if name != "$defs"}, schema.get("$defs", {}))
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": whole}}}}


def _inlined(schema: Any, named: dict[str, Any]) -> Any:
    """Return a schema with each reference replaced by what it refers to; none of these refers to itself."""
    if isinstance(schema, list):
        return [_inlined(each, named) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(named[schema["$ref"].rpartition("/")[2]], named)
    return {name: _inlined(each, named) for name, each in schema.items()}
