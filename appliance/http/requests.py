"""Every request of the register as a route, and in the OpenAPI document."""

import re
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

from fastapi import APIRouter
from fastapi.utils import deep_dict_update
from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import JsonSchemaMode, models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from appliance.api.answer_models import Failure
from appliance.api.register import AnyEntry, Asked, BadRequest, Register, name_of, object_of, sentence_of, understood
from appliance.errors import Exit
from appliance.http.answering import Answering, Form
from appliance.http.caller import Asks
from memory.json_value import Json

Document: TypeAlias = dict[str, Any]
"""An OpenAPI document."""

_REFS: Final = "#/components/schemas/{model}"
_IN_PATH: Final = re.compile(r"\{(\w+)\}")


def router(register: Register) -> APIRouter:
    """Return a route for each request, and one more for each that has a place of its own; `describe` says the rest.

    FastAPI would make a validator of every answer for every route, which takes most of the time until a door opens.
    """
    routes = APIRouter()
    for entry, method, path in _places(register):
        _add(routes, register, entry, method, path)
    return routes


def _places(register: Register) -> Iterator[tuple[AnyEntry, str, str]]:
    """Yield each request with the method and the path of each of its routes."""
    for entry in register:
        yield entry, "POST", f"/requests/{entry.do}"
        if entry.place:
            method, path = entry.place.split()
            yield entry, method, path


def describe(register: Register, document: Document) -> None:
    """Write into an OpenAPI document what the requests ask, and what they are answered with."""
    models = dict.fromkeys((Failure, *(entry.answer_model for entry in register)))
    adapters: list[tuple[Hashable, JsonSchemaMode, TypeAdapter[object]]] = [
        (model, "serialization", TypeAdapter(cast(type, model))) for model in models
    ]
    answers, top = TypeAdapter.json_schemas(adapters, ref_template=_REFS)
    _, asked = models_json_schema([(entry.model, "validation") for entry in register], ref_template=_REFS)
    for entry, method, path in _places(register):
        operation = document["paths"][path][method.lower()]
        for status, model in (("200", entry.answer_model), ("403", Failure), ("422", Failure)):
            schema = answers[model, "serialization"]
            operation["responses"][status]["content"] = {"application/json": {"schema": schema}}
        deep_dict_update(operation, _described(entry.model, method, path))
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(top.get("$defs", {}), **asked.get("$defs", {}))


def _add(routes: APIRouter, register: Register, entry: AnyEntry, method: str, path: str) -> None:
    async def answer(request: Request, caller: Asks) -> Response:
        try:
            asked = await _understood(entry.model, request)
        except BadRequest as error:
            return failure(422, str(error))
        form: Form = "object"
        if entry.is_streamed:
            form = "events" if "text/event-stream" in request.headers.get("accept", "") else "lines"
        return Answering(lambda tell: register.answer(entry, asked, caller, tell), form, only_tells=entry.only_tells)

    routes.add_api_route(
        path,
        answer,
        methods=[method],
        name=entry.do,
        operation_id=f"{method.lower()} {path}",
        summary=(entry.model.__doc__ or "").partition("\n")[0],
        response_model=None,
        responses={422: {}, 403: {}},
    )


async def _understood(model: type[Asked], request: Request) -> Asked:
    """Return what is asked, of path and query, or of path and body. Raises `BadRequest`."""
    if request.method == "GET":
        given = {**request.query_params, **request.path_params}
        try:
            return model.model_validate_strings(given)
        except ValidationError as error:
            raise BadRequest(sentence_of(error, name_of(model))) from error
    told: Mapping[str, Json] = object_of(await request.body())
    return understood(model, {**told, **request.path_params, "do": told.get("do", name_of(model))})


def failure(status: int, sentence: str, code: Exit = Exit.USAGE) -> JSONResponse:
    """Return a failure as it is told at the doors."""
    return JSONResponse({"error": sentence, "code": int(code)}, status)


def _described(model: type[Asked], method: str, path: str) -> dict[str, object]:
    """Return the parameters and the body of a route, for the OpenAPI document."""
    schema = model.model_json_schema(ref_template=_REFS)
    in_path = _IN_PATH.findall(path)
    fields = {name: each for name, each in schema.get("properties", {}).items() if name != "do"}
    required = {*schema.get("required", ())}
    parameters = [
        {
            "name": name,
            "in": "path" if name in in_path else "query",
            "required": name in in_path or name in required,
            "schema": each,
        }
        for name, each in fields.items()
        if name in in_path or method == "GET"
    ]
    if method == "GET":
        return {"parameters": parameters}
    body = {
        "type": "object",
        "properties": {name: each for name, each in fields.items() if name not in in_path},
        "required": sorted(required - {*in_path, "do"}),
        "additionalProperties": False,
    }
    content = {"application/json": {"schema": body}}
    return {"parameters": parameters, "requestBody": {"content": content, "required": bool(body["required"])}}
