"""Writes the generated parts of docs/graph.md: what of the contract passes where, and the curves of growth."""

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Final

from tests.memory.contract import PAGE, page
from tests.memory.graph.test_contract import CASES

CURVES: Final = PAGE.with_suffix(".svg")
WIDTH, HEIGHT, MARGIN = 720, 420, 60
"""Of the picture, in its own units."""

MEASURED: Final = {
    "write": "#1f77b4",
    "audited": "#9467bd",
    "lookup": "#2ca02c",
    "scan": "#ff7f0e",
    "schema": "#d62728",
}
"""What is drawn, in milliseconds, and its colour."""

Row = Mapping[str, object]


def main() -> None:
    """Write the table of the contract."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), CASES), encoding="utf-8")


def write_growth(points: Sequence[Row]) -> None:
    """Write the figures of growth into the page, and the curves beside it."""
    heads = "store | nodes | write | write, audited | look-up | scan | memory_schema | MB | start"
    names = "store nodes write audited lookup scan schema megabytes start"
    _write_table("growth", heads, names.split(), points)
    CURVES.write_text(curves(points), encoding="utf-8")


def write_vectors(rows: Sequence[Row]) -> None:
    """Write the figures of vector search into the page."""
    heads = (
        "store | vectors | filled, s | the call, s | ready, s | of a core, s | longest write, ms | by index, ms "
        "| by scan, ms | recall | MB | warm again, s"
    )
    names = "store vectors filled call ready processor writing by_index by_scan recall megabytes warm"
    _write_table("vectors", heads, names.split(), rows)


def _write_table(part: str, heads: str, names: Sequence[str], rows: Sequence[Row]) -> None:
    """Write a table between the marks of its part of the page."""
    lines = [f"| {heads} |", "|---" * len(names) + "|"]
    lines += ["| " + " | ".join(_told(row[name]) for name in names) + " |" for row in rows]
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(f"<!-- {part} -->\n")
    tail = rest.partition(f"<!-- /{part} -->")[2]
    table = "\n".join(lines)
    PAGE.write_text(f"{head}<!-- {part} -->\n{table}\n<!-- /{part} -->{tail}", encoding="utf-8")


def curves(points: Sequence[Row]) -> str:
    """Return the milliseconds over the number of nodes as an SVG, both axes logarithmic; dashed is the server."""
    sizes = [_number(row["nodes"]) for row in points]
    times = [max(0.1, _number(row[name])) for row in points for name in MEASURED if _is_known(row[name])]
    across = _scale(min(sizes), max(sizes), MARGIN, WIDTH - 150)
    up = _scale(min(times), max(times), HEIGHT - MARGIN, 20)
    body = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    at = {size: across(size) for size in sorted(set(sizes))}
    body += [f'<text x="{x:.0f}" y="{HEIGHT - 35}" text-anchor="middle">{size:,.0f}</text>' for size, x in at.items()]
    for power in range(math.floor(math.log10(min(times))), math.ceil(math.log10(max(times))) + 1):
        if min(times) <= 10**power <= max(times):
            y = up(10**power)
            body.append(f'<line x1="{MARGIN}" x2="{WIDTH - 150}" y1="{y:.0f}" y2="{y:.0f}" stroke="#ddd"/>')
            body.append(f'<text x="{MARGIN - 8}" y="{y + 4:.0f}" text-anchor="end">{10**power:g} ms</text>')
    for store in dict.fromkeys(str(row["store"]) for row in points):
        dash = "" if store == "embedded" else ' stroke-dasharray="5 4"'
        rows = [row for row in points if row["store"] == store]
        for name, colour in MEASURED.items():
            known = [row for row in rows if _is_known(row[name])]
            places = [(across(_number(row["nodes"])), up(max(0.1, _number(row[name])))) for row in known]
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            body.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
    for place, (name, colour) in enumerate(MEASURED.items()):
        body.append(f'<text x="{WIDTH - 140}" y="{40 + 20 * place}" fill="{colour}">{escape(name)}</text>')
    body.append(f'<text x="{WIDTH - 140}" y="{40 + 20 * len(MEASURED)}">dashed: Neo4j</text>')
    body.append(f'<text x="{WIDTH // 2 - 50}" y="{HEIGHT - 10}" text-anchor="middle">nodes</text>')
    joined = "\n".join(body)
    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
    return f'{start} font-size="13">\n{joined}\n</svg>\n'


def _scale(least: float, most: float, first: float, last: float) -> Callable[[float], float]:
    """Return a logarithmic axis: from a value to a place."""
    low, span = math.log10(least), math.log10(most * 1.0001) - math.log10(least)
    return lambda value: first + (math.log10(value) - low) / span * (last - first)


def _told(value: object) -> str:
    """Return a figure for the table; what was not measured, because a server may be elsewhere, is a dash."""
    if not isinstance(value, float):
        return str(value)
    if math.isinf(value):
        return "refused"
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}" if value else "-"


def _is_known(value: object) -> bool:
    return not math.isinf(_number(value))


def _number(value: object) -> float:
    return float(str(value))


if __name__ == "__main__":
    main()
