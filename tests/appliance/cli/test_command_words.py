"""What a shell may hand to the commands as words: nothing, bytes, too much; refused before anybody is asked."""

from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from appliance.api.register import BadRequest, Name, parse
from appliance.api.requests.box import Forget
from appliance.cli import nakari as commands
from appliance.cli.main import conclude
from appliance.cli.remember.memory import MOST_MINUTES
from appliance.cli.root import NAME
from appliance.config.options import Invocation
from appliance.errors import Exit
from tests.appliance.command import nakari

BYTES = b"caf\xe9".decode(errors="surrogateescape")
"""As the command gets a word that is Latin-1."""

NO_WORDS = "there is nothing in it"
NO_TEXT = "it holds bytes that are no UTF-8 text"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the sentence by which a command line is refused."""
    invocation = Invocation()

    def run() -> int:
        with commands.make_context("nakari", [*arguments], obj=invocation) as context:
            return int(commands.invoke(context))

    assert conclude(run, invocation) == Exit.USAGE
    assert invocation.config is None, "the configuration is not even looked at"
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    return told.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("ask", BYTES), NO_TEXT),
        (("ask", "one", BYTES), NO_TEXT),
        (("say", BYTES), NO_TEXT),
        (("forget", "--minutes", "nan"), "'--minutes': nan is no number of minutes"),
        (("forget", "--minutes", "inf"), "'--minutes': inf is not in the range 0<x<=100000"),
        (("forget", "--minutes", "1e300"), "'--minutes': 1e+300 is not in the range 0<x<=100000"),
        (("forget", "--minutes", "5", "--last", "2"), "one of --last, --minutes and --about"),
        (("forget", "--owner", ""), NO_WORDS),
        (("model", "use", ""), NO_WORDS),
        (("model", "use", BYTES), NO_TEXT),
        (("model", "use", "x" * 201), "'NAME': it is longer than 200 characters"),
        (("mailbox", "--retry", ""), f"'--retry': {NO_WORDS}"),
        (("mailbox", "--withdraw", " "), f"'--withdraw': {NO_WORDS}"),
        (("mailbox", "--withdraw", BYTES), f"'--withdraw': {NO_TEXT}"),
        (("models", "pull", ""), NO_WORDS),
        (("journal", "call", ""), NO_WORDS),
        (("journal", "call", BYTES), NO_TEXT),
        (("identity", "create", BYTES), NO_TEXT),
        (("identity", "remove", ""), NO_WORDS),
        (("settings", "set", "prompt.cast", BYTES), f"'VALUE': {NO_TEXT}"),
        (("settings", "reset", ""), NO_WORDS),
        (("memory", "query", ""), NO_WORDS),
        (("memory", "query", BYTES), NO_TEXT),
        (("memory", "query", "RETURN 1", "--params", '{"a": NaN}'), "--params: it is no JSON"),
        (("memory", "query", "RETURN 1", "--params", '{"a": "\\ud800"}'), "--params: it is no JSON"),
        (("memory", "query", "RETURN 1", "--params", "[" * 100_000), "--params: it is no JSON"),
        (("memory", "restore", ""), NO_WORDS),
        (("memory", "diff", "x", ""), NO_WORDS),
        (("memory", "diff"), "either a snapshot, or --since"),
    ],
)
def test_words_that_are_none_are_refused(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    assert sentence in refused(capsys, *arguments)


def test_the_commands_limits_are_those_of_the_door() -> None:
    names: TypeAdapter[str] = TypeAdapter(Name)
    assert names.validate_python(NAME.convert("x" * 200, None, None)) == "x" * 200
    with pytest.raises(ValidationError):
        names.validate_python("x" * 201)
    assert parse(b'{"do": "forget", "minutes": %d}' % MOST_MINUTES, [Forget])
    with pytest.raises(BadRequest, match="minutes"):
        parse(b'{"do": "forget", "minutes": %d}' % (MOST_MINUTES + 1), [Forget])


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("journal", "calls"), Exit.UNAVAILABLE, "nothing was kept yet: there is no "),
        (
            ("models", "pull", "nonesuch"),
            Exit.USAGE,
            "Invalid value for NAME: there is no model 'nonesuch'; take auto, ",
        ),
        (("backup", "/nope/x"), Exit.CANNOT_CREATE, "/nope/x cannot be written: /nope is no folder that you may write"),
        (("identity", "create", "Ada", "--key", "file/x"), Exit.CANNOT_CREATE, "/file/x cannot be written: "),
        (("memory", "replay", "--to", "/nope/x"), Exit.CANNOT_CREATE, "/nope/x cannot be written: /nope is no folder"),
        (("restore", "."), Exit.NO_INPUT, " is no backup, nor a state that was put aside in "),
        (("--config", "away.toml", "memory", "query", "RETURN 1"), Exit.UNAVAILABLE, "127.0.0.1:9 cannot be reached"),
    ],
)
def test_what_cannot_be_done_has_its_code_and_names_what_was_given(
    tmp_path: Path, arguments: tuple[str, ...], code: Exit, sentence: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "away.toml").write_text('[memory]\nuri = "bolt://127.0.0.1:9"\n', encoding="utf-8")
    done = nakari(tmp_path, *arguments)
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
