"""A server with OpenAI's transcription interface: what it is sent, what is made of its answers, and its faults."""

import asyncio
import json
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from openai import OpenAI

from audio.errors import RecognitionFailed
from audio.recognizer.faster_whisper import Hotwords, no_hotwords
from audio.recognizer.openai_api import FORMS, MOST_ANSWER, OpenAiRecognizer
from audio.speech import RecognizedTurn, Transcript, Utterance
from audio.turns.evidence import LEAST_SCORE, evidence_of, judge
from tests.audio.transcription_server import (
    HTML,
    PATH,
    Answer,
    Asked,
    TranscriptionServer,
    as_json,
    refusal,
    transcribing,
    verbose,
)

KEY = "sk-secret-of-the-household"


def spoken(seconds: float = 1.0, probability: float = 0.97) -> Utterance:
    samples = np.arange(round(16_000 * seconds), dtype=np.int16)
    return Utterance(samples, 0.3, 0.3 + seconds, 1.0 + seconds, seconds, probability=probability)


def heard_by(
    server: TranscriptionServer,
    path: str = "/v1",
    *,
    language: str = "",
    hotwords: Hotwords = no_hotwords,
    times: int = 1,
) -> list[Transcript]:
    """Return what comes of an utterance, asked so often on one connection. Raises `RecognitionFailed`."""

    async def ask() -> list[Transcript]:
        recognizer = OpenAiRecognizer(server.url + path, "whisper-1", KEY, language, hotwords)
        try:
            return [await recognizer.recognize(spoken()) for _ in range(times)]
        finally:
            await recognizer.aclose()

    return asyncio.run(ask())


@pytest.mark.shows("V14")
def test_sound_model_language_and_key_go_to_the_server_and_words_with_figures_come_back() -> None:
    with transcribing(verbose(" Turn on the light.", avg_logprob=-0.31, no_speech_prob=0.02)) as server:
        (heard,) = heard_by(server, language="en")
    (asked,) = server.asked
    assert asked.path == PATH
    assert asked.fields == {"model": "whisper-1", "language": "en", "response_format": "verbose_json"}
    assert asked.authorization == f"Bearer {KEY}"
    assert asked.rate == 16_000
    assert np.array_equal(asked.samples, spoken().samples)
    figures = {"avg_logprob": -0.31, "no_speech_prob": 0.02, "compression_ratio": 0.9}
    assert heard == Transcript("Turn on the light.", "en", "openai:whisper-1", evidence=figures)


def test_the_stand_in_speaks_to_openais_own_client() -> None:
    with transcribing(verbose("Turn on the light.")) as server:
        client = OpenAI(base_url=f"{server.url}/v1", api_key=KEY, max_retries=0)
        wav = ("speech.wav", _sound_sent_to(server))
        told = client.audio.transcriptions.create(file=wav, model="whisper-1", response_format="verbose_json")
        client.close()
    by_us, by_theirs = server.asked
    assert (by_us.path, by_us.authorization) == (by_theirs.path, by_theirs.authorization)
    assert dict(by_us.fields) == dict(by_theirs.fields)
    assert (told.text, told.segments and told.segments[0].avg_logprob) == ("Turn on the light.", -0.2)


def _sound_sent_to(server: TranscriptionServer) -> bytes:
    """Have our recognizer ask, and return the same sound as a file."""
    from audio.recognizer.openai_api import wav_of

    heard_by(server)
    return wav_of(spoken().samples)


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/audio/transcriptions", "/audio/transcriptions"])
def test_the_address_may_be_given_with_and_without_its_version(path: str) -> None:
    with transcribing(lambda asked: verbose("Yes.") if asked.path == PATH else refusal(404, "Not Found")) as server:
        assert [each.text for each in heard_by(server, path, times=2)] == ["Yes.", "Yes."]
    assert [each.path for each in server.asked][-2:] == [PATH, PATH]
    assert len(server.asked) <= 3


@pytest.mark.parametrize("path", ["", "/speech"])
def test_a_server_without_a_version_in_its_path_is_found(path: str) -> None:
    wanted = f"{path}/audio/transcriptions"
    with transcribing(lambda asked: verbose("Yes.") if asked.path == wanted else refusal(404, "Not Found")) as server:
        assert [each.text for each in heard_by(server, path, times=2)] == ["Yes.", "Yes."]


def newer_model(asked: Asked) -> Answer:
    """Answer as gpt-4o-transcribe does."""
    if asked.fields["response_format"] == "verbose_json":
        return refusal(400, "response_format 'verbose_json' is not compatible with model 'gpt-4o-transcribe'.")
    logprobs = [{"token": "Yes", "logprob": -0.5, "bytes": [89]}, {"token": ".", "logprob": -0.1, "bytes": [46]}]
    return as_json({"text": "Yes.", "logprobs": logprobs if asked.fields.get("include[]") == "logprobs" else None})


@pytest.mark.shows("V14")
def test_a_model_that_refuses_verbose_answers_is_asked_for_its_log_probabilities() -> None:
    with transcribing(newer_model) as server:
        first, second = heard_by(server, times=2, language="de")
    assert first.evidence == second.evidence == {"avg_logprob": pytest.approx(-0.3)}
    assert (first.text, first.language) == ("Yes.", "de")
    assert len(server.asked) == 3  # the form is found once


def only(form: str) -> Callable[[Asked], Answer]:
    def answer(asked: Asked) -> Answer:
        if asked.fields["response_format"] != form or "include[]" in asked.fields:
            return as_json({"detail": "no such field"}, 422)
        return as_json({"text": "Yes."}) if form == "json" else Answer(b"Yes.\n", type_="text/plain; charset=utf-8")

    return answer


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_server_that_knows_little_is_asked_for_little(form: str) -> None:
    with transcribing(only(form)) as server:
        assert [each.text for each in heard_by(server, times=2)] == ["Yes.", "Yes."]
    assert len(server.asked) <= len(FORMS) + 1


def test_plain_text_for_a_verbose_request_is_taken() -> None:
    with transcribing(Answer(b" Yes.\n", type_="text/plain")) as server:
        assert heard_by(server) == [Transcript("Yes.", "", "openai:whisper-1")]


def test_a_refusal_for_another_reason_forgets_no_form() -> None:
    answers = iter([*[refusal(400, "Audio file is too short.")] * len(FORMS), verbose("Yes.")])

    async def ask(url: str) -> str:
        recognizer = OpenAiRecognizer(url, "whisper-1")
        with pytest.raises(RecognitionFailed, match=r"refused with 400 \(Audio file is too short\.\)"):
            await recognizer.recognize(spoken())
        text = (await recognizer.recognize(spoken())).text
        await recognizer.aclose()
        return text

    with transcribing(lambda _: next(answers)) as server:
        assert asyncio.run(ask(server.url)) == "Yes."
    assert server.asked[-1].fields["response_format"] == "verbose_json"


@pytest.mark.parametrize(("said", "code"), [("english", "en"), ("Chinese", "zh"), ("de", "de"), ("klingon", "en")])
def test_languages_are_codes(said: str, code: str) -> None:
    with transcribing(verbose("Yes.", said)) as server:
        assert heard_by(server, language="en")[0].language == code


@pytest.mark.shows("V13")
def test_names_go_along_as_prompt_in_the_language_last_heard() -> None:
    asked_for: list[str] = []

    def names(language: str) -> Sequence[str]:
        asked_for.append(language)
        return ["Xanthippe", "ComfyUI", *(f"name {number}" for number in range(100))]

    with transcribing(verbose("Call Xanthippe.", "german")) as server:
        heard_by(server, hotwords=names, times=2)
    prompt = server.asked[0].fields["prompt"]
    assert prompt.startswith("Xanthippe, ComfyUI, name 0, ")
    assert len(prompt) <= 200
    assert asked_for == ["", "de"]


@pytest.mark.shows("V13")
def test_a_prompt_that_is_read_out_is_taken_away() -> None:
    with transcribing(
        lambda asked: verbose("Xanthippe, ComfyUI, Xanthippe" if "prompt" in asked.fields else "Hm.")
    ) as server:
        (heard,) = heard_by(server, hotwords=lambda _: ["Xanthippe", "ComfyUI"])
    assert heard.text == "Hm."
    assert ["prompt" in each.fields for each in server.asked] == [True, False]


def test_the_connection_is_kept_and_a_kept_one_that_has_died_is_replaced() -> None:
    async def ask(server: TranscriptionServer) -> list[str]:
        recognizer = OpenAiRecognizer(server.url, "whisper-1")
        texts = [(await recognizer.recognize(spoken())).text for _ in range(2)]
        assert server.connections == 1
        for each in server.open_now:
            each.shutdown(2)
        texts.append((await recognizer.recognize(spoken())).text)
        await recognizer.aclose()
        return texts

    with transcribing(verbose("Yes.")) as server:
        assert asyncio.run(ask(server)) == ["Yes."] * 3
    assert server.connections == 2


FAULTS = {
    "wrong key": (refusal(401, f"Incorrect API key provided: {KEY}."), r"401 .*\*\*\*.*; correct the key"),
    "no permission": (refusal(403, "no"), "refused with 403 .*; correct the key that .* api_key_env names"),
    "too much": (refusal(429, "Rate limit reached"), r"429 \(Rate limit reached\); see how much"),
    "no such model": (refusal(404, "The model `whisper-9` does not exist"), "whisper-9.*; correct .* url or model"),
    "broken": (Answer(b"Traceback", 500, "text/plain"), r"500 \(Traceback\); see that server's log"),
    "broken without a word": (Answer(b"", 503), r"refused with 503; see that server's log"),
    "broken with a page": (Answer(b"<html>" + b"x" * 5000, 502, HTML), "refused with 502; see"),
    "elsewhere": (Answer(b"", 302, HTML, {"Location": "http://localhost:1/steal"}), "sends elsewhere .302.; correct"),
    "a login page": (Answer(b"<!doctype html><title>Sign in</title>", type_=HTML), "answered with a web page; correct"),
    "a page as text": (Answer(b"<html>Sign in</html>", type_="text/plain"), "a web page; correct .* url"),
    "bytes": (Answer(b"\x00\xff\x12", type_="application/octet-stream"), "no transcript .*; correct .* url"),
    "nothing": (Answer(b""), "answered with nothing; correct"),
    "broken JSON": (Answer(b'{"text": "Turn'), "no transcript"),
    "broken JSON as text": (Answer(b'{"text": "Turn', type_="text/plain"), "no transcript"),
    "a list": (as_json(["Turn on"]), "no transcript"),
    "words that are none": (as_json({"text": {"a": 1}}), "no transcript"),
    "an error as success": (as_json({"error": {"message": "out of memory"}}), "no transcript .*out of memory"),
    "deep": (Answer(b"[" * 100_000), "no transcript"),
    "endless": (Answer(b"x" * 65_536, is_endless=True), "does not end"),
    "too long": (Answer(b" " * (MOST_ANSWER + 1)), "does not end"),
    "cut": (Answer(b'{"text": "Turn on the light."}', cut_at=12), "broke off .*; see that server's log"),
}


@pytest.mark.shows("V14")
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_one_sentence_with_the_fix(fault: str) -> None:
    answer, sentence = FAULTS[fault]
    with transcribing(answer) as server, pytest.raises(RecognitionFailed, match=sentence) as raised:
        heard_by(server)
    said = str(raised.value)
    assert said.startswith(f"the recognizer at 127.0.0.1:{server.port} ")
    assert KEY not in said
    assert "\n" not in said
    assert len(said) < 400


def test_nobody_there_and_no_address() -> None:
    with transcribing(verbose("Yes.")) as server:
        gone = server
    with pytest.raises(RecognitionFailed, match=r"cannot be reached .*; start that server, or correct .* url"):
        heard_by(gone)


def test_a_redirect_is_not_followed() -> None:
    with (
        transcribing(verbose("Yes.")) as other,
        transcribing(Answer(b"", 307, HTML, {"Location": f"{other.url}{PATH}"})) as server,
        pytest.raises(RecognitionFailed, match="elsewhere"),
    ):
        heard_by(server)
    assert other.asked == []


NO_FIGURES = as_json({"text": "Thanks for watching!"})


@pytest.mark.parametrize(
    ("figures", "kept"),
    [
        ({"avg_logprob": 0.0, "no_speech_prob": 0.0, "compression_ratio": 0.0}, set()),
        ({"avg_logprob": 1.5, "no_speech_prob": 7.0}, {"compression_ratio"}),
        ({"avg_logprob": True, "no_speech_prob": "0.9"}, {"compression_ratio"}),
        ({"avg_logprob": float("nan"), "no_speech_prob": float("inf")}, {"compression_ratio"}),
    ],
)
def test_figures_that_no_model_has_are_left_out(figures: dict[str, float], kept: set[str]) -> None:
    with transcribing(verbose("Yes.", **figures)) as server:
        assert set(heard_by(server)[0].evidence) == kept


@pytest.mark.parametrize("segments", [None, 3, [], [None, 1], {"a": 1}])
def test_segments_that_are_none_are_no_figures(segments: object) -> None:
    with transcribing(as_json({"text": "Yes.", "segments": segments, "language": 5, "logprobs": 7})) as server:
        assert heard_by(server) == [Transcript("Yes.", "", "openai:whisper-1")]


def score(answer: Answer, utterance: Utterance) -> float:
    with transcribing(answer) as server:
        heard = heard_by(server)[0]
    return judge(evidence_of(RecognizedTurn(utterance, heard, 0.0))).score


@pytest.mark.shows("V14")
def test_the_worst_figure_of_all_segments_decides() -> None:
    good = json.loads(verbose("Turn on the light.").body)
    assert score(as_json(good), spoken()) > LEAST_SCORE
    bad = {"text": " Thanks for watching!", "avg_logprob": -1.4, "no_speech_prob": 0.9}
    assert score(as_json({**good, "segments": [*good["segments"], bad]}), spoken()) < LEAST_SCORE


@pytest.mark.shows("V14")
def test_without_figures_the_sound_alone_decides() -> None:
    assert score(as_json({"text": "Turn on the light."}), spoken(1.0, 0.95)) > 0.9
    assert score(as_json({"text": "Yes."}), spoken(0.35, 0.95)) > LEAST_SCORE
    assert score(NO_FIGURES, spoken(0.3, 0.75)) < LEAST_SCORE
    assert score(NO_FIGURES, spoken(0.4, 0.95)) < LEAST_SCORE  # nobody says so much in the time


def test_what_is_sent_is_told() -> None:
    sound = OpenAiRecognizer("https://api.openai.com/v1", "whisper-1").sends_to
    assert [(each.what, each.to) for each in sound] == [("the sound of what is said", "api.openai.com")]
    with_names = OpenAiRecognizer("http://speech.home:8000", "base", hotwords=lambda _: ["Anna"]).sends_to
    assert [each.what for each in with_names] == ["the sound of what is said", "names to be expected in it"]
    assert {each.to for each in with_names} == {"speech.home:8000"}
