#!/usr/bin/env python3
"""Every planted fault is found: planted.py PLANTS.DEF TEST...

Each TEST is a program, run without a fault (it must pass) and then once per fault of
PLANTS.DEF, named by FTL_PLANT, until one fails: by its exit, a crash, or no end in time.
One fault per processor at a time.
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import time

SECONDS = 120
LEAST = 10


def run(test, plant):
    """None when it passes, else how it failed."""
    env = dict(os.environ, FTL_PLANT=plant, FTL_MODEL_SEEDS="150", FTL_MODEL_SHRINK="0")
    try:
        done = subprocess.run([test], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "no end within %d s" % SECONDS
    if done.returncode == 0:
        return None
    text = done.stdout.decode(errors="replace")
    said = [line for line in text.split("\n")
            if re.search(r"seed|rule broken|ERROR:|error:", line)]
    return said[0].strip()[:110] if said else "exit %d" % done.returncode


def find(tests, plant):
    """(how it was found or None, a line about it); the test that found it goes to the front of
    `tests`, as the next faults of the list are likely found by the same."""
    start = time.monotonic()
    for test in list(tests):
        how = run(test, plant)
        if how is not None:
            tests[:] = [test] + [t for t in tests if t != test]
            break
    return how, "%-20s %5.1f s  %s" % (plant, time.monotonic() - start, "NOT FOUND" if how is None
                                       else os.path.basename(test) + ": " + how)


def main():
    with open(sys.argv[1], encoding="utf-8") as text:
        plants = re.findall(r"^X\((\w+), \"", text.read(), re.M)
    tests = sys.argv[2:]
    missed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for test, how in zip(tests, pool.map(lambda test: run(test, ""), tests)):
            if how is not None:
                sys.exit("%s fails without a fault: %s" % (os.path.basename(test), how))
        if run(tests[0], "no_such_fault") is None:
            sys.exit("a fault of no name was accepted: this build has none")
        for how, line in pool.map(lambda plant: find(tests, plant), plants):
            missed += how is None
            print(line, flush=True)
    print("%d planted faults, %d not found" % (len(plants), missed))
    return 1 if missed or len(plants) < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
