"""Targets that read a text: requests, heads, envelopes, invitations, configuration, statements, tools, audit log."""

import asyncio
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st
from starlette.datastructures import Headers

from agent.event import Event, from_json, to_json
from agent.tools.mcp.answer import said_in
from agent.tools.mcp.schema import SchemaRefused, legal_schema
from agent.tools.tool import Call, run_tool, tool
from appliance.config.file import SECTIONS, SettingsText
from appliance.errors import ConfigError, Problem
from appliance.http.access.origin import Refused, check, seen
from appliance.http.compat import ollama, openai
from appliance.http.compat.body import understood
from appliance.machines.joining.invitation import Invitation, read_invitation
from appliance.machines.wire import Turn, WireRefused, pack, unpack
from benchmarks.fuzz.inputs import ANY_JSON, ANY_TEXT, changed, fields, json_like
from benchmarks.fuzz.target import Target
from memory.errors import GraphRefused
from memory.graph.cypher import Statement
from memory.history.audit_record import Record

HEADS = ("host", "origin", "authorization", "content-type", "content-length", "cookie", "x-forwarded-for", "via")
LATIN = st.text(st.characters(max_codepoint=255), max_size=40)
HOSTS = st.sampled_from(("localhost:8420", "[::1]", "127.0.0.1", "[", "a@b", "evil.example", "1.2.3.4:99999", "::1"))


def http_body(content: bytes) -> None:
    """Read the body of a request of other programs' protocols."""
    for model in (openai.ChatRequest, ollama.ChatRequest, ollama.ShowRequest):
        with suppress(Problem):
            understood(model, content)


def http_head(given: tuple[list[tuple[str, str]], str, str, bool]) -> None:
    """Look at the head of a request, as the one in the way of all routes does."""
    heads, query, scheme, is_proxy = given
    scope = {"type": "http", "method": "POST", "path": "/", "scheme": scheme, "client": ("127.0.0.1", 9)}
    scope["query_string"] = query.encode("latin-1")
    headers = Headers(raw=[(name.encode(), value.encode("latin-1")) for name, value in heads])
    with suppress(Refused):
        check(scope, headers, seen(scope, headers, lambda _: is_proxy), ())


def envelope(content: bytes) -> None:
    """Read a message of another machine; whatever passes has fields of the right types."""
    with suppress(WireRefused):
        message = unpack(content)
        pack(message)
        if isinstance(message, Turn):
            to_json(message.event)
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        to_json(from_json(content.decode(errors="replace")))


def invitation(line: str) -> None:
    """Read what somebody types behind `nakari join`."""
    with suppress(Problem):
        read_invitation(line)


def configuration(text: str) -> None:
    """Read a configuration file."""
    with suppress(ConfigError):
        SettingsText("nakari.toml", text).parse()


def statement(text: str) -> None:
    """Read a Cypher statement that a model wrote."""
    with suppress(GraphRefused):
        Statement.parse(text).copied_values("the plums are in the bowl")


def audit_line(line: bytes) -> None:
    """Read a line of the audit log."""
    with suppress(ValueError):
        record = Record.from_line(line)
        _ = (record.is_whole, record.erases, record.to_line())


def mcp_schema(schema: Any) -> None:
    """Take the schema of a server's tool."""
    if isinstance(schema, dict):
        with suppress(SchemaRefused):
            legal_schema(schema)


def mcp_answer(content: Any) -> None:
    """Take a server's answer, where its client does."""
    from mcp.types import CallToolResult
    from pydantic import ValidationError

    with suppress(ValidationError):
        said_in(CallToolResult.model_validate(content))


@tool
def weigh(what: str, grams: int = 1, among: list[float] | None = None) -> str:
    """Weigh something."""
    return f"{what} {grams} {among}"


def tool_call(arguments: str) -> None:
    """Call a tool with what a model wrote."""
    asyncio.run(run_tool(weigh, arguments, Call("call-1", Event("user_text"))))


SCHEMAS = st.recursive(
    fields("type", "enum", "minimum", "default", "required", "$ref"),
    lambda inner: st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(ANY_TEXT, inner, max_size=3)},
        optional={
            "items": inner,
            "anyOf": st.lists(inner, max_size=3),
            "$ref": st.sampled_from(("#", "#/properties/a")),
        },
    ),
    max_leaves=8,
)
BLOCKS = st.lists(
    fields(
        "text",
        "data",
        "mimeType",
        "uri",
        "name",
        "resource",
        sure={"type": st.sampled_from(("text", "image", "audio", "resource", "resource_link"))},
    )
    | st.builds(lambda text: {"type": "text", "text": text}, ANY_TEXT)
    | st.builds(lambda data: {"type": "image", "data": data, "mimeType": "image/png"}, ANY_TEXT),
    max_size=4,
)
KIND = st.sampled_from(
    ("turn", "ring", "forget", "presence", "sentence", "end", "stop", "timers", "report", "interrupt")
)
PARTS = (
    "machine",
    "room",
    "event",
    "timer",
    "state",
    "words",
    "count",
    "role",
    "epoch",
    "text",
    "number",
    "events",
    "reply",
)
TURN = pack(Turn("kitchen", "", Event("asr_transcript", "what time is it")))
LINE = str(Invitation.make("tls://study.home:4222", "home", "kitchen", "ears"))
PIECES = st.sampled_from(
    ("[ears]\n", "[model]\n", "[[", "x = 1\n", "model = ", '"a"\n', "[" * 2_000, "= =", "é\x00", "[mcp.a]\n")
)
SECTION = st.builds(lambda name, keys: f"[{name}]\n{keys}", st.sampled_from(sorted(SECTIONS)), ANY_TEXT)
CYPHER = st.sampled_from(
    (
        "MATCH (n) ",
        "CREATE (:A {t: '",
        "RETURN n",
        "\\u0027",
        "/*",
        "`",
        ";",
        "LOAD CSV ",
        "} IN TRANSACTIONS",
        "$x ",
        "'",
    )
)

TARGETS = (
    Target("http_body", json_like(fields("model", "messages", "stream", "n", "format", "images")), http_body),
    Target(
        "http_head",
        st.tuples(
            st.lists(st.tuples(st.sampled_from(HEADS), LATIN | HOSTS), max_size=6),
            LATIN,
            st.sampled_from(("http", "ws")),
            st.booleans(),
        ),
        http_head,
    ),
    Target(
        "machines_envelope",
        json_like(fields(*PARTS, sure={"version": st.just(1), "kind": KIND})) | changed(TURN),
        envelope,
    ),
    Target(
        "invitation",
        ANY_TEXT | changed(LINE.encode()).map(lambda line: line.decode(errors="surrogateescape")),
        invitation,
    ),
    Target("configuration", ANY_TEXT | st.lists(PIECES | SECTION | ANY_TEXT, max_size=8).map("".join), configuration),
    Target("cypher", ANY_TEXT | st.lists(CYPHER | ANY_TEXT, max_size=8).map("".join), statement),
    Target(
        "audit_line", json_like(fields("seq", "at", "kind", "facts", "digest", "prev", "content", "hash")), audit_line
    ),
    Target("mcp_schema", SCHEMAS | ANY_JSON, mcp_schema),
    Target("mcp_answer", fields("structuredContent", "isError", sure={"content": BLOCKS}) | ANY_JSON, mcp_answer),
    Target(
        "tool_call",
        json_like(fields("what", "grams", "among")).map(lambda each: each.decode(errors="replace")),
        tool_call,
    ),
)
