"""A real NATS server with TLS and an account for each of two households, as docs/machines.md describes it."""

import datetime
import ipaddress
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.engine_servers import Server, nats_server

ACCOUNTS = """accounts {{
  SYS {{ users = [ {{ user: "operator", password: "kept by the operator" }} ] }}
  home {{ jetstream: enabled, include "home.users" }}
  other {{ jetstream: enabled, include "other.users" }}
}}
system_account: SYS
tls {{ cert_file: "{folder}/server.pem", key_file: "{folder}/server.key" }}
pid_file: "{folder}/server.pid"
"""


def certificate(folder: Path) -> None:
    """Write server.pem and server.key, signed by itself for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nakari test")])
    start = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=10))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "server.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    pem = serialization.PrivateFormat.PKCS8
    (folder / "server.key").write_bytes(key.private_bytes(serialization.Encoding.PEM, pem, plain))


def _set_up(folder: Path) -> Server:
    folder.mkdir()
    certificate(folder)
    for household in ("home", "other"):
        (folder / f"{household}.users").write_text("users = []\n")
    server = nats_server(folder, ACCOUNTS.format(folder=folder))
    server.url = server.url.replace("nats://", "tls://")
    return server


@asynccontextmanager
async def household_server(folder: Path) -> AsyncIterator[Server]:
    """Run the server; its folder has home.users, other.users and server.pem, its URL begins with tls://."""
    server = _set_up(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def hang_up_command(folder: Path) -> str:
    """Return the command that tells it to read its configuration anew, and does not wait for that."""
    return f"kill -HUP $(cat {folder}/server.pid)"


def reload_command(folder: Path) -> str:
    """Return the command by which it reads its configuration anew, and which ends when it has, or after 20 s."""
    read = f"grep -c Reloaded {folder}/server.log"
    wait = f"for n in $(seq 400); do [ $({read}) -gt $before ] && break; sleep 0.05; done"
    return f'sh -c "before=$({read}); {hang_up_command(folder)}; {wait}"'
