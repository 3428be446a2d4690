#!/usr/bin/env python3
"""What the policy interface costs against direct calls: policy_cost.py BUILD_DIR [RUNS]

Greedy, least-worn and threshold through ftl_policy.h against the same as plain calls in the
core (-DFTL_DIRECT_POLICIES), on random untimed writes with collection: the best of RUNS
alternating runs in processor time, and the instructions of a shorter run under callgrind, which no other
load disturbs. Both programs must reach the same state.
  ninja -C BUILD_DIR bench/ftl/bench_policy bench/ftl/bench_policy_direct
"""
import re
import subprocess
import sys

CASES = (("uh812a-7.68 at scale 256", ["uh812a-7.68", "256"], 8000000, 400000),
         ("wa-reference (256 units per superblock)", ["wa-reference", "1"], 4000000, 400000))


def run(program, args):
    out = subprocess.run([program, *args], check=True, capture_output=True, text=True).stdout
    ns, state = re.match(r"([\d.]+) ns, (.*)", out).groups()
    return float(ns), state


def instructions(program, args):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, *args],
                          check=True, capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def main():
    build, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    programs = [build + "/bench/ftl/bench_policy_direct", build + "/bench/ftl/bench_policy"]
    for name, drive, writes, few in CASES:
        best, states = [float("inf")] * 2, set()
        for _ in range(runs):
            for i, program in enumerate(programs):
                ns, state = run(program, [*drive, str(writes)])
                best[i] = min(best[i], ns)
                states.add(state)
        if len(states) != 1:
            sys.exit("%s: the two differ: %s" % (name, states))
        print("%s: direct %.2f ns per write, interface %.2f ns, ratio %.4f" % (name, *best, best[1] / best[0]))
        # writes alone: the fill and the start are in both of two lengths
        cost = [instructions(p, [*drive, str(2 * few)]) - instructions(p, [*drive, str(few)]) for p in programs]
        print("  instructions per write: direct %.1f, interface %.1f, ratio %.4f" %
              (cost[0] / few, cost[1] / few, cost[1] / cost[0]))


if __name__ == "__main__":
    main()
