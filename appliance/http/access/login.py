"""The page's way in: a token becomes a cookie that no script reads, until it is taken away or revoked."""

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from appliance.http.access.origin import SAFE
from appliance.http.access.who import Who


class Login(BaseModel):
    """What a page shows to be let in."""

    model_config = ConfigDict(extra="forbid", strict=True)

    token: str


def router(who: Who) -> APIRouter:
    """Return the two routes."""
    routes = APIRouter()

    @routes.post("/login", responses={401: {}, 429: {}})
    async def log_in(request: Request, shown: Login) -> Response:
        """Keep a token as this browser's cookie."""
        cookie = who.log_in(request.scope, request.headers, shown.token.strip())
        return JSONResponse({"done": "You are in."}, headers={"set-cookie": cookie})

    @routes.post("/logout")
    async def log_out(request: Request) -> Response:
        """Take this browser's cookie away; the token stays good."""
        cookie = who.log_out(request.scope, request.headers)
        return JSONResponse({"done": "You are out."}, headers={"set-cookie": cookie})

    return routes


OPEN = ("/", "/icon.svg", "/manifest.webmanifest", "/favicon.ico")
"""What has to be there for somebody who is not in yet, besides the folder of the page's scripts."""


def is_for_everybody(scope: Scope) -> bool:
    """Whether a request is for the page itself, or to get in."""
    if scope["type"] == "websocket":
        return False
    path: str = scope["path"]
    if scope["method"] in SAFE:
        return path in OPEN or path.startswith("/assets/")
    return scope["method"] == "POST" and path in ("/login", "/logout")
