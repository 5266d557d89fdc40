"""Joining a household on a real NATS server with TLS, by the real command line."""

import asyncio
import json
import signal
import stat
import subprocess
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import nats.errors
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.errors import Error as JetStreamError

from appliance.machines.joining.invitation import Invitation, public_of, read_invitation
from appliance.machines.joining.login import CREDS, PASSWORD, SEED, keep, keep_only
from appliance.machines.joining.users import User, UsersFile, permissions_of
from appliance.machines.wire import PRESENCE, Presence, pack
from memory.engine.access import Login, engine_at
from memory.engine.nats.engine import NatsEngine
from memory.engine.nats.nkeys import KeyedClient, inbox_of
from tests.appliance.command import nakari, started, state_folder
from tests.appliance.machines.households_server import certificate, hang_up_command, household_server, reload_command
from tests.engine_servers import Server, nats_program
from tests.warm_started import WarmStarted

PUBLIC = "UB2RKCA4ZNGJOUBJIE7KTFVBNPVMFP5O3UY2M3FYWWMEZAXVXDZTUFXL"
"""Of a machine that is not there."""

pytestmark = [
    pytest.mark.shows("H10"),
    pytest.mark.skipif(nats_program() is None, reason="there is no nats-server here; scripts/nats fetch gets one"),
]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with household_server(tmp_path / "server") as running:
        yield running


class Machine:
    """A machine's home, with a configuration of its own."""

    def __init__(self, home: Path, server: Server, household: str = "home", name: str = "") -> None:
        self.home, self.server = home, server
        self.state = home / "state"
        self.file = home / "nakari.toml"
        home.mkdir()
        lines = [f'[state]\nfolder = "{self.state}"']
        if name:
            lines += [f'[machines]\nurl = "{server.url}"\nname = "{name}"\nhousehold = "{household}"']
            lines += [f'ca = "{server.folder}/server.pem"\nusers = "{server.folder}/{household}.users"']
        self.file.write_text("\n".join(lines) + "\n")

    async def run(self, *arguments: str) -> tuple[int, str, str]:
        """Run a command to its end: code, what it wrote, what it complained about."""
        done = await asyncio.to_thread(nakari, self.home, "--config", self.file, *arguments)
        return done.returncode, done.stdout, done.stderr

    async def invite(self, name: str, *more: str) -> tuple[WarmStarted, str]:
        """Start to invite; return the process that waits, and the invitation."""
        told = ("--reload", reload_command(self.server.folder), *more)
        process = await started(self.home, "--config", self.file, "machines", "invite", name, *told)
        line = (await process.stdout.readline()).decode()
        assert line.startswith("nakari join "), (await process.stderr.read()).decode()
        return process, line.removeprefix("nakari join ").strip()

    def engine(self, household: str = "home") -> NatsEngine:
        """Return an engine with the login that was kept."""
        login = Login(credentials=self.state / "machine.nk", authority=self.server.folder / "server.pem")
        made = engine_at(self.server.url, household, login)
        assert isinstance(made, NatsEngine)
        return made


async def joined(server: Server, tmp_path: Path, role: str = "ears") -> tuple[Machine, Machine]:
    """Return the machine that invited and the one that joined."""
    mind, ears = Machine(tmp_path / "mind", server, name="mind"), Machine(tmp_path / "ears", server)
    process, line = await mind.invite("kitchen", "--role", role)
    code, _, said = await ears.run("join", line, "--ca", str(server.folder / "server.pem"))
    assert code == 0, said
    assert await process.wait() == 0
    return mind, ears


async def test_a_machine_joins_by_an_invitation_once(server: Server, tmp_path: Path) -> None:
    mind, ears = Machine(tmp_path / "mind", server, name="mind"), Machine(tmp_path / "ears", server)
    late = Machine(tmp_path / "late", server)
    authority = ("--ca", str(server.folder / "server.pem"))
    process, line = await mind.invite("kitchen")
    code, said, wrong = await ears.run("join", line, *authority)
    assert code == 0, wrong
    assert "next: `nakari doctor`, then `nakari run` (role ears)" in said
    out, _ = await process.communicate()
    assert (process.returncode, "kitchen has joined" in out.decode()) == (0, True)
    written = ears.file.read_text()
    assert 'role = "ears"' in written
    assert 'name = "kitchen"' in written
    seed = (ears.state / "machine.nk").read_text()
    assert seed not in written
    assert stat.S_IMODE((ears.state / "machine.nk").stat().st_mode) == 0o600
    users = (server.folder / "home.users").read_text()
    assert public_of(seed) in users
    assert 'until": 0.0' in users
    code, _, said = await late.run("join", line, *authority)
    assert (code, "does not know this invitation: it was used" in said) == (77, True)
    assert not (late.state / "machine.nk").exists()
    code, _, said = await ears.run("join", line, *authority)
    assert (code, "this machine has joined already" in said) == (2, True)
    code, _, said = await mind.run("machines", "invite", "Kitchen")
    assert (code, "there is a machine Kitchen already" in said) == (2, True)
    assert stat.S_IMODE((server.folder / "home.users").stat().st_mode) == 0o644


async def test_what_is_wrong_with_an_invitation_is_one_sentence(server: Server, tmp_path: Path) -> None:
    new = Machine(tmp_path / "new", server)
    authority = ("--ca", str(server.folder / "server.pem"))
    never = Invitation.make(server.url, "home", "kitchen", "ears")
    mistyped = str(never).replace("/home/", "/hone/")
    away = Invitation.make("tls://127.0.0.1:1", "home", "kitchen", "ears")
    for arguments, code, sentence in (
        ((mistyped, *authority), 2, "the invitation is mistyped"),
        (("tls://a/b/c",), 2, "this is no invitation"),
        (("garbage",), 2, "this is neither an invitation nor a URL"),
        ((str(never), *authority), 77, "does not know this invitation"),
        ((str(away), *authority), 69, "tls://127.0.0.1:1 does not answer"),
        ((str(never),), 69, "is not trusted"),
        ((server.url,), 2, "a URL comes with --creds or with --user"),
        (("http://server", "--user", "me"), 2, "should begin with nats://"),
    ):
        ended, _, said = await new.run("join", *arguments)
        assert (ended, sentence in said, said.count("\n")) == (code, True, 1), (arguments, said)
        assert not (new.state / "machine.nk").exists()


async def test_an_invitation_that_is_over_lets_nobody_in(server: Server, tmp_path: Path) -> None:
    mind, new = Machine(tmp_path / "mind", server, name="mind"), Machine(tmp_path / "new", server)
    process, line = await mind.invite("kitchen", "--seconds", "1")
    _, said = await process.communicate()
    assert (process.returncode, b"nobody came in time" in said) == (1, True)
    code, _, told = await new.run("join", line, "--ca", str(server.folder / "server.pem"))
    assert (code, "does not know this invitation" in told) == (77, True)


async def test_a_machine_that_was_taken_out_is_refused(server: Server, tmp_path: Path) -> None:
    mind, ears = await joined(server, tmp_path)
    told = ("--reload", reload_command(server.folder))
    assert (await mind.run("machines", "remove", "bedroom", *told))[0] == 66
    code, said, _ = await mind.run("machines", "remove", "kitchen", *told)
    assert (code, "kitchen is taken out" in said) == (0, True)
    with pytest.raises(nats.errors.Error):
        await (await connected(ears, server)).flush(1)


async def test_a_name_is_invited_once_at_a_time_and_others_beside_it(server: Server, tmp_path: Path) -> None:
    mind, bath = Machine(tmp_path / "mind", server, name="mind"), Machine(tmp_path / "bath", server)
    with mind.file.open("a") as file:
        file.write('[mind]\ntimezone = "Asia/Kathmandu"\n')
    waiting, _ = await mind.invite("kitchen")
    code, _, said = await mind.run("machines", "invite", "Kitchen", "--reload", reload_command(server.folder))
    (guest,) = [user for user in UsersFile(server.folder / "home.users", "home").read() if user.until]
    until = datetime.fromtimestamp(guest.until, ZoneInfo("Asia/Kathmandu"))
    words = f"Kitchen is invited already, until {until:%H:%M}; "
    assert (code, words in said, said.count("\n")) == (2, True, 1), said
    process, line = await mind.invite("bath")
    assert (await bath.run("join", line, "--ca", str(server.folder / "server.pem")))[0] == 0
    assert await process.wait() == 0
    names = [user.name for user in UsersFile(server.folder / "home.users", "home").read()]
    assert sorted(names) == ["bath", "kitchen", "mind"], "the invitation that is open holds"
    waiting.send_signal(signal.SIGINT)
    await waiting.wait()
    names = [user.name for user in UsersFile(server.folder / "home.users", "home").read()]
    assert sorted(names) == ["bath", "mind"], "and who has joined meanwhile stays"


@pytest.mark.parametrize("ends", [signal.SIGTERM, signal.SIGHUP])
async def test_an_invitation_that_is_ended_from_outside_leaves_its_name_free(
    server: Server, tmp_path: Path, ends: signal.Signals
) -> None:
    mind = Machine(tmp_path / "mind", server, name="mind")
    process, _ = await mind.invite("kitchen")
    process.send_signal(ends)
    assert await process.wait() == -ends
    assert "kitchen" not in (server.folder / "home.users").read_text()


async def test_a_machine_that_is_given_a_login_takes_no_name_that_is_there(server: Server, tmp_path: Path) -> None:
    mind, other = await joined(server, tmp_path)
    twin, kept = Machine(tmp_path / "twin", server), (other.state / "machine.nk")
    with twin.file.open("a") as file:
        file.write('[machines]\nname = "Kitchen"\n')
    living, over = mind.engine(), asyncio.Event()

    async def live() -> None:
        while not over.is_set():
            await living.topics.publish(PRESENCE, pack(Presence("kitchen", "ears")))
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), 0.2)

    given = ("join", server.url, "--creds", str(kept), "--ca", str(server.folder / "server.pem"))
    try:
        await living.open()
        async with asyncio.TaskGroup() as group:
            group.create_task(live())
            code, _, said = await twin.run(*given)
            over.set()
    finally:
        await living.close()
    assert (code, "there is a machine Kitchen already" in said, said.count("\n")) == (2, True, 1), said
    assert not (twin.state / "machine.nk").exists()
    assert server.url not in twin.file.read_text()
    assert (await twin.run(*given))[0] == 0, "a machine that is away has no claim"


async def test_neither_this_machine_nor_the_one_that_leads_is_taken_out(server: Server, tmp_path: Path) -> None:
    mind, other = await joined(server, tmp_path, "mind")
    told = ("--reload", reload_command(server.folder))
    before = (server.folder / "home.users").read_text()
    code, _, said = await mind.run("machines", "remove", "MIND", *told)
    assert (code, said.count("\n"), "mind is this machine" in said) == (2, 1, True), said
    leading, over = other.engine(), asyncio.Event()

    async def lead() -> None:
        while not over.is_set():
            await leading.topics.publish(PRESENCE, pack(Presence("kitchen", "mind", epoch=3)))
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), 0.2)

    try:
        await leading.open()
        async with asyncio.TaskGroup() as group:
            group.create_task(lead())
            code, _, said = await mind.run("machines", "remove", "Kitchen", *told)
            over.set()
    finally:
        await leading.close()
    assert (code, said.count("\n"), "by `nakari handover`" in said) == (2, 1, True), said
    assert (server.folder / "home.users").read_text() == before
    assert (await mind.run("machines", "remove", "kitchen", *told))[0] == 0


async def test_an_invitation_lets_this_machine_in_again_with_the_key_that_it_has(
    server: Server, tmp_path: Path
) -> None:
    mind, _ = await joined(server, tmp_path)
    seed = (mind.state / "machine.nk").read_text()
    users = UsersFile(server.folder / "home.users", "home", "true")
    users.write([user for user in users.read() if user.name != "mind"])
    process, _ = await mind.invite("bath")
    process.terminate()
    _, said = await process.communicate()
    assert b"mind, this machine, had been taken out, and is let in again" in said
    assert public_of(seed) in (server.folder / "home.users").read_text()
    assert (mind.state / "machine.nk").read_text() == seed


async def test_a_server_that_is_not_told_leaves_all_as_it_was(server: Server, tmp_path: Path) -> None:
    mind = Machine(tmp_path / "mind", server, name="mind")
    before = UsersFile(server.folder / "home.users", "home").read()
    code, _, said = await mind.run("machines", "invite", "kitchen", "--reload", "false")
    assert (code, "nobody is let in: `false` failed" in said) == (69, True), said
    assert UsersFile(server.folder / "home.users", "home").read() == before
    assert not (mind.state / "machine.nk").exists()


async def test_ears_may_do_what_ears_need_and_no_more(server: Server, tmp_path: Path) -> None:
    mind, ears = await joined(server, tmp_path)
    thinking, hearing = mind.engine(), ears.engine()
    try:
        await thinking.open()
        await thinking.log.append(b"a secret", after=0, id="first")
        await thinking.inbox("mind").put(b"before", id="before")
        await hearing.open()
        await hearing.inbox("mind").put(b"turn", id="turn")
        assert await thinking.inbox("mind").waiting() == 2
        async with thinking.topics.subscribe("presence") as heard:
            await hearing.topics.publish("presence", b"here")
            assert (await anext(aiter(heard))).data == b"here"
        async with hearing.topics.serve("ears.kitchen") as asked:

            async def answer() -> None:
                await (await anext(aiter(asked))).answer(b"taken")

            told, _ = await asyncio.gather(thinking.topics.request("ears.kitchen", b"sentence"), answer())
            assert told == b"taken"
        assert [each for each in await hearing.check() if "permit" in each] == []
    finally:
        await thinking.close()
        await hearing.close()
    client = await connected(ears, server)
    stream = client.jetstream(timeout=1)
    for refused in (
        stream.get_last_msg("nakari_home_log", "nakari.home.log"),
        stream.pull_subscribe("nakari.home.log", stream="nakari_home_log"),
        stream.delete_stream("nakari_home_log"),
        stream.publish("nakari.home.log", b"forged"),
    ):
        with pytest.raises((nats.errors.Error, JetStreamError, asyncio.TimeoutError)):
            await refused
    await client.close()


async def test_ears_hear_their_own_answers_and_no_others(server: Server, tmp_path: Path) -> None:
    mind, ears = await joined(server, tmp_path)
    thinking, hearing = mind.engine(), await connected(ears, server)
    own = inbox_of(public_of((ears.state / "machine.nk").read_text()))
    refusals: list[str] = []
    heard: list[str] = []

    async def refused(error: Exception) -> None:
        refusals.append(str(error))

    async def hear(message: Msg) -> None:
        heard.append(message.subject)

    hearing._error_cb = refused
    try:
        for subject in ("_INBOX.>", "_INBOX.*.*", f"{inbox_of(PUBLIC)}.>", f"{own}.>"):
            await hearing.subscribe(subject, cb=hear)
        await hearing.flush(5)
        async with asyncio.timeout(120):
            while len(refusals) < 3:
                await hearing.flush(5)
        assert [each.count("permissions violation") for each in map(str.lower, refusals)] == [1, 1, 1]
        await thinking.open()
        await thinking.log.append(b"a secret", after=0, id="first")
        assert [each.record for each in await thinking.log.read(0)] == [b"a secret"]
        speaking = await connected(mind, server)
        await speaking.publish(f"{own}.here", b"an answer")
        await speaking.flush(5)
        async with asyncio.timeout(120):
            while not heard:
                await hearing.flush(5)
        await hearing.flush(5)
        assert heard == [f"{own}.here"]
        await speaking.close()
    finally:
        await thinking.close()
        await hearing.close()


async def test_who_serves_is_found_while_the_server_reads_its_configuration_anew(
    server: Server, tmp_path: Path
) -> None:
    mind, ears = await joined(server, tmp_path)
    thinking, hearing = mind.engine(), ears.engine()
    command = hang_up_command(server.folder)

    async def reload() -> None:
        while True:
            await asyncio.to_thread(subprocess.run, command, shell=True, check=True)

    try:
        await thinking.open()
        await hearing.open()
        async with asyncio.TaskGroup() as group:
            reloading = group.create_task(reload())
            for _ in range(400):
                async with hearing.topics.serve("ears.kitchen"), thinking.topics.ask("ears.kitchen", b"sentence"):
                    pass
            reloading.cancel()
    finally:
        await thinking.close()
        await hearing.close()


async def test_a_household_sees_nothing_of_another(server: Server, tmp_path: Path) -> None:
    mind = Machine(tmp_path / "mind", server, name="mind")
    theirs = Machine(tmp_path / "theirs", server, "other", "theirs")
    for each in (mind, theirs):
        process, _ = await each.invite("kitchen")
        process.terminate()
        await process.wait()
    first, second = mind.engine(), theirs.engine("home")  # which asks for the other's by name
    try:
        await first.open()
        await first.log.append(b"a secret", after=0, id="first")
        await second.open()
        assert await second.log.end() == 0
        async with second.topics.subscribe("*") as heard:
            await first.topics.publish("presence", b"ours")
            await second.topics.publish("presence", b"theirs")
            assert (await anext(aiter(heard))).data == b"theirs"
    finally:
        await first.close()
        await second.close()


async def connected(machine: Machine, server: Server) -> Client:
    """Return a bare client with the login that a machine keeps."""
    import ssl

    async def ignore(error: Exception) -> None:
        """Say nothing."""

    client = KeyedClient()
    await client.connect(
        server.url,
        nkeys_seed=str(machine.state / "machine.nk"),
        inbox_prefix=inbox_of(public_of((machine.state / "machine.nk").read_text())),
        tls=ssl.create_default_context(cafile=server.folder / "server.pem"),
        tls_hostname="127.0.0.1",
        allow_reconnect=False,
        error_cb=ignore,
    )
    return client


async def test_redis_has_no_invitations_and_the_command_says_what_to_do(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "nakari.toml").write_text(f'[state]\nfolder = "{home}/state"\n[machines]\nurl = "redis://127.0.0.1:1"\n')
    for told in (("invite", "kitchen"), ("remove", "kitchen")):
        done = await asyncio.to_thread(nakari, home, "--config", home / "nakari.toml", "machines", *told)
        assert (done.returncode, done.stderr.count("\n"), "Redis has users of its own" in done.stderr) == (78, 1, True)
        assert "`nakari join URL --user USER`" in done.stderr


@pytest.mark.parametrize("command", [("-",), ("redis://127.0.0.1:1", "--user", "ears")])
def test_nothing_on_standard_input_joins_nothing_and_keeps_the_login_that_there_is(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    state = state_folder(tmp_path)
    state.mkdir(parents=True)
    (state / "machine.creds").write_text("the old one")
    done = nakari(tmp_path, "join", *command, "--force")
    assert (done.returncode, "standard input" in done.stderr.splitlines()[-1]) == (2, True), done.stderr
    assert [(each.name, each.read_text()) for each in state.iterdir()] == [("machine.creds", "the old one")]


def test_another_login_takes_the_place_of_all_that_were_kept(tmp_path: Path) -> None:
    for name in (SEED, CREDS, PASSWORD):
        keep(tmp_path, name, "old")
    keep_only(tmp_path, CREDS, "new")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [(CREDS, "new")]


def test_the_page_gives_a_configuration_that_the_server_takes(tmp_path: Path) -> None:
    page = (Path(__file__).parents[4] / "docs" / "machines.md").read_text(encoding="utf-8")
    text = page.partition("```\nlisten:")[2].partition("```")[0]
    certificate(tmp_path)
    text = text.replace("/etc/nats.pem", f"{tmp_path}/server.pem").replace("/etc/nats.key", f"{tmp_path}/server.key")
    (tmp_path / "nats-home.users").touch()
    (tmp_path / "nats.conf").write_text(f"listen:{text}")
    tried = subprocess.run(
        [str(nats_program()), "-t", "-c", str(tmp_path / "nats.conf")], capture_output=True, text=True, check=False
    )
    assert tried.returncode == 0, tried.stderr


def test_an_invitation_is_read_as_it_was_written() -> None:
    made = Invitation.make("tls://[fd00::1]:4222", "home", "kitchen", "ears")
    read = read_invitation(f" {made}\n")
    assert (read, read.seed) == (made, made.seed)
    assert made.key not in repr(json.dumps(permissions_of(User("kitchen", "ears", public_of(made.seed), 1.0), "home")))
