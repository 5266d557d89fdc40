"""https for real: a client that checks the certificate, and a certificate that is renewed while it runs."""

import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
import websockets
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from structlog.testing import capture_logs

from appliance.config.network.http import HttpSettings
from appliance.errors import Problem
from appliance.http.listening.tls import LOOK_SECONDS, Certificate
from tests.appliance.http.served import Clock, serving

pytestmark = pytest.mark.shows("F25")


def write_certificate(folder: Path, name: str = "box", days: int = 30, names: Sequence[str] = ("nakari.home",)) -> None:
    """Write a certificate for 127.0.0.1 and some names, which is its own authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=100))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.IPAddress(ip_address("127.0.0.1")), *(x509.DNSName(each) for each in names)]
            ),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    (folder / "box.key").write_bytes(key.private_bytes(pem, pkcs8, serialization.NoEncryption()))
    (folder / "box.pem").write_bytes(made.public_bytes(pem))


def trusting(folder: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(folder / "box.pem"))


async def test_a_client_that_checks_comes_in_and_a_renewed_certificate_is_taken_up(tmp_path: Path) -> None:
    write_certificate(tmp_path, "first")
    clock = Clock()
    certificate = Certificate(tmp_path / "box.pem", tmp_path / "box.key", clock)
    async with serving(tmp_path, HttpSettings(), tls=certificate.context) as box:
        url, first = f"https://127.0.0.1:{box.port}", trusting(tmp_path)
        async with httpx.AsyncClient(verify=first, base_url=url) as program:
            assert (await program.get("/whoami")).json() == {"owner": "household"}
            own = {"Origin": url}
            assert (await program.get("/whoami", headers=own)).status_code == 200
            assert (await program.get("/whoami", headers={"Origin": url.replace("https", "http")})).status_code == 403
            entered = await program.post("/login", json={"token": box.tokens.create("phone")})
            assert "; Secure" in entered.headers["set-cookie"]
        async with websockets.connect(f"wss://127.0.0.1:{box.port}/ws", ssl=first) as socket:
            assert await socket.recv() == "household"
        write_certificate(tmp_path, "second")
        clock.now += LOOK_SECONDS
        with capture_logs() as logs:
            async with httpx.AsyncClient(verify=trusting(tmp_path), base_url=url) as program:
                assert (await program.get("/whoami")).status_code == 200
        assert [line["event"] for line in logs] == ["certificate_renewed"]
        async with httpx.AsyncClient(verify=first, base_url=url) as program:
            with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
                await program.get("/whoami")


async def test_half_of_a_renewed_certificate_leaves_the_one_before(tmp_path: Path) -> None:
    write_certificate(tmp_path, "first")
    first, clock = trusting(tmp_path), Clock()
    certificate = Certificate(tmp_path / "box.pem", tmp_path / "box.key", clock)
    async with serving(tmp_path, tls=certificate.context) as box:
        (tmp_path / "other").mkdir()
        write_certificate(tmp_path / "other", "second")
        only_half = partial((tmp_path / "other" / "box.pem").rename, tmp_path / "box.pem")
        for broken in (only_half, (tmp_path / "box.key").unlink):
            broken()
            clock.now += LOOK_SECONDS
            with capture_logs() as logs:
                async with httpx.AsyncClient(verify=first, base_url=f"https://127.0.0.1:{box.port}") as program:
                    assert (await program.get("/whoami")).status_code == 200
            assert [line["event"] for line in logs] == ["certificate_not_renewed"]


async def test_http_to_https_is_no_answer_and_harms_nobody(tmp_path: Path) -> None:
    write_certificate(tmp_path)
    certificate = Certificate(tmp_path / "box.pem", tmp_path / "box.key", Clock())
    async with serving(tmp_path, tls=certificate.context) as box:
        async with box.client() as program:
            with pytest.raises(httpx.TransportError):
                await program.get("/whoami")
        async with httpx.AsyncClient(verify=trusting(tmp_path), base_url=f"https://127.0.0.1:{box.port}") as program:
            assert (await program.get("/whoami")).status_code == 200


def test_a_certificate_that_cannot_be_used_is_one_sentence(tmp_path: Path) -> None:
    certificate, key = tmp_path / "box.pem", tmp_path / "box.key"
    with pytest.raises(Problem, match=r"the certificate of \[http\] cannot be used \(.*box.pem: No such file"):
        Certificate(certificate, key, Clock())
    write_certificate(tmp_path)
    kept = key.read_bytes()
    key.write_text("no key")
    with pytest.raises(Problem, match="cannot be used"):
        Certificate(certificate, key, Clock())
    loaded = serialization.load_pem_private_key(kept, None)
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    key.write_bytes(loaded.private_bytes(pem, pkcs8, serialization.BestAvailableEncryption(b"secret")))
    with pytest.raises(Problem, match="it is behind a password"):
        Certificate(certificate, key, Clock())
