"""What is wrong with an address is told as what it is, with the mend: TLS, a move, a page in place of a model."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agent.errors import ModelError, ModelRefused, ModelUnavailable
from agent.model.faults import refused
from agent.model.interface import Answer, ChatModel
from agent.model.litellm import LiteLlmModel
from agent.model.messages import Message
from agent.model.ollama import OllamaModel
from agent.model.openai_compatible import OpenAiCompatibleModel
from tests.agent.openai_server import OpenAiServer, Scripted, chunk, stream, text

pytestmark = pytest.mark.shows("F6")

HELLO = [Message("user", "hello")]
KEY = "sk-very-secret"


def thin(url: str) -> ChatModel:
    return OpenAiCompatibleModel(url, "m", KEY)


def litellm(url: str) -> ChatModel:
    return LiteLlmModel("openai/m", KEY, url)


def ollama(url: str) -> ChatModel:
    return OllamaModel(url.removesuffix("/v1"), "m")


async def answer_of(model: ChatModel) -> str:
    try:
        last = [item async for item in model.stream(HELLO, [])][-1]
    finally:
        await model.aclose()
    assert isinstance(last, Answer)
    return last.message.content


async def failure_of(model: ChatModel) -> ModelError:
    with pytest.raises(ModelError) as raised:
        await answer_of(model)
    return raised.value


def self_signed(folder: Path) -> ssl.SSLContext:
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "box")])
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(1))
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    both = key.private_bytes(pem, pkcs8, serialization.NoEncryption())
    both += made.sign(key, hashes.SHA256()).public_bytes(pem)
    (folder / "both.pem").write_bytes(both)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "both.pem")
    return context


async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    writer.close()


@asynccontextmanager
async def listening(tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    async with await asyncio.start_server(refuse, "127.0.0.1", 0, ssl=tls) as server:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


@pytest.mark.parametrize("made", [thin, litellm])
async def test_a_certificate_that_nobody_trusts_is_named(made: Callable[[str], ChatModel], tmp_path: Path) -> None:
    async with listening(self_signed(tmp_path)) as url:
        failure = await failure_of(made(url))
    assert "has a certificate that is not trusted (self-signed certificate)" in str(failure)
    assert "start that server" not in str(failure)


@pytest.mark.parametrize("made", [thin, litellm])
async def test_https_where_http_is_spoken_is_named(made: Callable[[str], ChatModel]) -> None:
    async with listening() as url:
        failure = await failure_of(made(url))
    assert "does not speak TLS: write http:// in place of https://" in str(failure)


def moving(status: int, where: str) -> Scripted:
    return Scripted((), status, {"Location": where})


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_request_is_sent_on_within_the_same_server(status: int) -> None:
    async with OpenAiServer(pages={"/v1/chat/completions": moving(status, "/v2/chat/completions")}) as server:
        server.enqueue(text("Hello."))
        assert await answer_of(thin(server.url)) == "Hello."
    assert server.requests[0].path == "/v2/chat/completions"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.requests[0].json["messages"]


@pytest.mark.parametrize("where", ["http://localhost:{}/v1/chat/completions", "http://[bad/v1/chat/completions"])
async def test_nobody_else_is_sent_the_key(where: str) -> None:
    async with OpenAiServer() as other, OpenAiServer() as server:
        server.enqueue(moving(307, where.format(other.port)))
        failure = await failure_of(thin(server.url))
    assert isinstance(failure, ModelRefused)
    address = where.format(other.port).removesuffix("/chat/completions")
    assert f"has moved to {address}: correct its address" in str(failure)
    assert other.connections == 0


async def test_a_server_that_sends_on_without_end_is_given_up() -> None:
    async with OpenAiServer() as server:
        server.default = lambda _: moving(307, "/v1/chat/completions")
        failure = await failure_of(thin(server.url))
    assert "has moved to /v1: correct its address" in str(failure)


async def test_a_page_where_a_model_should_answer_is_told_by_its_title() -> None:
    login = b"<!DOCTYPE html><html><head><title>Router login</title></head><body>Please log in</body></html>"
    async with OpenAiServer() as server:
        server.enqueue(Scripted((login,), headers={"Content-Type": "text/html"}))
        failure = await failure_of(thin(server.url))
    assert type(failure) is ModelUnavailable
    assert "is a web page (Router login): correct the address, or log in" in str(failure)


SCRIPT = b"\n<script>location.href='http://192.168.0.1/login'</script>"
LATIN_1 = b"<!DOCTYPE html><title>G\xe4ste</title>"


@pytest.mark.parametrize(
    ("made", "body", "told"),
    [
        (thin, SCRIPT, "is a web page: correct the address, or log in to the network"),
        (ollama, b"<!DOCTYPE html><title>Router login</title>", "is a web page (Router login): correct the address"),
        (litellm, SCRIPT, "broke off before it began (is a login page in between, or another program"),
        (litellm, LATIN_1, "is a web page (G\ufffdste): correct the address"),
        (litellm, b'data: {"choices": [{"delta": {"content": "\xff"}}]}\n\n', "holds bytes that are no text in UTF-8"),
    ],
)
async def test_what_is_no_answer_is_told_by_each_adapter(
    made: Callable[[str], ChatModel], body: bytes, told: str
) -> None:
    async with OpenAiServer(pages={"/api/chat": Scripted((body,))}) as server:
        server.default = lambda _: Scripted((body,), headers={"Content-Type": "text/html"})
        failure = await failure_of(made(server.url))
    assert told in str(failure)


async def test_a_stream_that_is_called_a_page_is_read() -> None:
    steps = stream(chunk({"content": "<html> is a tag."}), chunk({}, "stop")).steps
    async with OpenAiServer() as server:
        server.enqueue(Scripted(steps, headers={"Content-Type": "text/html"}))
        assert await answer_of(thin(server.url)) == "<html> is a tag."


def test_a_key_that_gemini_refuses_with_400_is_a_key() -> None:
    body = b'[{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}]'
    sentence = str(refused("gemini", 400, body))
    assert sentence.startswith("gemini rejects the API key (API key not valid. Please pass a valid API key.): correct")


def test_a_page_of_an_error_is_its_title() -> None:
    body = b"<html>\r\n<head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>"
    assert "HTTP 502 (502 Bad Gateway): ask again later" in str(refused("m", 502, body))
