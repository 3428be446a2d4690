"""The C program of README.md: its text, and what it must print."""
import re

import tree

LINES_MAX = 25
# WA of uniform random 4 KiB writes in steady state on a drive with 13 % of spare.
# Greedy collection there is near 4.4; a broken counter or collector is far away.
WA_RANGE = (4.0, 5.0)
PRINTED = re.compile(r"WA (\d+\.\d+) = (\d+\.\d+) / (\d+\.\d+) GB")


def program(root):
    """The one C block with a main function."""
    blocks = re.findall(r"^```c\n(.*?)^```$", tree.read(root, "README.md"), re.M | re.S)
    found = [b for b in blocks if "int main(" in b]
    if len(found) != 1:
        raise SystemExit("README.md holds %d C programs, not one" % len(found))
    if found[0].count("\n") > LINES_MAX:
        raise SystemExit("the program of README.md has %d lines, more than %d" %
                         (found[0].count("\n"), LINES_MAX))
    return found[0]


def judge(output):
    """None when the output is right, else the reason."""
    match = PRINTED.search(output)
    if not match:
        return "no line 'WA x = y / z GB' in: %r" % output
    wa, all_gb, host_gb = (float(g) for g in match.groups())
    if host_gb <= 0 or abs(all_gb / host_gb - wa) > 0.01:
        return "WA is not the quotient beside it: %r" % output
    if not WA_RANGE[0] < wa < WA_RANGE[1]:
        return "WA %s outside of %s" % (wa, WA_RANGE)
    return None


def self_test():
    if judge("WA 4.50 = 450.0 / 100.0 GB\n"):
        raise SystemExit("self-test: good output refused")
    for wrong in ("", "WA 4.5\n", "WA 4.50 = 460.0 / 100.0 GB\n", "WA 1.00 = 1.0 / 1.0 GB\n"):
        if not judge(wrong):
            raise SystemExit("self-test: accepted %r" % wrong)
