#!/usr/bin/env python3
"""Measures the built-in drives against their data sheets and writes docs/drives.md.

drive_table.py FTLSIM [--scale N] [--drive NAME]... [--print]

Runs examples/jobs/datasheet.fio twice per drive: on a drive filled once in order, and
in the steady state of random writes. Without --print the tables of docs/drives.md are
replaced. Published figures and their kind come from docs/published.csv.
"""
import argparse
import csv
import json
import math
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
JOB = os.path.join("examples", "jobs", "datasheet.fio")
START, END = "<!-- tables: start -->\n", "<!-- tables: end -->\n"

# figure: section, direction, value of fio's JSON, title, how to print
FIGURES = {
    "seq_read_mbps": ("seq-read", "read", lambda d: d["bw_bytes"] / 1e6,
                      "Sequential read, 128 KiB, MB/s", "{:,.0f}"),
    "seq_write_mbps": ("seq-write", "write", lambda d: d["bw_bytes"] / 1e6,
                       "Sequential write, 128 KiB, MB/s", "{:,.0f}"),
    "rand_read_iops": ("rand-read", "read", lambda d: d["iops"],
                       "Random read, 4 KiB, IOPS", "{:,.0f}"),
    "rand_write_iops": ("rand-write", "write", lambda d: d["iops"],
                        "Random write, 4 KiB, steady state, IOPS", "{:,.0f}"),
    "read_us": ("read-latency", "read", lambda d: d["lat_ns"]["mean"] / 1e3,
                "Random read, 4 KiB, queue depth 1, mean latency, us", "{:.2f}"),
    "write_us": ("write-latency", "write", lambda d: d["lat_ns"]["mean"] / 1e3,
                 "Random write, 4 KiB, queue depth 1, mean latency, us", "{:.2f}"),
}
STATES = (("seq:1", ("read-latency", "write-latency", "seq-read", "rand-read", "seq-write")),
          ("seq:1,rand:3", ("rand-write",)))


def formula_wa(a):
    """Mean-field WA of uniform random writes: a / (a + W0(-a exp(-a))), W0 by Halley's rule."""
    x, w = -a * math.exp(-a), -0.5
    for _ in range(100):
        e = math.exp(w)
        w -= (w * e - x) / (e * (w + 1) - (w + 2) * (w * e - x) / (2 * w + 2))
    return a / (a + w)


def published():
    with open(os.path.join(ROOT, "docs", "published.csv"), encoding="ascii") as text:
        rows = csv.DictReader(line for line in text if not line.startswith("#"))
        return {(r["drive"], r["figure"]): (float(r["published"]), r["kind"]) for r in rows}


def measure(ftlsim, drive, scale):
    """figure -> value, and the `ssd` object of the steady state."""
    sections, ssd = {}, None
    for precondition, names in STATES:
        command = [ftlsim, "run", JOB, "--drive", drive, "--precondition", precondition,
                   "--output-format", "json", "--no-check"]
        command += ["--scale", str(scale)] if scale else []
        for name in names:
            command += ["--section", name]
        done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
        report = json.loads(done.stdout)
        sections.update({job["jobname"]: job for job in report["jobs"]})
        ssd = report["ssd"]
    values = {}
    for figure, (section, direction, value, _, _) in FIGURES.items():
        values[figure] = value(sections[section][direction])
    return values, ssd


def table(figure, drives, sheet, results):
    title, shape = FIGURES[figure][3:]
    steady = figure == "rand_write_iops"
    head = "| drive | published | simulated | error | |" + (" a | WA | formula |" if steady else "")
    lines = ["### " + title, head, "|---|--:|--:|--:|---|" + ("--:|--:|--:|" if steady else "")]
    for drive in drives:
        want, kind = sheet[drive, figure]
        got, ssd = results[drive][0][figure], results[drive][1]
        line = "| %s | %s | %s | %+.1f %% | %s |" % (
            drive, "{:,.0f}".format(want), shape.format(got), 100 * (got / want - 1), kind)
        if steady:
            a = ssd["a_effective"]
            line += " %.4f | %.3f | %.3f |" % (a, ssd["wa_gc"]["value"], formula_wa(a))
        lines.append(line)
    return "\n".join(lines) + "\n\n"


def replace_tables(text, tables, scale):
    before, rest = text.split(START)
    after = rest.split(END)[1]
    note = "Made by `scripts/drive_table.py`; scale %s, seed 1.\n\n" % scale
    return before + START + note + tables + END + after


def main():
    sheet = published()
    known = sorted({d for d, _ in sheet}, key=lambda d: (d[:6], float(d.split("-")[1])))
    options = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    options.add_argument("ftlsim")
    options.add_argument("--scale", type=int)
    options.add_argument("--drive", action="append", choices=known)
    options.add_argument("--print", action="store_true", help="leave docs/drives.md alone")
    args = options.parse_args()
    drives = args.drive or known
    if not args.print and drives != known:
        options.error("--drive needs --print: the document holds all drives")
    ftlsim = os.path.abspath(args.ftlsim)
    results = {}
    for drive in drives:
        print("measuring " + drive, file=sys.stderr)
        results[drive] = measure(ftlsim, drive, args.scale)
    scale = results[drives[0]][1]["scale"]
    tables = "".join(table(f, drives, sheet, results) for f in FIGURES)
    if args.print:
        print(tables)
        return
    path = os.path.join(ROOT, "docs", "drives.md")
    with open(path, encoding="utf-8") as text:
        new = replace_tables(text.read(), tables, scale)
    with open(path, "w", encoding="utf-8") as out:
        out.write(new)


if __name__ == "__main__":
    main()
