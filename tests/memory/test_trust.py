"""A household's own authority is trusted by every client, as soon as the machine trusts it; else the fix is told."""

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.processes import child

CLIENTS = ["thin", "litellm", "anthropic", "embedder", "speech", "hearing", "mcp", "home", "calendar", "pages"]

CONFIGURED = [name for name in CLIENTS if name not in {"litellm", "anthropic", "pages"}]
"""Whose own sentence tells of it: litellm's is the thin client's, and nobody here mends the internet's pages."""


def authority(folder: Path) -> ssl.SSLContext:
    """Write `home-ca.pem`; return what a server at 127.0.0.1 shows whose certificate it has signed."""
    own, key, now = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    home = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "home")])
    server = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
    begin, end = now - timedelta(days=1), now + timedelta(days=2)

    def signed(subject: x509.Name, public: ec.EllipticCurvePublicKey, more: x509.ExtensionType, ca: bool) -> bytes:
        made = x509.CertificateBuilder(home, subject, public, x509.random_serial_number(), begin, end)
        made = made.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        return made.add_extension(more, critical=False).sign(own, hashes.SHA256()).public_bytes(Encoding.PEM)

    known_as = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    key_id = x509.SubjectKeyIdentifier.from_public_key(own.public_key())
    (folder / "home-ca.pem").write_bytes(signed(home, own.public_key(), key_id, ca=True))
    shown = signed(server, key.public_key(), known_as, ca=False)
    (folder / "server.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + shown)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "server.pem")
    return tls


@asynccontextmanager
async def listening(tls: ssl.SSLContext, asked: set[str]) -> AsyncIterator[str]:
    """Refuse every request; `asked` gets the first part of each path."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.add((await reader.readline()).decode().partition("/")[2].split("/")[0].split(" ")[0])
        writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0, ssl=tls) as server:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def told_by_clients(url: str, names: Sequence[str], **environment: str) -> dict[str, str]:
    async with child("tests.memory.trusting_program", url, *names, **environment) as program:
        lines = await program.lines()
    return dict(line.split("\t", 1) for line in lines if "\t" in line)


async def test_every_client_trusts_the_authority_that_the_machine_trusts(tmp_path: Path) -> None:
    asked: set[str] = set()
    async with listening(authority(tmp_path), asked) as url:
        told = await told_by_clients(url, CLIENTS, SSL_CERT_FILE=str(tmp_path / "home-ca.pem"))
    assert [*told] == CLIENTS, told
    assert asked == {*CLIENTS}, told


async def test_a_certificate_of_an_unknown_authority_is_told_with_the_fix(tmp_path: Path) -> None:
    asked: set[str] = set()
    async with listening(authority(tmp_path), asked) as url:
        told = await told_by_clients(url, CONFIGURED)
    assert not asked
    for name in CONFIGURED:
        assert "certificate that is not trusted" in told[name], told
        assert "update-ca-certificates, or SSL_CERT_FILE" in told[name], told
