"""Garbage is looked for seldom while the program loads, and as usual once it has."""

import json
import subprocess
import sys

import pytest

from appliance.footprint import ARENAS, AS_IT_COMES, LOADING
from tests.architecture.source import ROOT


def told_by(program: str) -> object:
    """Return the JSON that a process of its own prints."""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_a_command_in_somebody_elses_process_leaves_its_garbage_alone() -> None:
    program = (
        "import gc, json\nfrozen = gc.get_freeze_count()\nfrom appliance.cli.main import main\n"
        "assert main(['--version']) == 0\nprint(json.dumps([gc.get_threshold(), gc.get_freeze_count() - frozen]))"
    )
    assert told_by(program) == [[*AS_IT_COMES], 0]


def test_a_command_of_its_own_process_hardly_looks_for_garbage() -> None:
    program = (
        "import gc, json, sys\nfrom appliance.cli.main import main\nsys.argv = ['nakari', '--version']\n"
        "assert main() == 0\nprint(json.dumps([gc.get_threshold()[0], gc.get_freeze_count() > 0]))"
    )
    assert told_by(program) == [LOADING, True]


PROGRAM = """
import gc, json
from appliance.footprint import collect_seldom, give_back
class Node: ...
def ring():
    one, other = Node(), Node()
    one.other, other.other = other, one
def rings():
    return sum(isinstance(each, Node) for each in gc.get_objects())
collect_seldom()
lasting = Node()
ring()
before = rings()
give_back()
print(json.dumps([before, rings(), gc.get_freeze_count() > 0, gc.get_threshold(), lasting is not None]))
"""


def test_what_is_loaded_stays_and_what_is_garbage_by_then_goes() -> None:
    # What is permanent is no longer among the objects that the search goes through.
    assert told_by(PROGRAM) == [3, 0, True, [*AS_IT_COMES], True]


HEAPS = """
import ctypes, json, os, re, tempfile, threading
from appliance.footprint import share_heaps
share_heaps()
malloc, stats = ctypes.CDLL(None).malloc, ctypes.CDLL(None).malloc_stats
there = threading.Barrier(6)
def takes():
    there.wait()
    malloc(1000)
    there.wait()
threads = [threading.Thread(target=takes) for _ in range(6)]
for each in threads: each.start()
for each in threads: each.join()
with tempfile.TemporaryFile("w+") as told:
    os.dup2(told.fileno(), 2)
    stats()
    told.seek(0)
    print(json.dumps(len(re.findall("^Arena", told.read(), re.MULTILINE))))
"""


def test_threads_share_heaps() -> None:
    assert told_by(HEAPS) == ARENAS


@pytest.mark.shows("H9")
def test_no_thread_of_numpy_spins_beside_the_ears() -> None:
    check = (
        "import os, appliance.cli.main, appliance.service, appliance.wiring.box, numpy; "
        "large = numpy.ones((600, 600), numpy.float32); large @ large; "
        "print(len(os.listdir('/proc/self/task')))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
