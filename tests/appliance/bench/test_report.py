"""What a rehearsal costs, said before, and what came of it, said after."""

from datetime import UTC, datetime

from agent.model.chain import Prices
from appliance.bench.generator import Life, Probe, Said
from appliance.bench.rehearsal import Lived, Remembers, Spent, judged
from appliance.bench.report import closing, estimate, rows, wrong

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
ASKED = Probe(NOW, "Anna", "Where does Boris live now?", "now", ("Graz",))
ABSENT = Probe(NOW, "Anna", "Where does Zelda live now?", "absent")
LIFE = Life((Said(NOW, "Anna", "Boris lives in Graz."), ASKED, ABSENT))


def test_a_longer_life_and_a_wider_context_cost_more() -> None:
    short = estimate(LIFE, 10_000)
    assert short.calls > 3
    assert estimate(Life(LIFE.said * 9), 10_000).calls > short.calls
    assert estimate(LIFE, 100_000).read > short.read


def test_the_cost_is_told_where_the_price_is_known() -> None:
    priced = estimate(LIFE, 10_000).lines("qwen", Prices(prompt=2.0, completion=8.0))
    assert "US dollars at the configured prices" in priced[-1]
    assert "no price of it is configured" in estimate(LIFE, 10_000).lines("qwen", Prices())[-1]


def test_right_answers_are_counted_by_what_was_asked() -> None:
    lived = Lived([judged(ASKED, "In Graz."), judged(ASKED, "In Linz."), judged(ABSENT, "I do not know.")])
    assert rows(lived) == [("what is so now", "1 of 2", "50 %"), ("what nobody said is not known", "1 of 1", "100 %")]
    assert wrong(lived) == [("Where does Boris live now?", "In Linz.", "Graz")]


def test_an_invented_answer_and_a_leaked_secret_are_named() -> None:
    lived = Lived([judged(ABSENT, "In Graz.")], memory=Remembers(10, 1, 2, ("1034-812",)))
    lived.spent["user_text"] = Spent({"a"}, 3, 4000, 0.5)
    lived.spent["timer"] = Spent({"b"}, 1, 100)
    told = "\n".join(closing(lived))
    for line in (
        "answers to what cannot be known: 1",
        "10 nodes, 1 without a link, 2 twice",
        "model calls while nothing was to do: 1",
        "found although it was to be forgotten: 1034-812",
        "it took 4 model calls, 4,100 tokens, 0.50 US dollars",
    ):
        assert line in told


def test_of_one_that_was_ended_only_the_answers_are_told() -> None:
    assert "it took" not in "\n".join(closing(Lived([judged(ASKED, "In Graz.")])))
