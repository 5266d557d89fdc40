"""Writes the generated part of docs/graph.md anew: what of the contract passes on which store."""

from tests.memory.contract import PAGE, page
from tests.memory.test_graph_contract import CASES


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), CASES), encoding="utf-8")


if __name__ == "__main__":
    main()
