"""The application: every router under one roof, failures as sentences, and the OpenAPI document."""

from collections.abc import Sequence

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from appliance.api.register import Register, failure_of
from appliance.errors import Exit
from appliance.http import requests
from appliance.http.answering import status_of
from appliance.http.requests import Document, failure
from appliance.version import version


def app_of(register: Register, routers: Sequence[APIRouter]) -> FastAPI:
    """Return the application; `routers` are what does not come of the register."""
    app = _App(register)
    for router in (requests.router(register), *routers):
        app.router.routes.extend(router.routes)  # `include_router` makes each anew, with what is its own of the router
    app.add_exception_handler(RequestValidationError, _not_understood)
    app.add_exception_handler(HTTPException, _refused)
    app.add_middleware(Sentences)
    app.add_middleware(Heads)
    return app


class _App(FastAPI):
    def __init__(self, register: Register) -> None:
        super().__init__(title="nakari", version=version(), docs_url=None, redoc_url=None, redirect_slashes=False)
        self._register = register

    def openapi(self) -> Document:
        """Return the OpenAPI document, made when it is first asked for."""
        if not self.openapi_schema:
            made = get_openapi(title=self.title, version=self.version, routes=self.routes)
            requests.describe(self._register, made)
            self.openapi_schema = made
        return self.openapi_schema


def _not_understood(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:])
    return failure(422, f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}")


def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    sentence = error.detail
    if error.status_code == 404:
        sentence = f"there is nothing at {request.url.path[:200]}; GET /openapi.json lists what there is"
    if error.status_code == 405:
        sentence = f"{request.method} is not taken at {request.url.path[:200]}; GET /openapi.json lists what is"
    answer = failure(error.status_code, sentence, Exit.USAGE)
    answer.headers.update(error.headers or {})
    return answer


class Sentences(Struct, frozen=True):
    """Middleware that answers a failure of any part with its sentence, while nothing was answered yet."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except ClientDisconnect:
            return  # a page that asks anew lets go of what it asked before: nobody is there to be told
        except Exception as error:
            if begun or scope["type"] != "http":
                raise
            told = failure_of(error)
            await JSONResponse(told, status_of(told))(scope, receive, send)


class _Enough(OSError):
    """The head of an answer is told; for who goes on, as if its reader had gone."""


class Heads(Struct, frozen=True):
    """Middleware that answers HEAD as GET, without what comes after the head (RFC 9110, 9.3.2)."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        is_over = False

        async def tell(message: Message) -> None:
            nonlocal is_over
            if is_over:
                raise _Enough
            if message["type"] == "http.response.body":
                is_over = True
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                if message.get("more_body"):
                    raise _Enough  # a stream has no end
            else:
                await send(message)

        try:
            await self.app({**scope, "method": "GET"}, receive, tell)
        except Exception:
            if not is_over:
                raise
