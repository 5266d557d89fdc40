"""Any server that speaks OpenAI's transcription interface: OpenAI, Groq, speaches, vLLM, LocalAI, whisper.cpp."""

import json
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from audio.complaint import complaint_of, in_a_line
from audio.egress import SendsTo
from audio.errors import RecognitionFailed
from audio.pcm import SAMPLE_RATE, Samples, wav_header
from audio.recognizer.faster_whisper import Hotwords, fitting, no_hotwords, reads_out
from audio.speech import Transcript, Utterance
from audio.trust import tls_fault, trust_for

if TYPE_CHECKING:
    import httpx

MOST_ANSWER: Final = 1_000_000
"""Bytes; a verbose answer about the longest turn has some 20 kB."""

MOST_PROMPT: Final = 200
"""Bytes of names: about the 64 tokens that Whisper gets here (`MOST_HOTWORD_TOKENS`), of which a server's count is its
own."""

CONNECT_SECONDS: Final = 1.5
KEEP_ALIVE: Final = 60.0
"""Seconds that an idle connection is kept, as servers commonly do."""

FORMS: Final[Sequence[Mapping[str, str]]] = (
    {"response_format": "verbose_json"},
    {"response_format": "json", "include[]": "logprobs"},
    {"response_format": "json"},
    {"response_format": "text"},
)
"""What is asked for, the one with the most evidence first. OpenAI's newer models refuse the first and know the second;
servers that know neither are rare, and find their own among the rest."""

REFUSES_FORM: Final = {400, 415, 422, 501}
NOT_THERE: Final = {404, 405}

_NAMES: Final = (
    "english:en,chinese:zh,german:de,spanish:es,russian:ru,korean:ko,french:fr,japanese:ja,portuguese:pt,turkish:tr,"
    "polish:pl,dutch:nl,arabic:ar,swedish:sv,italian:it,indonesian:id,hindi:hi,finnish:fi,vietnamese:vi,hebrew:he,"
    "ukrainian:uk,greek:el,malay:ms,czech:cs,romanian:ro,danish:da,hungarian:hu,tamil:ta,norwegian:no,thai:th,urdu:ur,"
    "croatian:hr,bulgarian:bg,lithuanian:lt,slovak:sk,persian:fa,latvian:lv,bengali:bn,serbian:sr,slovenian:sl,"
    "estonian:et,catalan:ca,welsh:cy,icelandic:is,galician:gl,basque:eu,afrikaans:af,swahili:sw,tagalog:tl"
)
LANGUAGES: Final = {name: code for name, _, code in (each.partition(":") for each in _NAMES.split(","))}
"""What a verbose answer names in English, as ISO 639-1 (names as in openai/whisper, `tokenizer.py`)."""


class OpenAiRecognizer:
    """A `RemoteRecognizer` over HTTP: one request an utterance, mono 16-bit WAV, on a connection that is kept.

    The names to be expected go along as prompt. Where the answer only reads them out, it is asked again without. Which
    path and which form of answer the server knows is found out with the first utterances, and kept.
    """

    def __init__(
        self, url: str, model: str, key: str = "", language: str = "", hotwords: Hotwords = no_hotwords
    ) -> None:
        """`url` is the API's root, with or without /v1; `language` is ISO 639-1, "" to have it found out."""
        address = urlsplit(url)
        self.name = f"openai:{model or address.netloc}"
        self.sends_to = sent_to(address.netloc, hotwords)
        self._host = address.netloc
        self._model = model
        self._key = key
        self._language = language
        self._hotwords = hotwords
        self._heard_language = ""
        """What the last words were in: whose names are to be expected next."""
        self._roots = _roots(url)
        """Where the interface may be; the first is asked first."""
        self._forms = list(FORMS)
        """That the server may know; the first is asked for first."""
        self._is_form_known = False
        self._client: httpx.AsyncClient | None = None

    async def connect(self) -> None:
        """Open the connection by asking for the models, which costs nothing; without TLS it costs nothing later, too.

        Raises `RecognitionFailed`.
        """
        client = self._opened()
        if self._roots[0].startswith("https:"):
            async with self._translated(), client.stream("GET", f"{self._roots[0]}/models") as response:
                await self._body(response)

    async def recognize(self, utterance: Utterance) -> Transcript:
        """Return the words, with Whisper's figures where the server tells any. Raises `RecognitionFailed`."""
        sound = wav_of(utterance.samples)
        names = self._hotwords(self._language or self._heard_language)
        prompt = fitting(names, lambda text: len(text.encode()), MOST_PROMPT)
        heard = await self._asked(sound, prompt)
        if prompt and reads_out(heard.text, prompt):
            heard = await self._asked(sound, "")
        self._heard_language = heard.language
        return heard

    async def aclose(self) -> None:
        """Close the connection; the next utterance opens another."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _asked(self, sound: bytes, prompt: str) -> Transcript:
        """Return the answer in the first form and at the first place that it knows. Raises `RecognitionFailed`."""
        while True:
            status, type_, body = await self._post(sound, prompt)
            if status in NOT_THERE and len(self._roots) > 1:
                del self._roots[0]
            elif status in REFUSES_FORM and not self._is_form_known and len(self._forms) > 1:
                del self._forms[0]
            else:
                break
        if status != 200:
            if not self._is_form_known:
                self._forms = list(FORMS)  # it was something else that the server did not like
            raise self._refused(status, body)
        heard = self._read(type_, body)
        del self._roots[1:]
        self._is_form_known = True
        return heard

    async def _post(self, sound: bytes, prompt: str) -> tuple[int, str, bytes]:
        """Return status, content type and body of an answer."""
        import httpx

        told = {**self._forms[0], "model": self._model, "language": self._language, "prompt": prompt}
        fields = {name: value for name, value in told.items() if value}
        file = {"file": ("speech.wav", sound, "audio/wav")}
        url = f"{self._roots[0]}/audio/transcriptions"
        async with self._translated():
            request = self._opened().build_request("POST", url, data=fields, files=file)
            try:
                response = await self._opened().send(request, stream=True)
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                # A kept connection that the server closed at this moment; a new one shows whether it is more.
                again = self._opened().build_request("POST", url, data=fields, files=file)
                response = await self._opened().send(again, stream=True)
            try:
                return response.status_code, response.headers.get("content-type", ""), await self._body(response)
            finally:
                await response.aclose()

    def _opened(self) -> "httpx.AsyncClient":
        if self._client is None:
            import httpx

            self._client = httpx.AsyncClient(
                headers={
                    "Accept-Encoding": "identity",  # a small answer need not unpack into an endless one
                    **({"Authorization": f"Bearer {self._key}"} if self._key else {}),
                },
                timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
                limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE),
                follow_redirects=False,  # neither sound nor key go where nobody configured
                verify=trust_for(self._roots[0]),
                trust_env=False,
            )
        return self._client

    async def _body(self, response: "httpx.Response") -> bytes:
        body = bytearray()
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > MOST_ANSWER:
                raise self._failed("sent an answer that does not end", "see whether it is a transcription server")
        return bytes(body)

    @asynccontextmanager
    async def _translated(self) -> AsyncIterator[None]:
        """Raise what goes wrong on the way as `RecognitionFailed`."""
        import httpx

        fix = "start that server, or correct [openai_recognizer] url"
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL, UnicodeError) as error:
            if fault := tls_fault(error):
                raise self._failed(*fault) from error
            raise self._failed(f"cannot be reached ({str(error) or type(error).__name__})", fix) from error
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise self._failed(f"broke off ({reason})", "see that server's log") from error

    def _read(self, type_: str, body: bytes) -> Transcript:
        """Return what a good answer says. Raises `RecognitionFailed` when it is none."""
        text = body.decode(errors="replace").strip()
        try:
            told = json.loads(text)
        except (ValueError, RecursionError):
            if not type_.startswith("text/plain") or text.startswith(("<", "{")):
                raise self._no_transcript(type_, text) from None
            told = {"text": text}
        if not isinstance(told, dict) or not isinstance(words := told.get("text"), str):
            raise self._no_transcript(type_, text)
        return Transcript(words.strip(), self._language_of(told), self.name, evidence=_evidence(told))

    def _language_of(self, told: Mapping[str, object]) -> str:
        said = told.get("language")
        name = said.lower() if isinstance(said, str) else ""
        return LANGUAGES.get(name) or (name if name in LANGUAGES.values() else self._language)

    def _no_transcript(self, type_: str, text: str) -> RecognitionFailed:
        is_page = type_.startswith("text/html") or text.startswith("<")
        what = "a web page" if is_page else f"no transcript ({in_a_line(text)})" if text else "nothing"
        return self._failed(f"answered with {what}", "correct [openai_recognizer] url, which is the root of the API")

    def _refused(self, status: int, body: bytes) -> RecognitionFailed:
        said = complaint_of(body).replace(self._key, "***") if self._key else complaint_of(body)
        what = f"refused with {status}{f' ({said})' if said else ''}"
        if status in {401, 403}:
            return self._failed(what, "correct the key that [openai_recognizer] api_key_env names")
        if 300 <= status < 400:
            return self._failed(f"sends elsewhere ({status})", "correct [openai_recognizer] url")
        if status in NOT_THERE:
            return self._failed(what, "correct [openai_recognizer] url or model")
        if status == 429:
            return self._failed(what, "see how much that server allows")
        if status < 500:
            return self._failed(what, "correct [openai_recognizer] model or [ears] language")
        return self._failed(what, "see that server's log")

    def _failed(self, what: str, fix: str) -> RecognitionFailed:
        return RecognitionFailed(f"the recognizer at {self._host} {what}", fix)


def sent_to(server: str, hotwords: Hotwords) -> tuple[SendsTo, ...]:
    """Return what a server of speech to text is handed: what is said, and with hotwords the names to be expected."""
    what = ["the sound of what is said", *([] if hotwords is no_hotwords else ["names to be expected in it"])]
    return tuple(SendsTo(each, server) for each in what)


def _roots(url: str) -> list[str]:
    """Return the roots that an address may mean, the likelier first."""
    root = url.rstrip("/").removesuffix("/audio/transcriptions")
    if root.endswith("/v1"):
        return [root]
    with_version = f"{root}/v1"
    return [root, with_version] if urlsplit(root).path else [with_version, root]


def wav_of(samples: Samples) -> bytes:
    """Return the sound as a file: 16 kHz, mono, 16 bit."""
    return wav_header(SAMPLE_RATE, samples=len(samples)) + samples.astype("<i2", copy=False).tobytes()


def _evidence(told: Mapping[str, object]) -> dict[str, float]:
    """Return the worst of each figure over the segments, as of the local Whisper, or the mean over the tokens.

    What no model says is left out: some servers fill a field that they do not know with 0.
    """
    segments = _tables(told.get("segments"))
    likely = [value for each in segments if (value := _number(each.get("avg_logprob"))) is not None and value < 0.0]
    silent = [v for each in segments if (v := _number(each.get("no_speech_prob"))) is not None and 0.0 < v <= 1.0]
    repeated = [v for each in segments if (v := _number(each.get("compression_ratio"))) is not None and v > 0.0]
    tokens = [v for each in _tables(told.get("logprobs")) if (v := _number(each.get("logprob"))) is not None]
    if not likely and tokens and min(tokens) < 0.0:
        likely = [sum(tokens) / len(tokens)]
    return {
        **({"avg_logprob": min(likely)} if likely else {}),
        **({"no_speech_prob": max(silent)} if silent else {}),
        **({"compression_ratio": max(repeated)} if repeated else {}),
    }


def _tables(value: object) -> list[Mapping[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None  # type: ignore[arg-type]
