"""Errors that a server or a gateway sends as the text of an answer: the model failed, and said nothing."""

import re
from typing import Final

from memory.json_value import fields, parse_json

MOST_OF_A_COMPLAINT: Final = 1000
"""Characters of an error that is sent as an answer; what is longer is an answer."""

_COMPLAINTS: Final = (
    *("error:", "error code", "error (", "[error", "**error", "exception:", "错误：", "错误:"),
    *("an error occurred", "an error has occurred", "internal server error", "internal error:", "server error:"),
    *("traceback (most recent call last)", "runtimeerror", "valueerror", "torch.", "cuda error", "cuda out of"),
    *("ggml_", "llama runner"),
    *("litellm.", "openai.", "upstream ", "bad gateway", "gateway timeout", "service unavailable", "502 ", "503 "),
)
"""How an error begins that a server, or what stands before it, sends as the text of an answer; in small letters."""

_OF_SERVERS: Final = re.compile(
    r"cuda|out of memory|\boom\b|http|status code|\b(?:4[02]\d|5\d\d)\b|upstream|gateway|service unavailable"
    r"|rate.?limit|quota|overloaded|exception|traceback|tensor|ggml|llama|vllm|ollama|context (?:length|window|size)"
    r"|tokens?\b|inference|internal (?:server )?error|processing your request|generat(?:e|ing|ion)|completion"
    r"|\bmodel\b|timed out|api key",
    re.IGNORECASE,
)
"""Words of such an error, one of which at least it has."""

_EXPLAINS: Final = re.compile(r"\bmeans?\b|\bmeaning\b|\busually\b|意思|表示|说明", re.IGNORECASE)
"""Words of an answer that tells of an error."""

_OF_AN_ERROR: Final = frozenset(
    {"error", "message", "detail", "code", "status", "status_code", "statusCode", "type", "object", "param", "success"}
)
"""The keys of an object that is nothing but an error."""


def complains(text: str) -> bool:
    """Whether a whole text is an error of the server's, and no answer about one."""
    bare = text.strip()
    if len(text) > MOST_OF_A_COMPLAINT:
        return False
    if bare.lower().startswith(_COMPLAINTS):
        return bool(_OF_SERVERS.search(bare)) and not _EXPLAINS.search(bare)
    try:
        said = fields(parse_json(bare))
    except ValueError:
        return False
    is_alone = said.keys() <= _OF_AN_ERROR
    return is_alone and bool(said.get("error") or said.get("detail") or {"message", "code"} <= said.keys())
