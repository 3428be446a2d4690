#!/usr/bin/env python3
"""What the policy interface costs against direct calls: policy_cost.py BUILD_DIR [RUNS]

Greedy, least-worn and threshold through ftl_policy.h against the same as plain calls in the
core (-DFTL_DIRECT_POLICIES), on random untimed writes with collection: instructions per write
under callgrind, which no other load disturbs, and the best of RUNS alternating runs in processor
time, which it does. Both programs must reach the same state. About a minute on a quiet machine.
  ninja -C BUILD_DIR bench/ftl/bench_policy bench/ftl/bench_policy_direct
"""
import re
import subprocess
import sys

# drive, writes that are timed, writes that are counted
CASES = (("uh812a-1.92 at scale 256", ["uh812a-1.92", "256"], 1000000, 200000),
         ("wa-reference (256 units per superblock)", ["wa-reference", "1"], 1000000, 200000))


def run(program, args):
    out = subprocess.run([program, *args], check=True, capture_output=True, text=True).stdout
    ns, state = re.match(r"([\d.]+) ns, (.*)", out).groups()
    return float(ns), state


def instructions(program, args):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           "--toggle-collect=measured", program, *args],
                          check=True, capture_output=True, text=True)
    count = int(re.search(r"Collected : (\d+)", done.stderr).group(1))
    state = re.match(r"[\d.]+ ns, (.*)", done.stdout).group(1)
    return count, state


def main():
    build, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    programs = [build + "/bench/ftl/bench_policy_direct", build + "/bench/ftl/bench_policy"]
    for name, drive, writes, few in CASES:
        few = few // 256 * 256
        (direct, one), (interface, other) = [instructions(p, [*drive, str(few)]) for p in programs]
        if one != other:
            sys.exit("%s: the two differ: %s, %s" % (name, one, other))
        print("%s, %s\n  instructions per write: direct %.1f, interface %.1f, ratio %.4f" %
              (name, one.split(",")[0], direct / few, interface / few, interface / direct), flush=True)
        best, states = [float("inf")] * 2, set()
        for _ in range(runs):
            for i, program in enumerate(programs):
                ns, state = run(program, [*drive, str(writes)])
                best[i] = min(best[i], ns)
                states.add(state)
        if len(states) != 1:
            sys.exit("%s: the two differ: %s" % (name, states))
        print("  ns per write, best of %d: direct %.2f, interface %.2f, ratio %.4f" %
              (runs, *best, best[1] / best[0]), flush=True)


if __name__ == "__main__":
    main()
