"""What failed calls are called, and the words that reach a person."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from agent.errors import ModelRefused, ModelUnavailable
from agent.model.faults import MAX_WORDS, broken, refused, seconds_in, unreachable, words_of


@pytest.mark.shows("F6")
@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 422, 307])
def test_what_the_request_is_to_blame_for_is_not_retried(status: int) -> None:
    error = refused("ollama/qwen3", status, "words")
    assert type(error) is ModelRefused
    assert "ollama/qwen3" in str(error)
    assert "(words)" in str(error)


@pytest.mark.shows("F6")
@pytest.mark.parametrize("status", [402, 408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_can_be_tried_elsewhere_or_later(status: int) -> None:
    error = refused("ollama/qwen3", status, "")
    assert type(error) is ModelUnavailable
    assert "()" not in str(error)


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("7", "wait 7 s"),
        ("", "wait,"),
        ("Sat, 21 Nov 2026", "wait,"),
        ("Sat, 21 Nov 2099 12:00:00 GMT", "wait,"),
    ],
)
def test_how_long_to_wait_is_told_when_it_is_seconds(header: str, says: str) -> None:
    assert says in str(refused("m", 429, "", header))


def test_every_sentence_names_the_model_and_a_mend() -> None:
    assert str(unreachable("m", "http://127.0.0.1:1/v1")).count("http://127.0.0.1:1/v1") == 1
    assert "start that server" in str(unreachable("m", "x"))
    assert str(broken("m", "broke off")) == "the answer of m broke off: ask again, or use another model"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error": {"message": "no such model", "type": "x"}}', "no such model"),
        (b'{"error": "model not found"}', "model not found"),
        (b'{"message": "busy"}', "busy"),
        (b'{"detail": [{"msg": "bad"}]}', "[{'msg': 'bad'}]"),
        (b"plain\n  words", "plain words"),
        (b"<html>\xff</html>", "\ufffd"),
        (b"[1]", "[1]"),
        (b"", ""),
        ("text already", "text already"),
    ],
)
def test_a_servers_words_are_one_short_line(body: bytes | str, words: str) -> None:
    assert words_of(body) == words


def test_a_long_text_is_cut_and_a_secret_left_out() -> None:
    assert words_of(b"x" * 1000) == "x" * MAX_WORDS + "…"
    assert words_of(b"Incorrect key sk-1234 given", "sk-1234") == "Incorrect key … given"


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7.0), ("0.5", 0.5), ("", 0.0), ("soon", 0.0), ("-3", 0.0), ("nan", 0.0), ("inf", 0.0)]
)
def test_retry_after_is_a_number_or_nothing(header: str, seconds: float) -> None:
    assert seconds_in(header) == seconds


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("Rate limit reached for gpt-4o in organization o on tokens per min. Please try again in 20s.", 20.0),
        ("Rate limit reached: Limit 100000, Used 99336. Please try again in 2m59.56s. Need more tokens?", 179.56),
        ("Limit: 3 / min. Please try again in 120ms.", 0.12),
        ('{"error": {"message": "You exceeded your quota.\\nPlease retry in 34.07s.", "code": 429}}', 34.07),
        ('[{"error": {"code": 429, "details": [{"retryDelay": "34s"}]}}]', 34.0),
        ("Try again in 1 minute 5 seconds.", 65.0),
        ("Resource exhausted. Please try again later: 15 requests in 1 m.", 0.0),
    ],
)
def test_when_to_ask_again_is_read_from_words_where_no_header_says_it(said: str, seconds: float) -> None:
    assert refused("m", 429, said).retry_after == pytest.approx(seconds)
    assert refused("m", 429, said, "3").retry_after == 3.0


def test_retry_after_may_be_a_date() -> None:
    now = datetime.now(UTC)
    assert 55 < seconds_in(format_datetime(now + timedelta(seconds=60), usegmt=True)) <= 60
    assert seconds_in(format_datetime(now - timedelta(hours=1), usegmt=True)) == 0.0
    assert refused("m", 429, "", format_datetime(now + timedelta(seconds=60), usegmt=True)).retry_after > 55
