"""The guards that look at a statement before any store does."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import GraphRefused, TooLarge
from memory.graph import cypher as cypher_module
from memory.graph.cypher import LONGEST_LITERAL, Statement, quoted, unquoted


def kinds(cypher: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in Statement.parse(cypher).tokens]


def test_a_statement_is_cut_into_its_tokens() -> None:
    assert kinds("MATCH (a:`x y` {k: $p}) // c ' \n RETURN 'it''s' /* \" */ + \"d\\\"q\", a.名字") == [
        ("word", "MATCH"),
        ("mark", "("),
        ("word", "a"),
        ("mark", ":"),
        ("name", "`x y`"),
        ("mark", "{"),
        ("word", "k"),
        ("mark", ":"),
        ("parameter", "$p"),
        ("mark", "}"),
        ("mark", ")"),
        ("comment", "// c ' "),
        ("word", "RETURN"),
        ("text", "'it'"),
        ("text", "'s'"),
        ("comment", '/* " */'),
        ("mark", "+"),
        ("text", '"d\\"q"'),
        ("mark", ","),
        ("word", "a"),
        ("mark", "."),
        ("word", "名字"),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'plain'", "plain"),
        ("'it\\'s'", "it's"),
        ('"\\n\\t\\\\"', "\n\t\\"),
        ("'\\u5c0f\\u660E'", "小明"),
        ("'\\q'", "q"),
        ("''", ""),
    ],
)
def test_a_text_says_what_its_escapes_mean(text: str, value: str) -> None:
    [token] = Statement.parse(text).tokens
    assert token.value == value


@pytest.mark.parametrize("cypher", ["RETURN 'open", 'RETURN "open', "RETURN `open", "RETURN 1 /* open", "'\\'"])
def test_what_never_ends_is_refused_with_its_place(cypher: str) -> None:
    with pytest.raises(GraphRefused, match=r"at character \d+ .* never closed"):
        Statement.parse(cypher)


@given(st.text())
def test_any_text_is_tokens_in_order_or_refused(text: str) -> None:
    end = 0
    try:
        for token in cypher_module._tokens(text):
            assert token.start >= end
            assert text[end : token.start].strip() == ""
            assert text[token.start :].startswith(token.text)
            end = token.start + len(token.text)
    except GraphRefused:
        return
    assert text[end:].strip() == ""


@given(st.text())
def test_a_literal_is_found_and_taken_out_whole_whatever_it_says(text: str) -> None:
    """What a person said never leaves its quotes, and the rewritten statement says the same by parameter."""
    literal = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    cypher = f"MATCH (a) WHERE a.x = {literal} RETURN a"
    statement = Statement.parse(cypher)
    [token] = [token for token in statement.tokens if token.kind == "text"]
    assert token.value == text
    assert statement.parameterised([token]) == (
        "MATCH (a) WHERE a.x = $text_1 RETURN a",
        {"text_1": text},
    )


@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (n) RETURN n; MATCH (m) DELETE m",
        "RETURN 1;;RETURN 2",
        "; RETURN 1",
        "RETURN ';' ; RETURN 2",
        "RETURN 1 // ;\n; RETURN 2",
        "RETURN 1 /* ; */ ; RETURN 2",
        "RETURN 1 \\u003b RETURN 2",
    ],
)
def test_several_statements_are_refused(cypher: str) -> None:
    with pytest.raises(GraphRefused, match="one statement a call"):
        Statement.parse(cypher)


@pytest.mark.parametrize(
    "cypher",
    [
        "RETURN 1;",
        "RETURN 1 ; ; // done",
        "RETURN ';'",
        "RETURN 1 // ; RETURN 2",
        "RETURN /* ; */ 1",
        "MATCH (n) WHERE n.x IN transactions RETURN n",
        "MATCH (n:`LOAD CSV`) RETURN n.load, n.csv",
        "RETURN 'LOAD CSV FROM' AS x",
        "RETURN {load: 1, csv: 2}",
    ],
)
def test_what_only_looks_so_passes(cypher: str) -> None:
    Statement.parse(cypher)


@pytest.mark.parametrize(
    "cypher",
    [
        "LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l",
        "load\tcsv from 'x' as l return l",
        "LOAD/* */CSV FROM 'x' AS l RETURN l",
        "LOAD \u200b CSV FROM 'x' AS l RETURN l",
        "\\u004cOAD CSV FROM 'x' AS l RETURN l",
        "MATCH (n) LOAD // x\n CSV FROM 'x' AS l RETURN l",
    ],
)
def test_load_csv_is_refused(cypher: str) -> None:
    with pytest.raises(GraphRefused, match="LOAD CSV is off"):
        Statement.parse(cypher)


@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (n) CALL (n) { DELETE n } IN TRANSACTIONS",
        "MATCH (n) CALL (n) { DELETE n } in transactions OF 5 ROWS",
        "MATCH (n) CALL (n) { DELETE n } IN 4 CONCURRENT TRANSACTIONS",
        "MATCH (n) CALL (n) { DELETE n }/**/IN/**/TRANSACTIONS",
        "MATCH (n) CALL (n) { DELETE n } \\u0049N TRANSACTIONS",
    ],
)
def test_batches_outside_the_transaction_are_refused(cypher: str) -> None:
    with pytest.raises(GraphRefused, match="IN TRANSACTIONS is off"):
        Statement.parse(cypher)


@pytest.mark.parametrize("cypher", ["", "  \n", "// nothing", "/* nothing */"])
def test_an_empty_statement_is_refused(cypher: str) -> None:
    with pytest.raises(GraphRefused, match="empty"):
        Statement.parse(cypher)


def test_a_long_statement_is_refused_at_once() -> None:
    began = time.process_time()
    with pytest.raises(TooLarge, match="10000007 characters, 20000 are allowed"):
        Statement.parse("RETURN " + "1" * 10_000_000)
    with pytest.raises(GraphRefused, match="never closed"):
        Statement.parse("RETURN " + "/* " * 6000)
    assert time.process_time() - began < 1


MOOD = "我今天心情不太好，remember that my dog is called Rex"


@pytest.mark.shows("C7")
@pytest.mark.parametrize(
    "literal",
    [
        "心情不好",
        "今天",
        "remember",
        "my dog REMEMBERS nothing, remember",
        "Rex",
        "rex",
        "My Dog",
        "a" * (LONGEST_LITERAL + 1),
        "ｒｅｍｅｍｂｅｒ",
    ],
)
def test_what_was_said_is_not_written_into_the_statement(literal: str) -> None:
    cypher = f"MATCH (a:A {{x: $text_1}}) SET a.y = '{literal}', a.z = 'fine' RETURN a"
    assert [token.value for token in Statement.parse(cypher).copied_values(MOOD)] == [literal]
    with pytest.raises(GraphRefused) as caught:
        Statement.parse(cypher).refuse_copied_values(MOOD)
    assert "MATCH (a:A {x: $text_1}) SET a.y = $text_2, a.z = 'fine' RETURN a" in str(caught.value)
    assert f'{{"text_2": "{literal}"}}' in str(caught.value)


@pytest.mark.parametrize(
    "literal", ["", "x", "P1D", "yyyy-MM-dd", "negative", "用户", "the", "Re", "低落", "2026-01-01", "mydog"]
)
def test_what_was_not_said_may_stay(literal: str) -> None:
    Statement.parse(f"MATCH (a) WHERE a.x = '{literal}' RETURN a").refuse_copied_values(MOOD)


def test_names_and_comments_are_no_values() -> None:
    Statement.parse("MATCH (a:`Rex` {`心情`: $x}) /* remember Rex */ RETURN a // 'remember'").refuse_copied_values(MOOD)


def test_nothing_said_is_repeated_by_nothing() -> None:
    Statement.parse("MATCH (a) WHERE a.x = 'anything at all' RETURN a").refuse_copied_values("")


@given(st.text("`a名 ", min_size=1))
def test_a_quoted_name_is_read_as_it_was_written(name: str) -> None:
    """Also one that begins or ends with a backtick, which is doubled within."""
    assert unquoted(quoted(name)) == name
    assert name in Statement.parse(f"MATCH (n) RETURN n.{quoted(name)}").names
