"""What a rehearsal will cost, before it begins, and what came of it, in lines for people."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from agent.model.chain import Prices
from agent.model.messages import Usage
from appliance.bench.generator import FORGET, KINDS, UNKNOWN, Life
from appliance.bench.rehearsal import Lived

CALLS_A_LINE: Final = 1.3
"""Model calls for something that a person says; scripted agents take 1 to 1.5."""
CALLS_A_PROBE: Final = 2.2
CALLS_A_TALK: Final = 2.5
"""For a reflection; each day of the life that has words has about one."""
CALLS_A_NIGHT: Final = 3.0

PREFIX: Final = 9_000
"""Tokens of the system prompt and the list of tools, about."""
ANSWERED: Final = 120
"""Tokens of an answer, its tool calls among them."""

MEANINGS: Final = {
    "now": "what is so now",
    "before": "what was so before",
    "since": "since when",
    "who": "who said it",
    "forgotten": "what was to be forgotten is not known",
    "absent": "what nobody said is not known",
}


class Estimate(Struct, frozen=True):
    """What a life will cost, roughly."""

    calls: int
    read: int
    """Tokens; most of them out of a provider's cache, where it has one."""
    written: int

    def lines(self, model: str, prices: Prices) -> list[str]:
        """Return what is told before it begins."""
        cost = prices.of(Usage(self.read, self.read * 4 // 5, self.written))
        price = (
            f"about {cost:.2f} US dollars at the configured prices"
            if cost
            else "no price of it is configured ([model] price_prompt, price_cached, price_completion)"
        )
        return [
            f"model      {model}",
            f"calls      about {self.calls}",
            f"tokens     about {self.read:,} read, {self.written:,} written",
            f"cost       {price}",
        ]


def estimate(life: Life, context: int) -> Estimate:
    """Return what a life will cost; `context` is how many tokens an epoch may grow to."""
    probes = len(life.probes)
    lines = sum(each.words != FORGET for each in life.said) - probes
    talks = len({each.at.date() for each in life.said})
    heard = round(lines * CALLS_A_LINE + probes * CALLS_A_PROBE)
    alone = round(talks * CALLS_A_TALK + life.days * CALLS_A_NIGHT)
    grown = PREFIX + max(0, context - PREFIX) // 2  # that of an epoch, in the middle of it; what is done alone has none
    return Estimate(heard + alone, heard * grown + alone * PREFIX, (heard + alone) * ANSWERED)


def rows(lived: Lived) -> list[tuple[str, str, str]]:
    """Return a row for each kind of question that was asked: its meaning, how many are right of how many, percent."""
    found = []
    for kind in KINDS:
        of_kind = [each for each in lived.verdicts if each.probe.kind == kind]
        if of_kind:
            right = sum(each.is_right for each in of_kind)
            found.append((MEANINGS[kind], f"{right} of {len(of_kind)}", f"{100 * right / len(of_kind):.0f} %"))
    return found


def closing(lived: Lived) -> Iterator[str]:
    """Yield what else came of it."""
    known = [each for each in lived.verdicts if each.probe.kind not in UNKNOWN]
    cited = sum(each.cites for each in known)
    yield f"answers that name an event of the journal: {cited} of {len(known)}"
    invented = [each for each in lived.verdicts if each.probe.kind in UNKNOWN and not each.abstains]
    yield f"answers to what cannot be known: {len(invented)}"
    if not lived.spent:  # it was ended before
        return
    has = lived.memory
    if has.nodes:
        yield f"memory: {has.nodes} nodes, {has.orphans} without a link, {has.duplicates} twice"
    if lived.nights:
        yield f"nights: {len(lived.nights)}, the longest took {max(lived.nights):,} tokens"
    yield f"model calls while nothing was to do: {lived.idle_calls}"
    yield from (f"found although it was to be forgotten: {secret}" for secret in has.leaked)
    calls, tokens = (sum(getattr(each, name) for each in lived.spent.values()) for name in ("calls", "tokens"))
    usd = sum(each.usd for each in lived.spent.values())
    yield f"it took {calls} model calls, {tokens:,} tokens{f', {usd:.2f} US dollars' if usd else ''}"


def wrong(lived: Lived) -> Sequence[tuple[str, str, str]]:
    """Return question, answer and what was expected of each answer that is wrong."""
    expected = dict.fromkeys(UNKNOWN, "that it is not known")
    return [
        (each.probe.words, each.answer, expected.get(each.probe.kind) or " or ".join(each.probe.expected[:3]))
        for each in lived.verdicts
        if not each.is_right
    ]
