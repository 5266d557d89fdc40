"""How many outputs of models, out of public test suites, are read right, by notation: prints a table."""

import json
from collections import Counter
from collections.abc import Iterator

from tests.agent.dialect_corpus import FOLDER, Case, cases, damaged, is_right, outcome, read, splits

CUTS = 50
"""Random ways in which each output is cut, besides character by character."""

DAMAGED = 20_000
"""Outputs that are damaged at random."""

SHARES = ("seen", "held back")


def main() -> None:
    """Print the table, and what was right of the held back files before anything was changed for them."""
    corpus = cases()
    total = Counter((case.format, case.share) for case in corpus)
    right = Counter((case.format, case.share) for case in corpus if is_right(case, outcome(read(case, [case.text]))))
    print("| notation | seen | held back |\n|---|---|---|")
    for notation in sorted({case.format for case in corpus}):
        cells = [f"{right[notation, share]} of {total[notation, share]}" for share in SHARES]
        print(f"| {notation} | {' | '.join(cells)} |")
    cells = [f"{_sum(right, share)} of {_sum(total, share)}" for share in SHARES]
    print(f"| all | {' | '.join(cells)} |\n")
    print(f"read otherwise when cut otherwise: {sum(map(_depends_on_cuts, corpus))} of {len(corpus)}")
    broken = sum(_depends_on_cuts(case, 2) for case in damaged(corpus, DAMAGED, seed=1))
    print(f"and of outputs with pieces missing, repeated or mixed: {broken} of {DAMAGED}")
    for name, first, count in _at_first():
        print(f"{name}: {first} of {count} before anything was changed for it")


def _sum(counted: Counter[tuple[str, str]], share: str) -> int:
    return sum(count for (_, one), count in counted.items() if one == share)


def _depends_on_cuts(case: Case, cuts: int = CUTS) -> bool:
    whole = outcome(read(case, [case.text]))
    return any(outcome(read(case, cut)) != whole for cut in (list(case.text), *splits(case.text, cuts, seed=1)))


def _at_first() -> Iterator[tuple[str, int, int]]:
    for path in sorted(FOLDER.glob("*.json")):
        body = json.loads(path.read_text(encoding="utf-8"))
        if "right_at_first" in body:
            yield path.stem, body["right_at_first"], len(body["cases"])


if __name__ == "__main__":
    main()
