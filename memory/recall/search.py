"""The search: candidates by their rarest terms, weighed with neighbours, speaker, time and importance."""

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from heapq import nlargest
from math import log
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memory.clock import utc_text
from memory.recall.dates import Dated, dates_in
from memory.recall.question import AGENT, Found, Hit, Line, Question, Sureness
from memory.recall.terms import Term, index_terms, question_terms
from memory.state.importance import TRIFLE, judged

MOST_OF_TERM: Final = 6_000
"""Newest items with a term that are looked at: a word that more have tells next to nothing."""

CANDIDATES: Final = 300
"""Items weighed after the first look; with a filter `FILTERED`, of which it leaves some."""
FILTERED: Final = 3_000

NEIGHBOUR_SHARE: Final = 0.3
"""Of what a neighbour's score adds to a turn's own."""
REACH: Final = 2
"""Turns to either side that count as neighbours."""
APART: Final = 600 / 86_400
"""Days between two turns of one conversation at most; ten minutes, as imported ones have coarse times."""
EXPANDED: Final = 40
"""Best candidates whose neighbours become candidates too, also without a word of the question."""

SPEAKER_SHARE: Final = 0.6
"""How much more counts what was said by somebody whom the question names."""
NAME_SHARE: Final = 0.6
"""How much of its weight the name of a speaker keeps as a word: people seldom say their own."""
DATE_SHARE: Final = 0.6
"""How much more counts what was said in a time that the question names."""

ASKING_SHARE: Final = 0.3
"""How much less counts what was a question itself: who asks does not tell."""

IMPORTANCE_SHARE: Final = 0.1
"""How much the importance, 0 to 1, moves a score."""

BROUGHT: Final = 0.4
"""Share of the weight of some words that comes back by itself."""
LEAST_NEW: Final = 2
"""Terms that the words themselves have not: an order that is given again brings nothing back."""
MOST_BROUGHT: Final = 8
"""Hits brought back by words that nobody asked with."""
RARE: Final = 5
RARE_SHARE: Final = 0.002
"""Items that have a word, or the share of all, up to which it is a rare one."""

FUSION: Final = 5
"""Added to ranks that are fused: the less, the more the first ones count."""
MOST_NEAR: Final = 50
"""Hits that meaning adds to one search."""

LOOKED_AT: Final = 3
"""Best hits of which one has to have much of the question, for it to be sure."""

SURE: Final = 0.6
LIKELY: Final = 0.35
FAINT: Final = 0.1
"""Shares of the question's weight of rare terms that the best hit has, with its neighbours."""


class _Candidate(Struct, frozen=True):
    """An item that may be a hit."""

    row: sqlite3.Row
    terms: int
    """A bit for each term that it has."""
    weight: float
    """Of its terms together; its length is none of it, for who says more tells more."""


class _Scored(Struct, frozen=True):
    """An item with what it comes to."""

    row: sqlite3.Row
    terms: int
    score: float
    around: int
    """Terms of its own and of its nearest neighbours."""


class _Asked(Struct, frozen=True):
    """What a question is made of."""

    terms: tuple[Term, ...]
    speakers: frozenset[str]
    """Those that it names, in lower case: what they said comes first."""
    dates: tuple[Dated, ...]
    """The times that it names: what was said then comes first."""

    def favours(self, row: sqlite3.Row) -> float:
        """Return by how much an item counts more for who said it, and when."""
        is_by = str(row["speaker"]).lower() in self.speakers
        is_then = any(utc_text(each.since) <= row["at"] < utc_text(each.until) for each in self.dates)
        return (1 + SPEAKER_SHARE * is_by) * (1 + DATE_SHARE * is_then) * (1 - ASKING_SHARE * int(row["asks"]))


class Ranking(Struct, frozen=True):
    """Items of an owner's index, the best first."""

    rows: tuple[sqlite3.Row, ...]
    sureness: Sureness


def newest(connection: sqlite3.Connection, question: Question, owner_key: str) -> Ranking:
    """Return all that meets a question's filters, the newest first, as far as its page needs it."""
    where, given = _where(question, owner_key)
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM recall_item WHERE {where} ORDER BY at DESC, id DESC LIMIT :most",
        {**given, "most": question.skip + question.limit + 1},
    ).fetchall()
    return Ranking(tuple(rows), "sure" if len(rows) > question.skip else "nothing")


def rank(connection: sqlite3.Connection, question: Question, owner_key: str) -> Ranking:
    """Return what an owner's index holds of a question's words; of one that has none, the newest."""
    asked = _read(connection, question.words, owner_key)
    if not asked.terms:
        return newest(connection, question, owner_key)
    matches = _Matches(connection, asked.terms)
    candidates = _candidates(connection, matches, question, owner_key)
    scored = _ranked(candidates, asked)
    best = [each.around for each in scored[:LOOKED_AT]]
    sureness = _sureness(max(map(matches.share, best), default=0.0), has_rare=any(map(matches.is_rare, best)))
    return Ranking(() if sureness == "nothing" else tuple(each.row for each in scored), sureness)


def page(connection: sqlite3.Connection, ranking: Ranking, question: Question) -> Found:
    """Return the hits of a ranking that a question asks for, with what stands around them."""
    end = question.skip + question.limit
    hits = _hits(connection, ranking.rows[question.skip : end], question.neighbours)
    return Found(tuple(hits), ranking.sureness, len(ranking.rows) > end)


def with_meaning(
    connection: sqlite3.Connection,
    by_words: Ranking,
    near: Sequence[int],
    question: Question,
    owner_key: str,
    *,
    fuses: bool,
) -> Ranking:
    """Return a ranking by words together with one by meaning.

    `near` are places in the index, the nearest first: they come behind what has the words, or, where it `fuses`, count
    as much.
    """
    rows = {row["id"]: row for row in _rows(connection, near, question, owner_key)}
    by_meaning = [rows[id_] for id_ in near if id_ in rows][:MOST_NEAR]
    known = {row["id"] for row in by_words.rows}
    behind = [row for row in by_meaning if row["id"] not in known]
    ordered = _fused(by_words.rows, by_meaning) if fuses else [*by_words.rows, *behind]
    return Ranking(tuple(ordered), "faint" if ordered and by_words.sureness == "nothing" else by_words.sureness)


def bring_back(connection: sqlite3.Connection, words: str, owner_key: str) -> tuple[Hit, ...]:
    """Return what has a rare word of some words, and much of the others; no questions, which tell nothing."""
    if judged(words) == TRIFLE:
        return ()
    asked = _read(connection, words, owner_key)
    matches = _Matches(connection, asked.terms)
    candidates = _candidates(connection, matches, Question(words), owner_key)
    near = [
        each.row
        for each in _ranked(candidates, asked)
        if not each.row["asks"] and matches.share(each.terms) >= BROUGHT and matches.is_rare(each.terms)
    ]
    said = set(index_terms(words))
    hits = _hits(connection, near[:MOST_BROUGHT], 0)
    return tuple(hit for hit in hits if len(set(index_terms(hit.words)) - said) >= LEAST_NEW)


def _fused(*rankings: Sequence[sqlite3.Row]) -> list[sqlite3.Row]:
    """Return the rows of several rankings by the sum of their reciprocal ranks (Cormack et al. 2009)."""
    rows: dict[int, sqlite3.Row] = {}
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking):
            rows[row["id"]] = row
            scores[row["id"]] = scores.get(row["id"], 0.0) + 1 / (FUSION + rank)
    return [rows[id_] for id_ in sorted(scores, key=lambda id_: -scores[id_])]


def _read(connection: sqlite3.Connection, words: str, owner_key: str) -> _Asked:
    """Return a question's terms, without the dates in it, and with the names of speakers counting less."""
    if not words.strip():
        return _Asked((), frozenset(), ())
    newest = connection.execute("SELECT max(at) FROM recall_item WHERE owner_key = ?", (owner_key,)).fetchone()[0]
    dates = tuple(dates_in(words, datetime.fromisoformat(newest))) if newest else ()
    for each in dates:
        words = words.replace(each.named, " ")
    names = {name.lower() for name in _speakers(connection, owner_key)}
    firsts = {name.split()[0]: name for name in names if name.split()}
    terms = [
        replace(term, weight=term.weight * NAME_SHARE) if term.text in names or term.text in firsts else term
        for term in question_terms(words)
    ]
    named = {firsts.get(term.text, term.text) for term in terms}
    return _Asked(tuple(terms), frozenset(named & names), dates)


def _speakers(connection: sqlite3.Connection, owner_key: str) -> Iterator[str]:
    """Yield everybody who ever spoke by name, each by one look into the index."""
    speaker = ""
    while row := connection.execute(
        "SELECT min(speaker) FROM recall_item WHERE owner_key = ? AND speaker > ?", (owner_key, speaker)
    ).fetchone():
        if row[0] is None:
            return
        speaker = row[0]
        if speaker != AGENT:
            yield speaker


_PARTS: Final = re.compile(r"[^\W_\u19b0-\u19c0\u19c8\u19c9\u1cf2\u1cf3]+")
"""Of a form, what FTS5's unicode61 takes no further apart: its letters are those of Unicode 6.1."""


def _query(form: str) -> str:
    """Return the FTS5 query for a form; one of two parts (o'clock, 3⁄4) has both, for the index knows no phrases."""
    parts = [f'"{part}"' for part in _PARTS.findall(form)] or ['""']
    return f"({' AND '.join(parts)})"


class _Matches:
    """Which items have which terms, and what that weighs: the rarer a term, the more."""

    def __init__(self, connection: sqlite3.Connection, terms: Sequence[Term]) -> None:
        (count,) = connection.execute("SELECT count(*) FROM recall_item").fetchone()
        self.found: dict[int, int] = {}
        """Places in the index, each with a bit for every term it has."""
        self._weights: list[float] = []
        self._rare: list[bool] = []
        self._sums: dict[int, float] = {0: 0.0}
        for number, term in enumerate(terms):
            query = " OR ".join(_query(form) for form in term.forms)
            statement = "SELECT rowid FROM recall_words WHERE recall_words MATCH ? ORDER BY rowid DESC LIMIT ?"
            ids = [row[0] for row in connection.execute(statement, (query, MOST_OF_TERM))]
            self._weights.append(term.weight * log(1 + (max(0, count - len(ids)) + 0.5) / (len(ids) + 0.5)))
            self._rare.append(term.weight >= NAME_SHARE and len(ids) <= max(RARE, count * RARE_SHARE))
            for id_ in ids:
                self.found[id_] = self.found.get(id_, 0) | 1 << number

    def weight(self, terms: int) -> float:
        """Return what some terms weigh together."""
        if terms not in self._sums:
            self._sums[terms] = sum(each for number, each in enumerate(self._weights) if terms >> number & 1)
        return self._sums[terms]

    def is_rare(self, terms: int) -> bool:
        """Whether one of some terms is in few items only."""
        return any(rare for number, rare in enumerate(self._rare) if terms >> number & 1)

    def share(self, terms: int) -> float:
        """Return how much of the question's weight some terms are, 0 to 1."""
        return self.weight(terms) / (sum(self._weights) or 1.0)


def _candidates(
    connection: sqlite3.Connection, matches: _Matches, question: Question, owner_key: str
) -> list[_Candidate]:
    """Return the best of the items that meet the filters, and what stands around the very best."""
    is_narrow = bool(question.speaker or question.since or question.until or question.session)
    found, most = matches.found, FILTERED if is_narrow else CANDIDATES
    best = nlargest(most, found, key=lambda id_: (matches.weight(found[id_]), id_))
    rows = {row["id"]: row for row in _rows(connection, best, question, owner_key)}
    there = [id_ for id_ in best if id_ in rows][:CANDIDATES]
    candidates = [_Candidate(rows[id_], found[id_], matches.weight(found[id_])) for id_ in there]
    known = {each.row["id"] for each in candidates}
    for row in _around(connection, candidates[:EXPANDED], question, owner_key):
        if row["id"] not in known:
            known.add(row["id"])
            terms = found.get(row["id"], 0)
            candidates.append(_Candidate(row, terms, matches.weight(terms)))
    return candidates


def _ranked(candidates: Sequence[_Candidate], asked: _Asked) -> list[_Scored]:
    """Return the candidates that come to anything, the best first, of equals the newest."""
    placed = {(each.row["session_id"], each.row["place"]): each for each in candidates if each.row["place"]}
    scored = (_scored(each, placed, asked) for each in candidates)
    return sorted((each for each in scored if each.score > 0), key=lambda each: (-each.score, -each.row["seq"]))


def _scored(candidate: _Candidate, placed: Mapping[tuple[str, int], _Candidate], asked: _Asked) -> _Scored:
    """Return an item's own weight with some of its neighbours', by speaker, time and importance."""
    row, beside, around = candidate.row, 0.0, candidate.terms
    for step in (step for step in range(-REACH, REACH + 1) if step and row["place"]):
        other = placed.get((row["session_id"], row["place"] + step))
        if other is not None and abs(other.row["day"] - row["day"]) <= APART:
            beside = max(beside, other.weight / abs(step))
            around |= other.terms if abs(step) == 1 else 0
    importance = 0.5 if row["importance"] is None else row["importance"]
    factor = asked.favours(row) * (1 + IMPORTANCE_SHARE * (importance - 0.5))
    return _Scored(row, candidate.terms, (candidate.weight + NEIGHBOUR_SHARE * beside) * factor, around)


def _around(
    connection: sqlite3.Connection, candidates: Sequence[_Candidate], question: Question, owner_key: str
) -> Iterator[sqlite3.Row]:
    """Yield the turns around some, those that meet the question's filters."""
    where, given = _where(question, owner_key)
    for each in candidates:
        if place := each.row["place"]:
            beside = {"beside": each.row["session_id"], "first": place - REACH, "last": place + REACH}
            yield from connection.execute(
                f"SELECT {_COLUMNS} FROM recall_item WHERE {where} AND session_id = :beside "
                "AND place BETWEEN :first AND :last",
                {**given, **beside},
            )


def _sureness(share: float, *, has_rare: bool) -> Sureness:
    """Return how sure a share makes; a rare word is never nothing, for what was asked may have been said otherwise."""
    if share >= SURE:
        return "sure"
    if share >= LIKELY:
        return "likely"
    return "faint" if share >= FAINT or has_rare else "nothing"


_COLUMNS: Final = (
    "id, seq, event_id, kind, session_id, place, at, speaker, importance, julianday(at) AS day, "
    "substr(words, -1) IN ('?', '？') AS asks"
)


def _where(question: Question, owner_key: str) -> tuple[str, dict[str, object]]:
    """Return the condition of what a question asks for beside its words, and its values."""
    given: dict[str, object] = {"owner": owner_key}
    wheres = ["owner_key = :owner"]
    if question.speaker:
        given["speaker"] = question.speaker
        wheres.append("speaker = :speaker COLLATE NOCASE")
    if question.since:
        given["since"] = utc_text(question.since)
        wheres.append("at >= :since")
    if question.until:
        given["until"] = utc_text(question.until)
        wheres.append("at < :until")
    if question.session:
        given["session"] = question.session
        wheres.append("session_id = :session")
    return " AND ".join(wheres), given


def _rows(
    connection: sqlite3.Connection, ids: Sequence[int], question: Question, owner_key: str
) -> Iterable[sqlite3.Row]:
    where, given = _where(question, owner_key)
    return connection.execute(
        f"SELECT {_COLUMNS} FROM recall_item WHERE id IN (SELECT value FROM json_each(:ids)) AND {where}",
        {**given, "ids": json.dumps(list(ids))},
    )


def _hits(connection: sqlite3.Connection, rows: Iterable[sqlite3.Row], neighbours: int) -> Iterator[Hit]:
    """Yield what stands in the index; what was erased since it was ranked does not any more."""
    for row in rows:
        if told := connection.execute("SELECT words FROM recall_item WHERE id = ?", (row["id"],)).fetchone():
            yield _hit(connection, row, told["words"], neighbours)


def _hit(connection: sqlite3.Connection, row: sqlite3.Row, words: str, neighbours: int) -> Hit:
    return Hit(
        *(row["event_id"], datetime.fromisoformat(row["at"]), row["speaker"], row["session_id"]),
        words,
        row["kind"],
        _beside(connection, row, neighbours, "<", "DESC")[::-1],
        _beside(connection, row, neighbours, ">", "ASC"),
    )


def _beside(connection: sqlite3.Connection, row: sqlite3.Row, most: int, side: str, order: str) -> tuple[Line, ...]:
    if row["place"] is None or not most:
        return ()
    rows = connection.execute(
        "SELECT event_id, speaker, words FROM recall_item WHERE (owner_key, session_id) = "
        f"(SELECT owner_key, session_id FROM recall_item WHERE id = ?) AND place {side} ? "
        f"ORDER BY place {order} LIMIT ?",
        (row["id"], row["place"], most),
    )
    return tuple(Line(each["event_id"], each["speaker"], each["words"]) for each in rows)
