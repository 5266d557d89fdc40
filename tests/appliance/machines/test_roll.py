"""Which machines there are, as they are listed and as the doctor judges them."""

import asyncio
from pathlib import Path

import pytest

from appliance.config.load import load
from appliance.doctor.examine import Verdict
from appliance.machines.check import engine, judge_engine, judge_machines, machines
from appliance.machines.roll import Heard, listen, rows_of
from appliance.machines.wire import FOLLOWS, PRESENCE, Presence, pack
from memory.engine.access import Login, engine_at
from memory.engine.interface import Engine
from memory.errors import EngineUnreachable
from tests.engine_servers import nats_program, nats_server
from tests.service.process import Household

pytestmark = pytest.mark.shows("H10")

MIND = Presence("study", "mind", epoch=4)
STANDBY = Presence("attic", "mind", epoch=3)
FOLLOWER = Presence("cellar", FOLLOWS)
EARS = Presence("kitchen", "ears", room="kitchen", waiting=2)


def test_the_mind_of_the_highest_epoch_leads() -> None:
    rows = rows_of({each.machine: each for each in (MIND, STANDBY, EARS, FOLLOWER)}, {"bedroom": "ears"})
    assert [(each["machine"], each["state"]) for each in rows if isinstance(each, dict)] == [
        ("attic", "there"),
        ("bedroom", "away"),
        ("cellar", "follows"),
        ("kitchen", "there"),
        ("study", "leads"),
    ]


@pytest.mark.parametrize(
    ("present", "known", "verdict", "words"),
    [
        ((MIND, EARS), {}, Verdict.OK, "kitchen (ears) there, 2 turns wait; study (mind) leads"),
        ((EARS,), {}, Verdict.WARNING, "no mind is there; start nakari on the machine that has the mind"),
        ((MIND, FOLLOWER), {"cellar": "mind"}, Verdict.OK, "cellar (mind) follows; study (mind) leads"),
        ((FOLLOWER,), {}, Verdict.WARNING, "no mind is there; cellar takes over within ten seconds"),
        ((MIND,), {"kitchen": "ears"}, Verdict.WARNING, "start nakari on kitchen, or `nakari machines remove` it"),
    ],
)
def test_the_doctor_judges_who_is_there(
    present: tuple[Presence, ...], known: dict[str, str], verdict: Verdict, words: str
) -> None:
    rows = rows_of({each.machine: each for each in present}, known)
    line = judge_machines({"machines": rows})
    assert (line.verdict, words in str(line)) == (verdict, True), str(line)


def test_a_server_in_the_clear_on_a_network_is_warned_of() -> None:
    assert judge_engine("NATS 2.12.1 at nats://127.0.0.1:4222", [], is_open=False).verdict is Verdict.OK
    told = judge_engine("NATS 2.12.1 at nats://server:4222", ["it acknowledges before it writes"], is_open=True)
    assert told.verdict is Verdict.WARNING
    assert "it acknowledges before it writes; without encryption" in told.what
    assert "tls://" in told.fix


@pytest.mark.skipif(nats_program() is None, reason="there is no nats-server here; scripts/nats fetch gets one")
async def test_machines_are_listened_to_on_a_real_server(tmp_path: Path) -> None:
    server = nats_server(tmp_path / "server")
    server.start()
    here: Engine = engine_at(server.url, "home", Login())
    try:
        is_over = asyncio.Event()

        async def tell() -> None:
            while not is_over.is_set():
                await here.topics.publish(PRESENCE, pack(MIND))
                await here.topics.publish(PRESENCE, b'{"version": 99, "kind": "presence"}')
                await asyncio.sleep(0)

        async def hear() -> Heard:
            heard = await listen(here, 1.0)
            home = Household(tmp_path / "home", {"machines": {"url": server.url}})
            listed = await asyncio.to_thread(home.run, "machines")
            assert "study" in listed.stdout
            assert "update nakari here" in listed.stderr
            is_over.set()
            return heard

        heard, _ = await asyncio.gather(hear(), tell())
        assert heard.present == {"study": MIND}
        assert "update nakari here" in heard.refused
        assert heard.namesakes == (), "an older nakari sends no id"
        file = tmp_path / "nakari.toml"
        text = f'[state]\nfolder = "{tmp_path}/state"\n[machines]\nurl = "{server.url}"\n'
        await asyncio.to_thread(file.write_text, text)
        line = await asyncio.to_thread(engine, load(file, {}))
        assert line.what.startswith("NATS 2."), str(line)
        assert "no mind is there" in (await asyncio.to_thread(machines, load(file, {}))).what
    finally:
        await here.close()
        server.kill()
    with pytest.raises(EngineUnreachable, match="cannot be reached"):
        await asyncio.to_thread(engine, load(file, {}))
