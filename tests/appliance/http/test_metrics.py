"""/metrics as Prometheus' own parsers read it."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families
from starlette.requests import Request
from starlette.responses import JSONResponse

from agent.bus import Bus
from agent.event import Event
from agent.record import step
from appliance.api.caller import Caller
from appliance.errors import Problem
from appliance.http import metrics
from appliance.http.caller import caller_of
from appliance.logs.counts import Counts
from memory.json_value import Json
from tests.appliance.http.compat.served import serving

pytestmark = pytest.mark.shows("F25", "V25")

STATUS: dict[str, Json] = {
    "version": '0.1.0 "quoted" \\',
    "uptime_seconds": 12.5,
    "mailbox": {"pending": 2, "completed": 40},
    "timers": {"waiting": 1, "next": ""},
    "run": {"status": "AWAITING_LLM_DECISION", "words": "a secret"},
    "state": {"bytes": 4096, "disk": "has room", "disk_free_bytes": 10**11},
    "ears": {"utterances": 7, "transcripts": 5, "reflexes": 1, "dropped_chunks": 0, "suppressed": {"echo": 3}},
    "interruptions": {"mode": "full", "quiet": 2, "went_on": 1, "ended": 1},
    "reflexes": {"muted": True},
    "streams": {"readers": 3, "lost": 40, "dropped": 2},
}


async def status() -> Mapping[str, Json]:
    return STATUS


async def nothing(*_: object, **__: object) -> None:
    """Keep no journal."""


@asynccontextmanager
async def scraped(counts: Counts, caller: Caller) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    app.dependency_overrides[caller_of] = lambda: caller
    app.include_router(metrics.router(status, counts))
    app.add_exception_handler(Problem, _refused)
    async with serving(app) as address, httpx.AsyncClient(base_url=address) as client:
        yield client


async def _refused(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": str(error)}, 403)


def read(text: str, families: Any = text_string_to_metric_families) -> dict[tuple[str, tuple[str, ...]], float]:
    """Return the samples by name and values of labels, in the order of the labels' names."""
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in families(text)
        for sample in family.samples
    }


async def counted(*envelopes: Event) -> Counts:
    """Return the counts after these envelopes."""
    bus = Bus(nothing)
    counts = Counts(bus, lambda: ("reply", "weather"))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(counts.run())
        await asyncio.sleep(0)
        for envelope in envelopes:
            bus.show(envelope)
        for _ in range(3):
            await asyncio.sleep(0)
        running.cancel()
    return counts


def happened() -> list[Event]:
    event = Event("user_text", "a secret")

    def told(topic: str, **body: Json) -> Event:
        return step(topic, event, "r1", body, "a secret")

    answer: dict[str, Json] = {"model": "big", "finish_reason": "stop", "prompt_tokens": 100, "cached_tokens": 80}
    answer |= {"completion_tokens": 7, "cost_usd": 0.25, "seconds": 1.2, "first_token_seconds": 0.4}
    return [
        told("llm.results", event="text_chunk", chunk="a secret"),
        told("llm.results", **answer),
        told("llm.results", **answer | {"finish_reason": "whatever a provider says"}),
        told("ui.events", event="tool_call_finished", tool_name="weather", status="ok"),
        told("ui.events", event="tool_call_finished", tool_name="a_secret_that_a_model_made_up", status="error"),
        told("ui.events", event="run_finished", status="COMPLETED"),
        told("speech.sentence_started"),
        told("turns.ended", kind="spoken", stages={"taken": 0.31, "first_sound": 1.9, "a secret": 1.0}),
    ]


async def scrape(caller: Caller, accept: str = "*/*", *envelopes: Event) -> httpx.Response:
    async with scraped(await counted(*envelopes), caller) as client:
        return await client.get("/metrics", headers={"accept": accept})


async def test_prometheus_reads_what_happened_and_how_it_is() -> None:
    found = read((await scrape(Caller(), "*/*", *happened())).text)
    assert found["nakari_info", (str(STATUS["version"]),)] == 1
    assert found["nakari_mailbox_events", ("pending",)] == 2
    assert found["nakari_run_state", ("awaiting_llm_decision",)] == 1
    assert found["nakari_run_state", ("completed",)] == 0
    assert found["nakari_runs_total", ("completed",)] == 1
    assert found["nakari_tool_calls_total", ("ok", "weather")] == 1
    assert found["nakari_model_calls_total", ("big", "stop")] == 1
    assert found["nakari_model_tokens_total", ("cached", "big")] == 160
    assert found["nakari_model_cost_usd_total", ("big",)] == 0.5
    assert found["nakari_model_cache_share", ()] == 0.8
    assert found["nakari_model_seconds_bucket", ("1.0", "big")] == 0
    assert found["nakari_model_seconds_bucket", ("1.5", "big")] == 2
    assert found["nakari_model_seconds_count", ("big",)] == 2
    assert found["nakari_turn_seconds_sum", ("spoken", "first_sound")] == 1.9
    assert found["nakari_sentences_total", ()] == 1
    assert found["nakari_ears_held_back_total", ("echo",)] == 3
    assert found["nakari_interruptions_total", ("quiet",)] == 2
    assert found["nakari_disk", ("has room",)] == 1
    assert found["nakari_muted", ()] == 1
    assert found["nakari_stream_readers", ()] == 3
    assert found["nakari_stream_dropped_total", ("reader",)] == 2
    assert found["process_start_time_seconds", ()] > 0


async def test_no_words_and_no_names_that_somebody_made_up_are_told() -> None:
    answer = await scrape(Caller(), "*/*", *happened())
    assert "secret" not in answer.text
    assert "whatever" not in answer.text
    assert read(answer.text)["nakari_tool_calls_total", ("error", "other")] == 1
    assert read(answer.text)["nakari_model_calls_total", ("big", "other")] == 1


async def test_before_anything_happened_it_is_legal_too() -> None:
    assert read((await scrape(Caller())).text)["nakari_uptime_seconds", ()] == 12.5


async def test_openmetrics_is_told_to_who_asks_for_it() -> None:
    answer = await scrape(Caller(), "application/openmetrics-text; version=1.0.0", *happened())
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert read(answer.text, openmetrics_families)["nakari_runs_total", ("completed",)] == 1


async def test_metrics_are_the_households() -> None:
    answer = await scrape(Caller("ab12"))
    assert answer.status_code == 403
    assert "household" in answer.json()["error"]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="not installed: promtool (Debian's prometheus has it)")
async def test_prometheus_own_tool_finds_nothing_to_say() -> None:
    answer = await scrape(Caller(), "*/*", *happened())
    checking = await asyncio.create_subprocess_exec(
        "promtool",
        "check",
        "metrics",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await checking.communicate(answer.content)
    assert (checking.returncode, said.decode()) == (0, "")
