"""Keys as NATS has them, by a pair that its own tools made."""

import asyncio

import pytest

from memory.engine.nats.nkeys import KeyedClient, UserKey, in_credentials

SEED = "SUAG4YLLMFZGSIDUMVZXI4ZAMEQGWZLZEBXWMIDUNBUXE5DZOR3W6IOMZE"
PUBLIC = "UB2RKCA4ZNGJOUBJIE7KTFVBNPVMFP5O3UY2M3FYWWMEZAXVXDZTUFXL"

CREDENTIALS = f"""-----BEGIN NATS USER JWT-----
eyJ0eXAi.eyJqdGki.c2ln
------END NATS USER JWT------

************************* IMPORTANT *************************
-----BEGIN USER NKEY SEED-----
{SEED}
------END USER NKEY SEED------
"""


@pytest.mark.shows("E11")
def test_a_seed_is_read_and_written_as_the_tools_of_nats_do() -> None:
    key = UserKey.of_seed(SEED)
    assert (key.seed, key.public) == (SEED, PUBLIC)
    assert in_credentials(CREDENTIALS) == ("eyJ0eXAi.eyJqdGki.c2ln", key)


@pytest.mark.parametrize("seed", ["", "SU", PUBLIC, SEED[:-1] + "Z", SEED[:-6], "not base32 at all!", "字"])
def test_what_is_no_seed_is_refused(seed: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        UserKey.of_seed(seed)


@pytest.mark.parametrize("text", ["", SEED, CREDENTIALS.replace("JWT", "TOKEN"), CREDENTIALS.replace(SEED, "")])
def test_credentials_without_a_part_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        in_credentials(text)


async def test_what_was_asked_for_comes_to_the_server_before_the_ping_of_a_flush() -> None:
    lines: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'INFO {"server_id": "s", "version": "2.12.1", "max_payload": 1048576}\r\n')
        async for line in reader:
            lines.append(line.strip())
            if line.startswith(b"PING"):
                writer.write(b"PONG\r\n")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        client = KeyedClient()
        await client.connect(f"nats://127.0.0.1:{port}", allow_reconnect=False)
        await client.subscribe("presence")
        await client.flush()
        assert lines[-2:] == [b"SUB presence  1", b"PING"]
        await client.close()
