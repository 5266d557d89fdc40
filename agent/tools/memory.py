"""The memory as four tools: query, write, schema, embedding. No schema is prescribed anywhere in them."""

import json
from collections.abc import Awaitable, Callable, Collection
from datetime import UTC
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from pydantic import BeforeValidator, Field

from agent.context.remembered import Remembered
from agent.context.situation import written_at
from agent.event import Event, speaker_of
from agent.tools.tool import Tool, tool
from memory.graph.by_itself import is_by_itself
from memory.graph.cypher import LONGEST_STATEMENT, Statement
from memory.graph.name_usage import NameUsage
from memory.graph.survey import alike, used_once
from memory.history.audit_record import Origin
from memory.json_value import Json, listed
from memory.vectors.embedding import Handles

if TYPE_CHECKING:
    from memory.graph.results import Result
    from memory.graph.survey import Schema
    from memory.history.writer import Writer

SLACK: Final = 12.0
"""Seconds a tool has beyond a statement's limit, for connecting and committing: the graph's own error comes first."""

LONGEST_LIST: Final = 150
"""Names that memory_schema gives of each kind, the most frequent ones."""

LONGEST_EXAMPLES: Final = 20
"""Names that memory_schema gives of those alike, used once and never asked for."""

NOT_COUNTED: Final = "not counted, too much for one statement now"

KnownEvents: TypeAlias = Callable[[Collection[str]], Awaitable[Collection[str]]]
"""Returns those of some texts that are ids of events. Raises `MemoryFailure`."""

NO_PARAMS: Final[dict[str, object]] = {}


def _as_object(given: object) -> object:
    """Take what models also send for an object: nothing, or its JSON as a text."""
    return json.loads(given) if isinstance(given, str) and given else given or {}


Params = Annotated[dict[str, object], BeforeValidator(_as_object)]

_QUERY = """Look into your memory, a graph database that is yours alone, with one {name} statement that only reads.

Values go into params, never into the statement: MATCH (a:A)-[r]-(b) WHERE a.x = $x RETURN a, r, b LIMIT 10; times as
texts to datetime($when), date($day). At most {rows} rows come back, and what was left out is told.
{truths}"""

_WRITE = """Change your memory with one {name} statement: CREATE, MERGE, SET, REMOVE, DELETE, indexes.

Labels, properties and types are yours to choose, in any language. When all stats are 0, a MATCH found nothing. One call
is one transaction. Values go into params: MERGE (a:A {{x: $x}}) SET a.y = $y; for many, UNWIND $rows AS row. A property
cannot hold a map. Filled in where you name them: $event (id of the one in hand), $said_at (its time), $speaker, $owner,
$source, $trust (told, unsure, own or outside). To supersede:
MATCH (a:A {{x: $x}})-[r:R]->() WHERE r.until IS NULL SET r.until = date($day) CREATE (a)-[:R {{since: date($day),
learnt: datetime($said_at), by: $speaker, event: $event}}]->(:B {{y: $y}})
{truths}"""

_BRIEFS = (
    "Look into your memory, a graph, with one {name} statement that only reads. Values go into params: "
    "MATCH (a:A)-[r]-(b) WHERE a.x = $x RETURN a, r, b LIMIT 10.",
    "Change your memory with one statement: CREATE, MERGE, SET, DELETE. {kinds}$event and $said_at come by themselves: "
    "MERGE (a:A {{x: $x}}) SET a.y = $y, a.event = $event. All stats 0: nothing matched.",
)
"""Of memory_query and memory_write, for a model with little room."""

_ONE_KIND = "A name is a label or a relationship type, not both. "

_SCHEMA = """See the shape your memory has now: labels, relationship types and property keys with their counts, and
indexes. Look before you choose a new name. With it: duplicates (same labels and values), orphans (no relationships),
names alike, used once, never asked for since askedSince, undated (no date in it), unsourced (no event's id in it)."""

_REMEMBER = """Set the one query, which only reads, whose rows open each new context with whoever this is. Answers what
it tells now, in a few hundred tokens: return facts, not whole nodes. "" takes it back."""

_EMBEDDING = """Turn a text into a vector and get a handle for it, such as vector_0123456789ab.

Name it as a parameter, $vector_0123456789ab, in memory_query or memory_write, and the vector takes its place. Store it
as a property, or compare: vector.similarity.cosine(a.v, $vector_0123456789ab)."""


def memory_tools(
    writer: "Writer", handles: Handles, usage: NameUsage | None = None, events: KnownEvents | None = None
) -> list[Tool]:
    """Return the four tools, their descriptions true of the store in use; `usage` outlives them where it is given.

    `events` tells ids of events from other texts of their form; without it all of that form count as some.
    Each raises `MemoryFailure`, in a sentence, when the memory is down or refuses; the tools never go away.
    """
    graph = writer.graph

    counted = graph.limits.counted
    known = usage or NameUsage()

    async def memory_query(event: Event, cypher: str, params: Params = NO_PARAMS) -> Json:
        statement = _parsed(event, cypher, graph.limits.statement)
        found = await graph.read(statement, handles.bind(params, statement.parameters))
        known.saw(event.owner_key, statement, found.records)
        return _answer(found, counted)

    async def memory_write(event: Event, cypher: str, params: Params = NO_PARAMS) -> Json:
        statement = _parsed(event, cypher, graph.limits.statement)
        named = statement.parameters
        bound = handles.bind(provenance(event, named) | params, named)
        written = await writer.write(statement, bound, Origin(event.id, event.owner_key))
        known.looked_up(event.owner_key, statement)
        return {"stats": {**written.stats}, **_answer(written, counted)}

    async def memory_schema() -> Json:
        schema = await graph.schema()
        return {
            **_shape(schema),
            "hygiene": await _hygiene(schema, known) | await _evidence(schema, events),
            **({"note": schema.note} if schema.note else {}),
        }

    async def embedding(text: Annotated[str, Field(min_length=1, description="What to compare by meaning.")]) -> Json:
        return {"handle": await handles.embed(text)}

    dialect, rows = graph.dialect, graph.limits.rows
    query, write = (text.format(name=dialect.name, kinds=_ONE_KIND * dialect.is_one_kind) for text in _BRIEFS)
    described: list[tuple[Callable[..., Awaitable[Json]], str, str]] = [
        (memory_query, _QUERY.format(name=dialect.name, rows=rows, truths=_list(dialect.reading)), query),
        (memory_write, _WRITE.format(name=dialect.name, truths=_list(dialect.writing)), write),
        (memory_schema, _SCHEMA, ""),
        (embedding, _EMBEDDING, ""),
    ]
    for function, description, _ in described:
        function.__doc__ = description
    # what goes for good is in a snapshot before
    memory = partial(tool, timeout=graph.limits.seconds + SLACK, is_undoable=True)
    return [
        memory(function, effect="irreversible" if function is memory_write else "pure", brief=brief)
        for function, _, brief in described
    ]


def remember_tool(remembered: Remembered) -> Tool:
    """Return remember_at_start: the one way by which the agent sets what opens its contexts."""

    async def remember_at_start(event: Event, cypher: str, params: Params = NO_PARAMS) -> Json:
        if not cypher.strip():
            await remembered.clear(event.owner_key)
            return "nothing opens them now"
        return {"Remembered": await remembered.set(event, _parsed(event, cypher, LONGEST_STATEMENT), params)}

    remember_at_start.__doc__ = _REMEMBER
    return tool(remember_at_start, effect="reversible")


def _parsed(event: Event, cypher: str, longest: int) -> Statement:
    """Return the statement, which everybody else passes along. Raises `GraphRefused`."""
    statement = Statement.parse(cypher, longest)
    statement.refuse_copied_values(event.content)
    return statement


def _answer(result: "Result", counted: int) -> dict[str, Json]:
    """Return the records, and how many were left out; past `counted` of these nobody counted."""
    records: dict[str, Json] = {"records": [*result.records]}
    if result.truncated:
        least = "at least " if result.truncated >= counted else ""
        records["truncated"] = f"{least}{result.truncated} more rows: ask for less, or page with ORDER BY SKIP LIMIT"
    return records


def provenance(event: Event, named: Collection[str]) -> dict[str, object]:
    """Return those that a statement names of what tells where a thing came from, as the event in hand has it.

    event: its id. said_at: when it happened, by the clock of whoever wrote where that was told, as ISO 8601 in UTC.
    speaker: who said it, "" where nobody knows. owner, source: the event's. trust: `told` when a person said or wrote
    it, `unsure` when it was hard to hear, `own` for the agent's own work, else `outside`.
    """
    evidence = event.metadata.get("evidence")
    unsure = isinstance(evidence, dict) and evidence.get("confidence") == "low"
    by_source = "own" if event.source in {"self", "timer"} else "outside"
    trust = ("unsure" if unsure else "told") if event.is_from_person else by_source
    offered: dict[str, object] = {
        "event": event.id,
        "said_at": written_at(event).astimezone(UTC).isoformat(timespec="seconds"),
        "speaker": speaker_of(event),
        "owner": event.owner_key,
        "source": event.source,
        "trust": trust,
    }
    return {name: value for name, value in offered.items() if name in named}


def _shape(schema: "Schema") -> dict[str, Json]:
    """Return the names in use, the vector indexes, and where plain ones were made by themselves, as Label.key."""
    by_itself = [each for each in schema.vector_indexes if is_by_itself(each["name"])]
    vector: list[Json] = [each for each in schema.vector_indexes if each not in by_itself]
    over: list[Json] = [
        ".".join(str(name) for column in (each.get("labels"), each.get("properties")) for name in listed(column))
        for each in by_itself
    ]
    return {
        "labels": _most(schema.labels),
        "relationshipTypes": _most(schema.relationship_types),
        "propertyKeys": _most(schema.property_keys),
        "vectorIndexes": vector,
        **({"lookupIndexes": over} if over else {}),
    }


async def _hygiene(schema: "Schema", usage: NameUsage) -> dict[str, Json]:
    """Return the figures of tidiness; lists of names are cut at `LONGEST_EXAMPLES`."""
    kinds = (schema.labels, schema.relationship_types, schema.property_keys)
    names = dict.fromkeys(name for kind in kinds for name in kind)
    groups = [group for kind in kinds for group in alike(kind)]
    once = [name for kind in kinds[:2] for name in used_once(kind)]
    never_asked, since = await usage.never(names)
    figures: dict[str, Json] = {
        "nodes": schema.nodes,
        "orphans": schema.orphans,
        "duplicates": schema.duplicates if schema.compared else NOT_COUNTED,
        "alike": [" ~ ".join(group[:LONGEST_EXAMPLES]) for group in groups[:LONGEST_EXAMPLES]],
        "usedOnce": _some(once),
        "neverAskedFor": _some(never_asked),
        "askedSince": since,
    }
    if 0 < schema.compared < schema.nodes:
        figures["duplicates"] = f"{schema.duplicates} among {schema.compared} nodes"
    return figures


async def _evidence(schema: "Schema", events: KnownEvents | None) -> dict[str, Json]:
    """Return how many nodes and relationships have no date, and no event that they are known from, in their values."""
    if schema.evidence is None:
        return {"undated": NOT_COUNTED, "unsourced": NOT_COUNTED}
    nodes, relationships = schema.evidence
    cited = {name for kind in schema.evidence for ids, _ in kind.cited for name in ids}
    real = cited if events is None else await events(cited)
    told = "{} of {} nodes, {} of {} relationships"
    return {
        "undated": told.format(nodes.undated, nodes.looked, relationships.undated, relationships.looked),
        "unsourced": told.format(
            nodes.unsourced(real), nodes.looked, relationships.unsourced(real), relationships.looked
        ),
    }


def _some(names: list[str]) -> Json:
    more = len(names) - LONGEST_EXAMPLES
    return [*names[:LONGEST_EXAMPLES], *([f"… {more} more"] if more > 0 else [])]


def _most(counts: dict[str, int]) -> dict[str, Json]:
    first: dict[str, Json] = dict(list(counts.items())[:LONGEST_LIST])
    return first | ({"…": f"{len(counts) - LONGEST_LIST} rarer ones"} if len(counts) > LONGEST_LIST else {})


def _list(truths: tuple[str, ...]) -> str:
    return "\n".join(f"- {truth}" for truth in truths)
