"""Two machines of one name that both run: found by whoever listens, and told of where machines are."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from appliance.doctor.examine import Verdict
from appliance.machines.check import judge_machines
from appliance.machines.namesakes import WITHIN, Namesakes
from appliance.machines.roll import rows_of
from appliance.machines.wire import PRESENCE, PRESENCE_SECONDS, Presence, pack, unpack
from memory.engine.access import Login, engine_at
from tests.appliance.machines.ears_box import EarsBox, live
from tests.engine_fake import FakeEngine
from tests.engine_servers import nats_program, nats_server
from tests.room.virtual_time import passed, run_virtually
from tests.service.process import Household

pytestmark = pytest.mark.shows("H10")

TWICE = "two machines are called kitchen"


def heard(told: str, *, pause: float = PRESENCE_SECONDS / 2, name: str = "kitchen") -> tuple[str, ...]:
    """Return the names that two have, once processes called by a letter each told that they live; "." sends no id."""

    async def story() -> tuple[str, ...]:
        namesakes = Namesakes()
        for process in told:
            namesakes.hear(Presence(name, "ears", process=process.strip(".")))
            await passed(pause)
        return namesakes.names

    return run_virtually(story())


@pytest.mark.parametrize("told", ["aba", "abba", "abcabc", "ab.a"])
def test_a_process_that_is_heard_again_after_another_of_its_name_is_a_second_machine(told: str) -> None:
    assert heard(told) == ("kitchen",)


@pytest.mark.parametrize("told", ["aaaa", "aabb", "abc", "....", "a.a.", "ab"])
def test_a_machine_that_is_started_again_and_an_older_nakari_are_none(told: str) -> None:
    assert heard(told) == ()


def test_nothing_is_told_of_two_that_are_not_heard_within_a_while() -> None:
    assert heard("aba", pause=WITHIN + 1) == ()


def test_each_name_is_logged_once_and_told_for_as_long_as_two_have_it() -> None:
    async def story() -> None:
        namesakes = Namesakes()
        for process in ("a", "b", "a", "b", "a"):
            namesakes.hear(Presence("kitchen", "ears", process=process))
            namesakes.hear(Presence("bath", "ears", process="c"))
            await passed(PRESENCE_SECONDS / 2)
        assert "kitchen" in namesakes.names
        await passed(WITHIN)
        assert not namesakes.names
        for process in ("a", "b", "a"):
            namesakes.hear(Presence("kitchen", "ears", process=process))
            await passed(PRESENCE_SECONDS / 2)
        assert "kitchen" in namesakes.names

    with capture_logs() as logs:
        run_virtually(story())
    told = [each for each in logs if each["event"] == "two_machines_of_one_name"]
    assert [each["machine"] for each in told] == ["kitchen"]
    assert "machines.name NAME" in told[0]["fix"]


def test_ears_log_that_another_machine_has_their_name_and_tell_it_in_their_status(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        assert ears.box.elsewhere is not None
        other = FakeEngine(ears.server)
        await other.open()
        for _ in range(4):
            await other.topics.publish(PRESENCE, pack(Presence("kitchen", "ears", process="another")))
            await passed(PRESENCE_SECONDS)
        assert ears.box.elsewhere.describe()["namesakes"] == ["kitchen"]

    with capture_logs() as logs:
        live(tmp_path, story)
    assert [each["machine"] for each in logs if each["event"] == "two_machines_of_one_name"] == ["kitchen"]


def test_the_doctor_warns_of_two_of_one_name_and_says_how_to_name_them() -> None:
    rows = rows_of(
        {each.machine: each for each in (Presence("study", "mind", epoch=4), Presence("kitchen", "ears"))}, {}
    )
    line = judge_machines({"machines": rows, "namesakes": ["kitchen"]})
    assert (line.verdict, TWICE in line.what, "nakari join INVITATION --force" in line.fix) == (
        Verdict.WARNING,
        True,
        True,
    ), str(line)


@pytest.mark.skipif(nats_program() is None, reason="there is no nats-server here; scripts/nats fetch gets one")
async def test_two_programs_of_one_name_are_told_of_on_a_real_server(tmp_path: Path) -> None:
    server = nats_server(tmp_path / "server")
    await asyncio.to_thread(server.start)
    machines: dict[str, object] = {"url": server.url, "role": "ears", "name": "kitchen"}
    homes = [Household(tmp_path / name, {"machines": machines}) for name in ("first", "second")]
    engine = engine_at(server.url, "home", Login())
    try:
        with ExitStack() as running:
            services = [running.enter_context(home.running("run")) for home in homes]
            async with engine.topics.subscribe(PRESENCE) as messages, asyncio.timeout(120):
                seen: set[str] = set()
                async for each in messages:
                    told = unpack(each.data)
                    assert isinstance(told, Presence)
                    seen.add(told.process)
                    if len(seen) == 2:
                        break
            listed = await asyncio.to_thread(homes[0].run, "machines")
            doctor = await asyncio.to_thread(homes[0].run, "doctor")
            await asyncio.to_thread(services[0].until, "two_machines_of_one_name")
            status = await asyncio.to_thread(homes[0].run, "status")
            for service in services:
                assert await asyncio.to_thread(service.stop) == 0
    finally:
        await engine.close()
        await asyncio.to_thread(server.kill)
    assert f"{TWICE}, and only one of them is seen; give one" in listed.stderr
    assert TWICE in doctor.stdout
    assert TWICE in " ".join(status.stdout.split())
    said = "".join((listed.stdout, listed.stderr, doctor.stdout, status.stdout))
    assert not [process for process in seen if process in said]
