#!/usr/bin/env python3
"""The command `ftlsim ldpc`: cli.py FTLSIM ROOT. What it refuses, prints and writes."""
import json
import os
import subprocess
import sys
import tempfile

FTLSIM, ROOT = os.path.abspath(sys.argv[1]), sys.argv[2]
failed = 0


def run(*args, cwd=None):
    p = subprocess.run([FTLSIM, "ldpc", *args], capture_output=True, text=True, cwd=cwd)
    return p.returncode, p.stdout, p.stderr


def check(ok, what):
    global failed
    if not ok:
        failed += 1
        print("FAILED:", what)


def refused(*args):
    code, out, err = run(*args)
    check(code == 2 and out == "" and err.count("\n") == 1 and err.startswith("ftlsim: ldpc: "),
          f"{args}: exit {code}, stdout {out!r}, stderr {err!r}")


def refusals():
    refused()
    refused("nothing")
    refused("fer")
    refused("fer", "--rber", "nan")
    refused("fer", "--rber", "inf")
    refused("fer", "--rber", "0")
    refused("fer", "--rber", "0.6")
    refused("fer", "--rber", "0.008,0.007")
    refused("fer", "--rber", "0.008:0.009")
    refused("fer", "--rber", "0.008:0.009:0")
    refused("fer", "--rber", "0.008x")
    refused("fer", "--rber")
    refused("fer", "rber", "0.008")
    refused("fer", "--rber", "0.008", "--decoder", "turbo")
    refused("fer", "--rber", "0.008", "--soft", "2", "--decoder", "gdbf")
    refused("fer", "--rber", "0.008", "--soft", "4")
    refused("fer", "--rber", "0.008", "--frames", "-1")
    refused("fer", "--rber", "0.008", "--frames", "1e9")
    refused("fer", "--rber", "0.008", "--threads", "0")
    refused("fer", "--rber", "0.008", "--code", "5k")
    refused("fer", "--rber", "0.008", "--payload", "ascii")
    refused("fer", "--rber", "0.008", "--colour", "red")
    refused("code", "--code", "4k", "--build", "x")
    refused("code", "--export", "-")
    refused("code", "--import", "/nonexistent")
    refused("code", "--build", "x", "--z", "64")
    refused("lifetime", "--cell", "paper")
    refused("lifetime", "--tables", "/nonexistent")
    refused("lifetime", "--days", "nan")
    refused("bench", "--seconds", "0")
    refused("floor", "--rber", "0.008", "--soft", "2")


def threads_do_not_matter(tmp):
    outs = []
    for n in ("1", "2", "3"):
        path = os.path.join(tmp, f"fer{n}.json")
        code, _, err = run("fer", "--code", "1k", "--rber", "0.0072,0.0080", "--frames", "1500",
                           "--threads", n, "--quiet", "yes", "--json", path)
        check(code == 0, err)
        with open(path, encoding="utf-8") as f:
            outs.append(json.load(f))
    check(outs[0] == outs[1] == outs[2], "1, 2 and 3 threads differ")
    points = outs[0]["points"]
    check([p["rber"] for p in points] == [0.0072, 0.0080], "rber of the points")
    for p in points:
        check(p["low95"] <= p["fer"] <= p["high95"], "interval holds the estimate")
        check(sum(p["frames_by_iterations"]) == p["frames"], "histogram sums to the frames")
        check(sum(p["frames_by_flips"]) + sum(p["frames_by_iterations"][1:]) == p["frames"],
              "every frame ends by flipping or by min-sum")
        lat = p["latency_ns"]
        check(0 < lat["p50"] <= lat["p99"] <= lat["worst"], f"latency {lat}")
        check(lat["p50"] / 2 < lat["mean"] < lat["worst"], f"mean latency {lat}")
        check(p["limit_fer"] < p["high95"], "beats the finite-length limit")


def table_is_repeatable(tmp):
    texts = []
    for n in range(2):
        path = os.path.join(tmp, "t.csv")
        code, _, err = run("table", "--code", "1k", "--rber", "0.0075,0.0085", "--frames", "600",
                           "--quiet", "yes", "--output", path)
        check(code == 0, err)
        with open(path, encoding="utf-8") as f:
            texts.append(f.read())
    check(texts[0] == texts[1], "table differs from run to run")
    check(texts[0].startswith("# ldpc-fer-table 2\n# code=1k n=9216 soft=1 "), texts[0][:80])


def alist_round_trip(tmp):
    path = os.path.join(tmp, "c.alist")
    code, first, err = run("code", "--code", "1k", "--export", path)
    check(code == 0, err)
    code, second, err = run("code", "--import", path)
    check(code == 0, err)
    check(first.splitlines()[1:] == second.splitlines()[1:], "facts after export and import")
    with open(path, "r+", encoding="utf-8") as f:
        f.truncate(5000)
    code, _, err = run("code", "--import", path)
    check(code == 2 and err.count("\n") == 1, "truncated alist: " + err)


def lifetime_states_its_baseline():
    code, out, err = run("lifetime", "--cell", "etlc", cwd=ROOT)
    check(code == 0, err)
    lines = [line for line in out.splitlines() if "baseline" in line]
    check(any("90 days at 40 C" in line and "UBER 1e-18" in line for line in lines),
          "the factor's baseline is not stated:\n" + out)
    code, out, err = run("lifetime", "--cell", "etlc", "--json", "-", cwd=ROOT)
    check(code == 0, err)
    pe = {x["ladder"]: x for x in json.loads(out)["ladders"]}
    order = ["hard, coarse table", "hard, full retry table", "2-bit, full retry table",
             "3-bit, full retry table", "3-bit, tracking", "3-bit, tracking, neighbour"]
    life = [pe[name]["pe_at_uber_1e-18"] for name in order]
    check(all(a <= b for a, b in zip(life, life[1:])), f"a better ladder lives shorter: {life}")
    for x in pe.values():
        check(x["pe_at_uber_1e-18"] <= x["pe_at_uber_1e-17"] <= x["pe_at_uber_1e-16"],
              "a laxer UBER must not shorten life")


refusals()
with tempfile.TemporaryDirectory() as folder:
    threads_do_not_matter(folder)
    table_is_repeatable(folder)
    alist_round_trip(folder)
lifetime_states_its_baseline()
print("failed:", failed)
sys.exit(1 if failed else 0)
