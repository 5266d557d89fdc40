"""Damaged streams, as servers are known to send them, each with the right call or the one observation it becomes."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from tests.agent.openai_script import (
    DONE,
    KEEP_ALIVE,
    Reset,
    Scripted,
    Step,
    call_piece,
    chunk,
    event,
    in_one_piece,
    stream,
    text,
    usage,
)

X = '{"text":"x"}'
Y = '{"summary":"y"}'
REPLY_X = ("reply", X)
COMPLETE_Y = ("complete_event", Y)
END = (chunk({}, "tool_calls"), DONE)
STOP = (chunk({}, "stop"), DONE)


class Damaged(Struct, frozen=True):
    """One stream. Exactly one of the three must come of it."""

    what: str
    answer: Scripted
    calls: tuple[tuple[str, str], ...] = ()
    """Names and arguments of the calls, in order."""
    said: str | None = None
    """The text."""
    observes: str = ""
    """Words of the observation the tool's caller makes of the only call."""
    litellm_loses_it: bool = False
    """litellm's own client drops the piece: an empty answer comes, after which the loop asks again."""
    breaks: str = ""
    """Words of the sentence with which the stream breaks."""


def whole(name: str = "reply", arguments: str = X, index: int | None = 0, **more: Any) -> bytes:
    return call_piece(index, name=name, arguments=arguments, **{"id": "a", **more})


def bare(delta: Mapping[str, Any] | None, **more: Any) -> bytes:
    return event(
        {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [{"index": 0, "delta": delta, **more}]}
    )


def said(*pieces: str) -> tuple[bytes, ...]:
    return tuple(chunk({"content": piece}) for piece in pieces)


def message(fields: Mapping[str, Any], reason: str = "stop") -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": reason}
    return event({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})


def made(identifier: str, name: str, arguments: str) -> Mapping[str, Any]:
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def completion(words: str, reason: str | None = None) -> bytes:
    choice = {"index": 0, "text": words, "logprobs": None, "finish_reason": reason}
    return event({"id": "c", "object": "text_completion", "model": "m", "choices": [choice]})


def of(what: str, *steps: Step, **expected: Any) -> Damaged:
    return Damaged(what, stream(*steps), **expected)


def crlf(*steps: bytes) -> tuple[bytes, ...]:
    return tuple(step.replace(b"\n", b"\r\n") for step in steps)


CALLS: Sequence[Damaged] = (
    of("two calls at index 0", whole(), whole("complete_event", Y, id="b"), *END, calls=(REPLY_X, COMPLETE_Y)),
    of(
        "two calls at index 0 without ids",
        call_piece(0, name="reply", arguments=X),
        call_piece(0, name="complete_event", arguments=Y),
        *END,
        calls=(REPLY_X, COMPLETE_Y),
    ),
    of(
        "the id changes in the middle of a call",
        whole(arguments='{"te'),
        call_piece(0, id="b", arguments='xt":"x"}'),
        *END,
        calls=(REPLY_X,),
    ),
    of(
        "a new id and the name again in each piece",
        whole(arguments='{"te'),
        whole(arguments='xt":"x"}', id="b"),
        *END,
        calls=(REPLY_X,),
    ),
    of("the header again in each piece", whole(arguments='{"te'), whole(arguments='xt":"x"}'), *END, calls=(REPLY_X,)),
    of(
        "the name in pieces",
        call_piece(0, id="a", name="comp", arguments=""),
        call_piece(0, name="lete_event", arguments=""),
        call_piece(0, arguments=Y),
        *END,
        calls=(COMPLETE_Y,),
    ),
    of(
        "arguments before the name",
        call_piece(0, id="a", arguments='{"text"'),
        call_piece(0, name="reply", arguments=':"x"}'),
        *END,
        calls=(REPLY_X,),
    ),
    of("no finish_reason after a whole call", whole(), DONE, calls=(REPLY_X,)),
    of("no [DONE]", whole(), chunk({}, "tool_calls"), calls=(REPLY_X,)),
    of("neither finish_reason nor [DONE] after a whole call", whole(), calls=(REPLY_X,)),
    of("keep-alives everywhere", KEEP_ALIVE, KEEP_ALIVE, whole(), KEEP_ALIVE, *END, calls=(REPLY_X,)),
    of("CRLF", *crlf(whole(), *END), calls=(REPLY_X,)),
    of(
        "a byte order mark",
        b"\xef\xbb\xbf" + whole(),
        *END,
        calls=(REPLY_X,),
        litellm_loses_it=True,
    ),
    of("cut anywhere", *(bytes([byte]) for byte in whole()), *END, calls=(REPLY_X,)),
    of(
        "a huge line",
        whole(arguments=json.dumps({"text": "x" * 300_000}, separators=(",", ":"))),
        *END,
        calls=(("reply", json.dumps({"text": "x" * 300_000}, separators=(",", ":"))),),
    ),
    of("null deltas", bare(None), whole(), bare(None), *END, calls=(REPLY_X,)),
    of("null fields", chunk({"content": None, "tool_calls": None, "role": None}), whole(), *END, calls=(REPLY_X,)),
    of("empty choices", event({"id": "c", "choices": []}), whole(), *END, calls=(REPLY_X,)),
    of("usage between", usage(9, 3, 1), whole(), usage(9, 3, 2), *END, calls=(REPLY_X,)),
    of("the role changes", chunk({"role": "assistant"}), chunk({"role": "user"}), whole(), *END, calls=(REPLY_X,)),
    of("the call whole once more at the end", whole(), whole(), *END, calls=(REPLY_X,)),
    of("the final chunk twice", whole(), chunk({}, "tool_calls"), *END, calls=(REPLY_X,)),
    of("no id", call_piece(0, name="reply", arguments=X), *END, calls=(REPLY_X,)),
    of("an empty id", call_piece(0, id="", name="reply", arguments=X), *END, calls=(REPLY_X,)),
    of("no index", whole(index=None), *END, calls=(REPLY_X,)),
    of(
        "the finish_reason of a text after calls",
        whole(),
        *STOP,
        calls=(REPLY_X,),
    ),
    of("double-encoded arguments", whole(arguments=json.dumps(X)), *END, calls=(REPLY_X,)),
    of("garbage after the arguments", whole(arguments=X + "\n</tool_call>"), *END, calls=(REPLY_X,)),
    of("a brace too many", whole(arguments=X), call_piece(0, id="a", arguments="}"), *END, calls=(REPLY_X,)),
    of("fences around the arguments", whole(arguments=f"```json\n{X}\n```"), *END, calls=(REPLY_X,)),
    of("fences in pieces", whole(arguments="```js"), call_piece(0, arguments=f"on\n{X}\n```"), *END, calls=(REPLY_X,)),
    of("arguments in single quotes", whole(arguments="{'text': 'x'}"), *END, calls=(("reply", '{"text": "x"}'),)),
    of("a comma behind the last argument", whole(arguments='{"text":"x",}'), *END, calls=(REPLY_X,)),
    of("the arguments twice in one piece", whole(arguments=X + X), *END, calls=(REPLY_X,)),
    of(
        "the arguments so far in each piece",
        whole(arguments='{"te'),
        call_piece(0, arguments=X),
        *END,
        calls=(REPLY_X,),
    ),
    of(
        "a call in OpenAI's older form",
        bare({"role": "assistant", "function_call": {"name": "reply", "arguments": ""}}),
        bare({"function_call": {"arguments": '{"te'}}),
        bare({"function_call": {"arguments": 'xt":"x"}'}}),
        bare({}, finish_reason="function_call"),
        DONE,
        calls=(REPLY_X,),
    ),
    of(
        "the whole message behind its calls",
        whole(),
        call_piece(1, id="b", name="complete_event", arguments=Y),
        message({"content": None, "tool_calls": [made("a", *REPLY_X), made("b", *COMPLETE_Y)]}, "tool_calls"),
        DONE,
        calls=(REPLY_X, COMPLETE_Y),
    ),
    of(
        "nothing but the whole message",
        message({"content": None, "tool_calls": [made("a", *REPLY_X), made("b", *COMPLETE_Y)]}, "tool_calls"),
        DONE,
        calls=(REPLY_X, COMPLETE_Y),
        litellm_loses_it=True,
    ),
    of("white space before the arguments", whole(arguments=f"\n  {X}"), *END, calls=(("reply", f"\n  {X}"),)),
    of(
        "text and calls in turn",
        chunk({"content": "Let "}),
        whole(),
        chunk({"content": "me see."}),
        call_piece(1, id="b", name="complete_event", arguments=Y),
        *END,
        calls=(REPLY_X, COMPLETE_Y),
        said="Let me see.",
    ),
    of(
        "thinking before a call",
        chunk({"content": "<think>They "}),
        chunk({"content": "greet.</th"}),
        chunk({"content": "ink>\n\n"}),
        whole(),
        *END,
        calls=(REPLY_X,),
    ),
)
"""Of these comes what the model meant."""

ARGUMENTS_AS_OBJECT = Damaged(
    "arguments as an object",
    stream(
        bare(
            {
                "tool_calls": [
                    {
                        "index": 0,
                        "id": "a",
                        "type": "function",
                        "function": {"name": "reply", "arguments": {"text": "x"}},
                    }
                ]
            }
        ),
        *END,
    ),
    calls=(("reply", '{"text": "x"}'),),
)

TEXTS: Sequence[Damaged] = (
    of(
        "the whole text once more at the end",
        chunk({"content": "Hello "}),
        chunk({"content": "there."}),
        chunk({}, "stop"),
        chunk({"content": "Hello there."}),
        DONE,
        said="Hello there.",
    ),
    of(
        "thinking, then text",
        chunk({"content": "<think>Hm"}),
        chunk({"content": "m</think>Hello."}),
        *STOP,
        said="Hello.",
    ),
    of("thinking that is never closed", chunk({"content": "<think>What "}), chunk({"content": "if"}), *STOP, said=""),
    of(
        "text that only looks like thinking",
        chunk({"content": "<th"}),
        chunk({"content": "ree> is"}),
        *STOP,
        said="<three> is",
    ),
    of("the text so far in each piece", *said("Hel", "Hello th", "Hello there."), *STOP, said="Hello there."),
    of(
        "two pieces, the second with the first",
        *said("Hello there", "Hello there, you."),
        *STOP,
        said="Hello there, you.",
    ),
    of(
        "the text so far again and again",
        *said("Hello, it ", "Hello, it ", "Hello, it is noon."),
        *STOP,
        said="Hello, it is noon.",
    ),
    of("pieces that only begin alike", *said("1", "12", " or ", "1", "12."), *STOP, said="112 or 112."),
    of("a word twice", *said("Ha", "ha", "ha", " no", " no."), *STOP, said="Hahaha no no."),
    of(
        "the whole message behind its pieces",
        *said("Hello ", "there."),
        message({"content": "Hello there."}),
        DONE,
        said="Hello there.",
    ),
    of("a finish_reason, but no [DONE]", *said("Hello ", "there."), chunk({}, "stop"), said="Hello there."),
    of(
        "roles alone",
        chunk({"role": "assistant"}),
        *said("Hello "),
        chunk({"role": "assistant"}),
        *said("there."),
        *STOP,
        said="Hello there.",
    ),
    of("only usage", usage(9, 3, 0), *STOP, said=""),
    Damaged(
        "an answer about an error",
        text("Error: CUDA out of memory means that the card is full."),
        said="Error: CUDA out of memory means that the card is full.",
    ),
    of(
        "content as parts",
        bare({"content": [{"type": "text", "text": "Hello."}]}),
        *STOP,
        said="Hello.",
        litellm_loses_it=True,
    ),
)

GATEWAYS: Sequence[Damaged] = (
    of("content as one part", bare({"content": {"type": "text", "text": "Hello."}}), *STOP, said="Hello."),
    of(
        "the whole message in two pieces",
        *said("Hello "),
        message({"content": "Hello there."}),
        DONE,
        said="Hello there.",
    ),
    of(
        "text completions",
        completion("Hello "),
        completion("there."),
        completion("", "stop"),
        DONE,
        said="Hello there.",
    ),
    of("no finish_reason, but [DONE]", *said("Hello ", "there."), DONE, said="Hello there."),
    of(
        "comments, events and ids",
        KEEP_ALIVE,
        b"event: message\nid: 7\nretry: 10\n" + chunk({"content": "Hello "}),
        b": OPENROUTER PROCESSING\n\n",
        *said("there."),
        *STOP,
        KEEP_ALIVE,
        said="Hello there.",
    ),
)
"""What litellm's own client makes nothing of, or breaks at."""

OBSERVED: Sequence[Damaged] = (
    of(
        "arguments cut short",
        whole(arguments='{"text":"ha'),
        chunk({}, "length"),
        DONE,
        calls=(("reply", '{"text":"ha'),),
        observes="wrong arguments",
    ),
    of(
        "arguments that are no JSON",
        whole(arguments="text=x"),
        *END,
        calls=(("reply", "text=x"),),
        observes="wrong arguments",
    ),
    of(
        "two objects as arguments",
        whole(arguments='{"text":"x"}{"text":"y"}'),
        *END,
        calls=(("reply", '{"text":"x"}{"text":"y"}'),),
        observes="wrong arguments",
    ),
    of(
        "arguments that are a list",
        whole(arguments='["x"]'),
        *END,
        calls=(("reply", '["x"]'),),
        observes="wrong arguments",
    ),
    of(
        "no arguments at all",
        call_piece(0, id="a", name="reply"),
        *END,
        calls=(("reply", ""),),
        observes="wrong arguments",
    ),
)
"""Of these comes a call that its caller answers with one observation."""

BROKEN: Sequence[Damaged] = (
    Damaged(
        "an HTML page with 200",
        Scripted((b"<html><body>Bad gateway</body></html>",), headers={"Content-Type": "text/html"}),
        breaks="m",  # a web page, as the thin client says, or broke off
    ),
    of(
        "an error object in the stream", event({"error": {"message": "gpu gone", "code": 500}}), DONE, breaks="gpu gone"
    ),
    of(
        "JSON cut in the middle of a chunk",
        chunk({"content": "Hi"}),
        b'data: {"choices":[{"ind\n\n',
        DONE,
        breaks="answer of",
    ),
    Damaged(
        "an error as the answer",
        in_one_piece("Error: CUDA out of memory. Tried 2.00 GiB."),
        breaks="CUDA out of memory. Tried",
    ),
    Damaged("an error in JSON as the answer", in_one_piece('{"error": {"message": "gpu gone"}}'), breaks="(gpu gone)"),
    Damaged(
        "too long a list, as the answer",
        in_one_piece("Error: the request exceeds the available context size (4096 tokens)"),
        breaks="reads 4096 tokens",
    ),
    of("the connection cut in the middle of a call", whole(arguments='{"te'), Reset(), breaks="broke off"),
    of("ended in the middle of a call", whole(arguments='{"te'), breaks="broke off"),
    of("ended in the middle of a text", chunk({"content": "Hello"}), breaks="broke off"),
    of("nothing at all", breaks="broke off"),
)
"""Of these comes one sentence."""

INVALID_UTF8 = of(
    "invalid UTF-8",
    chunk({"content": "Hi "}),
    b'data: {"choices":[{"index":0,"delta":{"content":"to\xff\xfe you."}}]}\n\n',
    *STOP,
    said="Hi to\ufffd\ufffd you.",
    breaks="answer of",
)
"""The format of the stream says U+FFFD for it; OpenAI's client, which litellm reads with, breaks."""
