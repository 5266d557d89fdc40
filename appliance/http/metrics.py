"""Prometheus' metrics: what the status says in numbers, and what was counted since the start; no word of anybody's."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeVar

from fastapi import APIRouter
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from agent.run.run import LEGAL
from appliance.errors import Exit, Problem
from appliance.http.caller import Asks
from appliance.logs.counts import BOUNDS, Counts, Spread
from memory.json_value import Json, fields, number

if TYPE_CHECKING:
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

K = TypeVar("K", bound=tuple[str, ...])
"""Values of labels."""

UNTOLD: Final = frozenset({"egress", "asking", "confined", "turns", "recorder"})
"""Parts of the status without a number that is told; what leaves the house takes milliseconds to find out."""

_DISK: Final = ("has room", "full", "read-only", "gone", "does not answer", "takes nothing")

Status = Callable[[], Awaitable[Mapping[str, Json]]]
"""Returns the status, as the household is told it."""


def router(status: Status, counts: Counts) -> APIRouter:
    """Return the route."""
    routes = APIRouter(tags=["Prometheus"])

    @routes.get("/metrics")
    async def metrics(request: Request, caller: Asks) -> Response:
        """Tell all metrics in Prometheus' text format, or in OpenMetrics where that is asked for."""
        if not caller.is_household:
            raise Problem("metrics are for the household: ask with a token of its own", Exit.NOT_ALLOWED)
        await asyncio.to_thread(import_module, "prometheus_client")  # some 50 ms, once, and nobody's
        return Told(await status(), counts).response(request.headers.get("accept", ""))

    return routes


class Told(Struct, frozen=True, eq=False):
    """What is told at a scrape; a collector of prometheus_client's."""

    status: Mapping[str, Json]
    counts: Counts

    def response(self, accept: str) -> Response:
        """Return it in the format that is wanted."""
        from prometheus_client import CollectorRegistry, ProcessCollector
        from prometheus_client.exposition import choose_encoder

        registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=registry)
        registry.register(self)
        encode, media_type = choose_encoder(accept)
        return Response(encode(registry), media_type=media_type)

    def collect(self) -> "Iterable[Metric]":
        """Yield the families."""
        yield from self._box()
        yield from self._mind()
        yield from self._models()
        yield from self._senses()
        streams = _part(self.status, "streams")
        yield _gauge("stream_readers", "Who looks on by SSE or WebSocket.", {(): number(streams.get("readers"))})
        lost = {("message",): number(streams.get("lost")), ("reader",): number(streams.get("dropped"))}
        yield _counter("stream_dropped_total", "What was dropped for being too slow.", lost, "what")

    def _box(self) -> "Iterator[Metric]":
        yield _gauge("info", "Which nakari this is.", {(str(self.status.get("version", "")),): 1}, "version")
        yield _gauge("uptime_seconds", "Seconds since the start.", {(): number(self.status.get("uptime_seconds"))})
        kept = _part(self.status, "state")
        yield _gauge("journal_bytes", "Bytes of the state database.", {(): number(kept.get("bytes"))})
        yield _gauge("disk_free_bytes", "Free bytes of its disk.", {(): number(kept.get("disk_free_bytes"))})
        disk = str(kept.get("disk", ""))
        levels = {(level,): int(disk.startswith(level)) for level in _DISK}
        yield _gauge("disk", "Whether the disk takes words: 1 for how it is.", levels, "level")

    def _mind(self) -> "Iterator[Metric]":
        mailbox = _part(self.status, "mailbox")
        waiting = {(state,): number(count) for state, count in mailbox.items()}
        yield _gauge("mailbox_events", "Events in the mailbox.", waiting, "state")
        timers = _part(self.status, "timers")
        yield _gauge("timers_waiting", "Timers that are set.", {(): number(timers.get("waiting"))})
        now = str(_part(self.status, "run").get("status", ""))
        states = {(state.lower(),): int(state == now) for state in LEGAL}
        yield _gauge("run_state", "Where the run in hand is: 1 for its state.", states, "state")
        runs = {(status.lower(),): count for status, count in self.counts.runs.items()}
        yield _counter("runs_total", "Runs that are over.", runs, "status")
        yield _counter("tool_calls_total", "Calls of tools with a result.", self.counts.tools, "tool", "status")
        about = "Seconds of a turn until a stage, from the end of the speech or the arrival of a line."
        yield _histogram("turn_seconds", about, self.counts.turns, "kind", "stage")

    def _models(self) -> "Iterator[Metric]":
        counts = self.counts
        yield _counter("model_calls_total", "Calls of models.", counts.model_calls, "model", "reason")
        yield _counter("model_tokens_total", "Tokens; cached are of the prompt's.", counts.tokens, "model", "kind")
        cost = {(model,): usd for model, usd in counts.cost_usd.items()}
        yield _counter("model_cost_usd_total", "What calls of models cost.", cost, "model")
        asked, cached = (
            sum(n for (_, each), n in counts.tokens.items() if each == kind) for kind in ("prompt", "cached")
        )
        yield _gauge("model_cache_share", "Share of prompt tokens read from a cache.", {(): cached / (asked or 1)})
        for name, about, spreads in (
            ("model_seconds", "Seconds from asking a model to the end of its answer.", counts.model_seconds),
            ("model_first_token_seconds", "Seconds to a model's first token.", counts.first_token_seconds),
        ):
            yield _histogram(name, about, {(model,): spread for model, spread in spreads.items()}, "model")

    def _senses(self) -> "Iterator[Metric]":
        yield _counter("sentences_total", "Sentences that began to sound.", {(): self.counts.sentences})
        ears = _part(self.status, "ears")
        for name, about in (
            ("utterances", "Stretches of speech."),
            ("transcripts", "Utterances that became words."),
            ("reflexes", "Words that acted at once."),
            ("dropped_chunks", "Chunks of sound (32 ms) that were lost."),
        ):
            if name in ears:
                yield _counter(f"ears_{name}_total", about, {(): number(ears[name])})
        held = {(reason,): number(count) for reason, count in _part(ears, "suppressed").items()}
        yield _counter("ears_held_back_total", "Speech that went no further.", held, "reason")
        ends = {(what,): number(n) for what, n in _part(self.status, "interruptions").items() if what != "mode"}
        yield _counter("interruptions_total", "Times that it was quiet for somebody.", ends, "outcome")
        muted = _part(self.status, "reflexes").get("muted")
        yield _gauge("muted", "Whether the microphone is muted.", {(): int(bool(muted))})


def _gauge(name: str, about: str, values: Mapping[K, float], *labels: str) -> "Metric":
    from prometheus_client.metrics_core import GaugeMetricFamily

    return _filled(GaugeMetricFamily(f"nakari_{name}", about, labels=labels), values)


def _counter(name: str, about: str, values: Mapping[K, float], *labels: str) -> "Metric":
    from prometheus_client.metrics_core import CounterMetricFamily

    return _filled(CounterMetricFamily(f"nakari_{name}", about, labels=labels), values)


def _filled(family: "GaugeMetricFamily | CounterMetricFamily", values: Mapping[K, float]) -> "Metric":
    for labels, value in sorted(values.items()):
        family.add_metric(labels, value)
    return family


def _histogram(name: str, about: str, spreads: Mapping[K, Spread], *labels: str) -> "Metric":
    from prometheus_client.metrics_core import HistogramMetricFamily

    family = HistogramMetricFamily(f"nakari_{name}", about, labels=labels)
    bounds = [*map(str, BOUNDS), "+Inf"]
    for values, spread in sorted(spreads.items()):
        family.add_metric(values, [*zip(bounds, spread.up_to, strict=True)], spread.seconds)
    return family


def _part(status: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """Return what one part says of itself; {} where it says nothing."""
    return fields(status.get(name))
