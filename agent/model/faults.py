"""The errors of failed model calls: their kind, and the one sentence with the fix that people read."""

import html
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Final

from agent.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from agent.model.messages import Message
from memory.json_value import fields, parse_json
from memory.trust import causes, tls_fault

MAX_WORDS = 200
"""Characters of a server's own words that are passed on."""

LONGEST_WAIT: Final = 86_400.0
"""Seconds of a Retry-After that are told; by a clock that is wrong a date is decades away."""

_SECONDS: Final[Mapping[str, float]] = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PARTS: Final = r"(\d+(?:\.\d+)?) ?(ms|h|m|s)"
_AGAIN_IN: Final = re.compile(rf"(?:retry|try again|retryDelay)(?: in|\": ?\") ?((?:{_PARTS}[a-z]* ?)+)", re.IGNORECASE)
"""How providers say in words when to ask again, without a header: `in 7.66s`, `in 2m59.5s`, `in 20 seconds`."""

TOO_LARGE: Final = 413
"""The HTTP status of a request that is too large, whatever its words."""

BAD_REQUEST: Final = 400
"""The HTTP status of a request that is wrong in some way, which only the server's words tell."""

_N: Final = r"\b(?<!by )([\d,_]*\d)"
_ON: Final = r"(?:(?!\brate\b|per.minute).)"
"""What stands between two words of one matter: a limit of tokens a minute is another."""

_LENGTH: Final = re.compile(
    r"context_length_exceeded|exceed_context_size|request_too_large|maximum (?:context|model|prompt) length"
    r"|context length (?:is|of) only|current length is \d+ while limit is|range of input length"
    rf"|\b(?:prompt|inputs?|context|sequence|request(?:ed)?)\b{_ON}{{0,60}}?\b(?:too (?:long|large)"
    r"|(?:exceed(?:s|ed)?|(?:longer|greater|less) than|must be <=)(?! (?:your|or|\d+ (?:seconds|MB))\b)"
    rf"{_ON}{{0,80}}?(?:token|context|length|seq|max_new|\d{{3}}))",
    re.IGNORECASE | re.DOTALL,
)
"""How servers say that a list is too long: what was sent is more than what there is, or one of their codes.

By the texts of OpenAI, vLLM, SGLang, llama.cpp, Ollama, LM Studio, TGI, Anthropic, Gemini and their like of 2024 to
2026. The limit of tokens a minute that a single request passes is one too: waiting does not help it."""

_WINDOW: Final = (
    rf'"?n_ctx"?[\s:(=]+{_N}',
    rf"(?:context|model|prompt) length (?:is|of)(?: only)? {_N}",
    rf"with {_N} maximum context",
    rf"> {_N}",
    rf"(?:than|exceed(?:s|ed)?|limit|max(?:imum)?|allowed|size|<=)[^\d+]{{0,40}}{_N}",
)
_PROMPT: Final = (
    rf'"n_prompt_tokens"\s*:\s*{_N}',
    rf"{_N} (?:in the messages|of text input|in your prompt)",
    rf"passed {_N} input tokens",
    rf"(?:has|contains)(?: at least)? {_N} (?:input )?tokens",
    rf"context limit: {_N} \+",
    rf"(?:given|received|too long):? {_N}",
    rf"(?:request|inputs?|tokens?|count|length|n_keep) \(?{_N}",
    rf"resulted in {_N}",
    rf"current length is {_N}",
    rf"requested(?: a total of| about)? {_N}",
)
_ANSWER: Final = (
    rf"{_N} (?:in|for) the (?:completion|output)",
    rf"requested {_N} output tokens",
    rf"context limit: [\d,_]+ \+ {_N}",
    rf"is too large: {_N}",
    rf"and {_N} `max_new_tokens`",
)
"""What stands before or behind the numbers in such a text; the first pattern that is there tells."""

_IS_PAGE: Final = re.compile(r"\s*<(?:!doctype html|html|head|body|title|meta|script)\b", re.IGNORECASE)
_TITLE: Final = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_HIDDEN: Final = re.compile(r"<(script|style)\b.*?(?:</\1[^>]*>|\Z)|<[^<>]*>?", re.IGNORECASE | re.DOTALL)

_KEY: Final = ("rejects the API key{said}: correct the key in the configuration", "no_model_key")
_ABSENT: Final = ("is not on that server{said}: install it there, or correct its name or address", "no_model_there")
_REFUSALS: Final = {401: _KEY, 403: _KEY, 404: _ABSENT}
"""What follows on a model's name, and what a person is told, by the status."""

_IN_WORDS: Final = (
    (re.compile(r"api.?key|authenticat|unauthori[sz]ed", re.IGNORECASE), _KEY),
    (
        re.compile(r"\bmodel\b.{0,100}\b(?:not found|(?:does not|doesn't) exist|not a valid|unknown)", re.IGNORECASE),
        _ABSENT,
    ),
    (re.compile(r"(?:not a valid|no such|unknown|invalid) model", re.IGNORECASE), _ABSENT),
)
"""The same by a server's words, where its status says no more than that the request is wrong."""

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


def unreachable(name: str, where: str, *, is_absent: bool = False) -> ModelError:
    """Say that nothing listens there (`is_absent`), or that the connection died before an answer began."""
    told = f"{name} cannot be reached at {where}: start that server, or correct its address in the configuration"
    return ModelUnavailable(told, is_absent=is_absent)


def insecure(name: str, where: str, error: BaseException) -> ModelError | None:
    """Say why no TLS connection stands, by what led to the error; None where TLS is not to blame."""
    fault = tls_fault(error)
    return ModelUnavailable(f"{name} at {where} {fault[0]}: {fault[1]}", is_absent=True) if fault else None


def moved(name: str, where: str) -> ModelError:
    """Say that the server sends its callers to another address, which are not followed there."""
    mend = "correct its address in the configuration, or log in where that is a network's login page"
    return ModelRefused(f"{name} has moved to {where[:MAX_WORDS]}: {mend}")


def page(name: str, text: bytes | str) -> ModelError:
    """Say that a web page came where a model was to answer: of another program, or of a network that asks to log in."""
    words = words_of(text)
    said = f" ({words})" if words else ""
    return ModelUnavailable(
        f"at the address of {name} is a web page{said}: correct the address, or log in to the network that shows it"
    )


def broken(name: str, how: str, *, is_of_answer: bool = False) -> ModelError:
    """Say that the answer stopped or made no sense; `how` completes "the answer of NAME …".

    With `is_of_answer` the server closed it in good order, or went on without an end: it is well itself.
    """
    excuse = "no_answer" if is_of_answer else "no_model_working"
    told = f"the answer of {name} {how}: ask again, or use another model"
    return ModelUnavailable(told, excuse=excuse, is_of_answer=is_of_answer)


def unread(name: str, error: BaseException) -> ModelError | None:
    """Say why an answer cannot be read whose bytes are no UTF-8, by what led to the error; None where they are."""
    fault = next((cause for cause in causes(error) if isinstance(cause, UnicodeDecodeError)), None)
    if fault is None:
        return None
    text = fault.object.decode("utf-8", "replace")
    return page(name, text) if is_page(text) else broken(name, "holds bytes that are no text in UTF-8")


def ended_in_error(name: str, said: bytes | str, secret: str = "") -> ModelError:
    """Return the error of a stream that ends in one, with the server's words, `secret` left out of them."""
    return too_long(name, said) or broken(name, f"ended in an error ({words_of(said, secret)})")


def empty(name: str, finish_reason: str, message: Message) -> ModelError:
    """Return what is wrong with an answer that has no words and no call."""
    told, excuse = f"the answer of {name} was empty: ask again, or use another model", "no_answer_empty"
    if finish_reason == "content_filter":
        told = f"the answer of {name} was held back by its content filter: ask in other words"
        excuse = "no_answer_filtered"
    elif finish_reason == "length" or any(message.extra.values()):
        told = f"{name} used all the room for its answer before it said a word: give it more, or less to think"
        excuse = "no_answer_thought"
    return ModelError(told, excuse=excuse, is_of_answer=True)


def refused(name: str, status: int, body: bytes | str, retry_after: str = "", secret: str = "") -> ModelError:
    """Return the error of an HTTP status other than 200, with the server's words that its body has.

    `retry_after` is the header of that name; `secret` is left out of the words.
    """
    words = words_of(body, secret)
    said = f" ({words})" if words else ""
    if length := too_long(name, body, is_certain=status == TOO_LARGE):
        return length
    named = (known for pattern, known in _IN_WORDS if status == BAD_REQUEST and pattern.search(words))
    if known := _REFUSALS.get(status) or next(named, None):
        return ModelRefused(f"{name} {known[0].replace('{said}', said)}", excuse=known[1])
    if status == 402:
        told = f"{name} has no credit left{said}: add some, or use another model"
        return ModelUnavailable(told, excuse="no_model_credit")
    rest = seconds_in(retry_after or _told_in_words(body))
    if status == 429:
        wait = f"wait {rest:.0f} s" if 0 < rest <= LONGEST_WAIT else "wait"
        told = f"{name} takes no more requests now{said}: {wait}, or use another model"
        return ModelUnavailable(told, excuse="no_model_free", retry_after=rest)
    if status in {408, 409, 425} or status >= 500:
        told = f"{name} has trouble of its own, HTTP {status}{said}: ask again later"
        return ModelUnavailable(told, excuse="no_model_working", retry_after=rest)
    return ModelRefused(f"{name} rejects the request, HTTP {status}{said}: correct its parameters in the configuration")


def too_long(name: str, body: bytes | str, *, is_certain: bool = False) -> ModelRefused | None:
    """Return the error of a list that was too long, None where the server's text tells of something else.

    Where it is the room asked for the answer that leaves the list none, the fix is another.
    """
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    if not is_certain and not _LENGTH.search(text):
        return None
    window, prompt, answer = (_number(patterns, text) for patterns in (_WINDOW, _PROMPT, _ANSWER))
    if answer > window / 2 > 0 and prompt <= window / 2:
        return ModelRefused(
            f"{name} reads {window} tokens, of which max_tokens keeps {answer} for its answer: lower max_tokens in the "
            "configuration"
        )
    told = f"{name} reads {f'{window} tokens' if window else 'less'}, and was sent {prompt or 'more'}"
    return ContextTooLong(f"{told}: compress the context, or give its server a larger window", window, prompt)


def _number(patterns: tuple[str, ...], text: str) -> int:
    """Return the number that the first of the patterns finds, 0 without any."""
    found = next(filter(None, (re.search(pattern, text, re.IGNORECASE) for pattern in patterns)), None)
    return int(re.sub(r"\D", "", found[1])) if found else 0


def seconds_in(retry_after: str) -> float:
    """Return the seconds that a Retry-After header asks for: a number, or a date (RFC 9110); 0 for anything else."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):  # no date, or one without a zone
            return 0.0
    return max(0.0, seconds) if isfinite(seconds) else 0.0


def _told_in_words(body: bytes | str) -> str:
    """Return the seconds after which a server says that it may be asked again, as a Retry-After; "" without any."""
    found = _AGAIN_IN.search(body.decode("utf-8", "replace") if isinstance(body, bytes) else body)
    parts = re.findall(_PARTS, found[1].lower()) if found else []
    return str(sum(float(number) * _SECONDS[unit] for number, unit in parts)) if parts else ""


def words_of(body: bytes | str, secret: str = "") -> str:
    """Return what a server said about an error, as one short line without the secret.

    Takes OpenAI's `{"error": {"message": …}}` and its relatives, a list of one, a page's title, any other text.
    """
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    try:
        found: object = parse_json(text)
    except ValueError:
        found = _words_of_page(text) if is_page(text) else text
    if isinstance(found, list) and found and isinstance(found[0], dict):
        found = found[0]
    for key in ("base_resp", "error", "message", "detail", "error_msg", "status_msg"):
        if isinstance(found, dict) and key in found:
            found = found[key]
    line = " ".join(str(found).split())
    if secret:
        line = line.replace(secret, "…")
    return line if len(line) <= MAX_WORDS else f"{line[:MAX_WORDS]}…"


def is_page(text: str) -> bool:
    """Whether a text is a web page."""
    return _IS_PAGE.match(text) is not None


def _words_of_page(text: str) -> str:
    title = _TITLE.search(text)
    return html.unescape(title[1] if title else _HIDDEN.sub(" ", text))


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
