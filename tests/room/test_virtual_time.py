"""Virtual time passes at once where nobody works, and not at all while somebody does."""

import asyncio
import threading
import time

import pytest

from audio.tts.programs import EspeakSynthesizer
from tests.room.virtual_time import EPOCH, NothingHappens, VirtualTimeLoop, passed, run_virtually


def test_an_hour_of_timers_passes_at_once_and_in_order() -> None:
    async def wait() -> list[float]:
        loop, rung = asyncio.get_running_loop(), list[float]()

        async def ring(after: float) -> None:
            await passed(after)
            rung.append(loop.time() - EPOCH)

        async with asyncio.TaskGroup() as group:
            for after in (3600.0, 0.5, 60.0):
                group.create_task(ring(after))
        return rung

    began = time.monotonic()
    assert run_virtually(wait()) == pytest.approx([0.5, 60.0, 3600.0])
    assert time.monotonic() - began < 600  # of an hour


def test_timers_are_due_after_years_too() -> None:
    async def wait() -> float:
        await passed(3 * 366 * 86_400.0)
        for _ in range(1000):
            await passed(0.1)
        return asyncio.get_running_loop().time()

    assert run_virtually(wait()) == pytest.approx(EPOCH + 3 * 366 * 86_400.0 + 100)


def test_a_deadline_is_on_virtual_time() -> None:
    async def wait() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30):
                await asyncio.Event().wait()
        return asyncio.get_running_loop().time()

    assert run_virtually(wait()) == pytest.approx(EPOCH + 30)


def test_time_stands_still_while_a_thread_works() -> None:
    gate, order = threading.Event(), list[str]()

    async def race() -> None:
        loop = asyncio.get_running_loop()

        def work() -> None:
            assert gate.wait(10)
            order.append("worked")

        async def tick() -> None:
            await asyncio.sleep(0)
            loop.call_soon(gate.set)
            await passed(0.001)
            order.append("ticked")

        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.to_thread(work))
            group.create_task(tick())

    run_virtually(race())
    assert order == ["worked", "ticked"]


def test_a_job_takes_the_virtual_time_it_is_given() -> None:
    def transcribe() -> str:
        return "words"

    async def work() -> tuple[str, float]:
        words = await asyncio.to_thread(transcribe)
        return words, asyncio.get_running_loop().time() - EPOCH

    words, seconds = run_virtually(work(), {"transcribe": 0.3})
    assert words == "words"
    assert seconds == pytest.approx(0.3)
    assert run_virtually(work())[1] == 0


def test_what_a_job_raises_arrives_after_its_time() -> None:
    def transcribe() -> None:
        raise ValueError("no words")

    async def work() -> float:
        with pytest.raises(ValueError, match="no words"):
            await asyncio.to_thread(transcribe)
        return asyncio.get_running_loop().time() - EPOCH

    assert run_virtually(work(), {"transcribe": 0.3}) == pytest.approx(0.3)


def test_a_program_costs_no_virtual_time() -> None:
    async def speak() -> tuple[float, float]:
        loop, seconds = asyncio.get_running_loop(), 0.0
        began = loop.time()
        async for piece in EspeakSynthesizer().speak("Time stands still while I am made.", "en"):
            seconds += len(piece.samples) / piece.sample_rate
        return seconds, loop.time() - began

    seconds, taken = run_virtually(speak())
    assert seconds > 1
    assert taken == 0


def test_a_wait_for_nothing_is_told() -> None:
    loop = VirtualTimeLoop(patience=0.05)
    with pytest.raises(NothingHappens):
        loop.run_forever()
    loop.close()
