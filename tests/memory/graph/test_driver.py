"""The driver without its tables answers as it does with them, and the memory that they held is free."""

import json
import subprocess
import sys

from memory.graph.connections import TABLES
from tests.architecture.source import ROOT

TELLS = """
import json
from neo4j import time
from neo4j._codec.packstream import v1, v2
modules = {"neo4j.time": time, "neo4j._codec.packstream.v1": v1, "neo4j._codec.packstream.v2": v2}
"""


def told_by(program: str) -> object:
    """Return the JSON that a process of its own prints."""
    done = subprocess.run([sys.executable, "-c", TELLS + program], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_each_table_is_one_of_the_driver_as_it_is_installed() -> None:
    names = {name: sorted(tables) for name, tables in TABLES.items()}
    program = (
        f"names = {names}\nprint(json.dumps([[len(vars(modules[m])[t]) for t in names[m]] for m in sorted(names)]))"
    )
    assert told_by(program) == [[65_536, 65_536], [65_536, 65_536], [9_999 * 12]]


def test_what_is_computed_is_what_stood_in_the_table() -> None:
    program = """
from memory.graph.connections import TABLES
def entries(table):
    return table.items() if isinstance(table, dict) else enumerate(table)
pairs = [(vars(modules[name])[table], tables[table]) for name, tables in TABLES.items() for table in tables]
print(json.dumps([sum(computed[key] != value for key, value in entries(table)) for table, computed in pairs]))
"""
    assert told_by(program) == [0, 0, 0, 0, 0]


def test_a_driver_that_is_loaded_computes_and_keeps_nothing() -> None:
    program = """
import sys
from memory.graph.connections import TABLES, load_driver
before = sys.getallocatedblocks()
load_driver()
freed = before - sys.getallocatedblocks()
leap, last = time.Date.days_in_month(2024, 2), time.Date(1900, 2, -1).day
tables = [vars(modules[name])[table] for name, tables in TABLES.items() for table in tables]
print(json.dumps([leap, last, tables[1][513].hex(), [len(each) for each in tables], freed > 200_000]))
"""
    assert told_by(program) == [29, 28, "0201", [0, 0, 0, 0, 0], True]
