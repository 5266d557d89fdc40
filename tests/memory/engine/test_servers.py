"""What the doctor is told of real servers: settings, versions, logins, certificates; and who sees whom."""

import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memory.engine.access import Login, address, engine_at
from memory.engine.interface import Engine
from memory.errors import EngineRefused
from tests.engine_servers import Server, knows_sync, nats_program, nats_server, redis_server

pytestmark = pytest.mark.shows("H10")


@asynccontextmanager
async def engine(server: Server, login: Login = Login(), scheme: str = "") -> AsyncIterator[Engine]:  # noqa: B008
    """Give an engine that was not opened yet, on a server that is started."""
    server.start()
    made = engine_at(server.url.replace("nats", scheme) if scheme else server.url, "home", login)
    try:
        yield made
    finally:
        await made.close()
        server.kill()


async def test_nats_as_it_should_be_has_no_problems(tmp_path: Path) -> None:
    async with engine(nats_server(tmp_path)) as made:
        is_new = knows_sync(nats_program() or "")
        # Whether it syncs is measured, and a disk in memory syncs in no time.
        problems = [each for each in await made.check() if "sync_interval: always" not in each]
        assert problems == [] if is_new else "update nats-server" in problems[0]


async def test_nats_without_jetstream_is_told_with_its_fix(tmp_path: Path) -> None:
    accounts = "accounts { A { jetstream: disabled, users: [{user: a, password: b}] } }"
    async with engine(nats_server(tmp_path, accounts), Login(user="a", password="b")) as made:
        assert "jetstream" in (await made.check())[0]
        with pytest.raises(EngineRefused, match="jetstream"):
            await made.open()


async def test_redis_that_does_not_sync_is_told_with_its_fix(tmp_path: Path) -> None:
    lax = ("--appendfsync", "everysec", "--maxmemory-policy", "allkeys-lru")
    async with engine(redis_server(tmp_path, *lax)) as made:
        problems = await made.check()
        assert [each.rpartition("; ")[2] for each in problems] == [
            "set appendfsync always in its configuration",
            "set maxmemory-policy noeviction in its configuration",
        ]


@pytest.mark.parametrize("kind", ["nats", "redis"])
async def test_a_wrong_login_is_refused_with_its_fix(kind: str, tmp_path: Path) -> None:
    if kind == "nats":
        server = nats_server(tmp_path, "authorization { user: home, password: right }")
    else:
        server = redis_server(tmp_path, "--requirepass", "right")
    user = "home" if kind == "nats" else ""
    async with engine(server, Login(user=user, password="wrong")) as made:
        with pytest.raises(EngineRefused, match="set its login"):
            await made.open()
        assert "set its login" in (await made.check())[0]
    async with engine(server, Login(user=user, password="right")) as made:
        await made.open()
        assert "right" not in await made.describe()


async def test_two_accounts_on_one_server_do_not_see_one_another(tmp_path: Path) -> None:
    accounts = "\n".join(f"  {n} {{ jetstream: enabled, users: [{{user: {n}, password: p}}] }}" for n in ("one", "two"))
    server = nats_server(tmp_path, f"accounts {{\n{accounts}\n}}")
    async with engine(server, Login(user="one", password="p")) as one:
        other = engine_at(server.url, "home", Login(user="two", password="p"))
        try:
            await one.log.append(b"ours", after=0, id="ours")
            await one.keys.create("lease", b"ours")
            assert await other.log.end() == 0
            assert await other.keys.get("lease") is None
        finally:
            await other.close()


async def test_households_on_one_server_do_not_mix(tmp_path: Path) -> None:
    server = redis_server(tmp_path)
    async with engine(server) as one:
        other = engine_at(server.url, "other", Login())
        await one.log.append(b"ours", after=0, id="ours")
        assert await other.log.end() == 0
        await other.close()


def authority(folder: Path) -> Path:
    """Make a certificate for 127.0.0.1 that signs itself; return its file, with the key beside it."""
    certificate = folder / "server.pem"
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(folder / "server.key"))
    name = ("-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1")
    command = ["openssl", "req", "-x509", "-days", "2", *key, *name, "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return certificate


async def test_tls_is_checked_by_the_authority_that_was_named(tmp_path: Path) -> None:
    certificate = authority(tmp_path)
    server = nats_server(tmp_path, f'tls {{ cert_file: "{certificate}", key_file: "{tmp_path / "server.key"}" }}')
    async with engine(server, Login(authority=certificate), "tls") as made:
        await made.log.append(b"sealed", after=0, id="sealed")
        stranger = engine_at(server.url.replace("nats", "tls"), "home", Login())
        with pytest.raises(EngineRefused, match="is not trusted"):
            await stranger.open()
        await stranger.close()


async def test_redis_with_tls_is_checked_alike(tmp_path: Path) -> None:
    certificate = authority(tmp_path)
    server = redis_server(tmp_path, "--tls-auth-clients", "no")
    server.secure(certificate, tmp_path / "server.key")
    async with engine(server, Login(authority=certificate)) as made:
        await made.log.append(b"sealed", after=0, id="sealed")
        stranger = engine_at(server.url, "home", Login())
        with pytest.raises(EngineRefused, match="is not trusted"):
            await stranger.open()
        await stranger.close()


@pytest.mark.parametrize(
    "url", ["http://host", "nats://", "host:4222", "redis://user:secret@host/path", "nats://h:port"]
)
def test_a_url_that_is_none_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(EngineRefused, match="nats://HOST") as refused:
        engine_at(url, "home", Login())
    assert "secret" not in str(refused.value)


def test_a_url_is_taken_apart() -> None:
    found = address("rediss://me:p%40ss@[::1]")
    assert (found.url, found.user, found.password, found.is_secure) == ("rediss://[::1]:6379", "me", "p@ss", True)
