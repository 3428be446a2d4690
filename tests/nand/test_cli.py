"""`ftlsim nand`: tables and time lines, and bad input that writes nothing.

usage: test_cli.py path/to/ftlsim
"""
import csv
import io
import json
import subprocess
import sys

ftlsim = sys.argv[1]
failed = 0


def run(*args):
    done = subprocess.run([ftlsim, "nand", *args], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def expect(what, holds):
    global failed
    if not holds:
        failed += 1
        print("FAILED:", what)


def table(*args):
    code, out, err = run(*args)
    expect(f"{args}: exit status {code} {err}", code == 0)
    return list(csv.DictReader(io.StringIO(out)))


# 5.5e-5 mean RBER of fresh eTLC, 1.3e-3 after 7,000 cycles and 90 days at 40 C, within 3 %
rows = table("rber", "--pe", "0", "--hours", "0")
expect("three page types", [r["page"] for r in rows] == ["lower", "middle", "upper"])
expect("fresh eTLC", abs(sum(float(r["rber"]) for r in rows) / 3 / 5.5e-5 - 1) < 0.03)
rows = table("rber", "--pe", "7000", "--days", "90", "--celsius", "40")
expect("aged eTLC", abs(sum(float(r["rber"]) for r in rows) / 3 / 1.3e-3 - 1) < 0.03)
rows = table("rber", "--law", "planar", "--hours", "2160")
expect("planar table", abs(sum(float(r["rber"]) for r in rows) / 3 / 2.4e-3 - 1) < 0.03)
rows = table("rber", "--law", "fast19", "--pe", "0", "--hours", "0")
expect("power law", float(rows[0]["rber"]) == 0.00148)

rows = table("retention", "--cell", "tlc", "--celsius", "30", "--pe", "0", "--days", "90")
expect("three retries", rows[0]["retries"] == "3")
rows = table("disturb", "--reads", "0:1000000:250000")
expect("five rows", [r["reads"] for r in rows] == ["0", "250000", "500000", "750000", "1000000"])
expect("rising", all(float(a["rber_default"]) < float(b["rber_default"])
                     for a, b in zip(rows, rows[1:])))

# densities: each state holds 1/8 of the cells
rows = table("vth", "--points", "4001")
step = float(rows[1]["voltage"]) - float(rows[0]["voltage"])
area = sum(float(r["p4"]) for r in rows) * step
expect("area of a state", abs(area - 0.125) < 1e-3)

# six planes: 3 x 49.48 us of data, then 1.5 ms; suspended after 150 us of it
rows = table("timing", "prog", "suspend", "read:0", "out:4096", "resume")
done = [(r["step"], r["done_us"]) for r in rows]
expect("time line", done == [("data-in", "49.48"), ("data-in", "98.96"), ("data-in", "148.44"),
                             ("prog", "1648.94"), ("suspend", "329.44"), ("read:0", "367.94"),
                             ("out:4096", "369.947"), ("resume", "1734.947")])

code, out, err = run("rber", "--format", "json", "--pe", "0", "--hours", "0")
expect("json", code == 0 and [r["page"] for r in json.loads(out)] == ["lower", "middle", "upper"])

code, out, err = run("--help")
expect("help fits a screen", code == 0 and 10 < len(out.splitlines()) <= 40 and
       max(map(len, out.splitlines())) <= 120)

for args, text in [
        (["rber", "--celsius", "40,900"], "celsius=900: must be -55..150"),
        (["rber", "--hours", "-1"], "hours=-1: must be 0..1000000"),
        (["rber", "--pe", "1e7"], "pe=10000000: must be 0..40000"),
        (["rber", "--pe", "x"], "--pe x: must be"),
        (["rber", "--pe", ""], "--pe : must be"),
        (["rber", "--pe", "5:1:1"], "--pe 5:1:1: must be"),
        (["rber", "--cell", "plc"], "--cell plc: must be slc, mlc, tlc, etlc or qlc"),
        (["rber", "--law", "murphy"], "--law murphy: must be vth, fast19 or planar"),
        (["rber", "--voltages", "retry:64"], "--voltages retry:64: must be"),
        (["rber", "--nonsense"], "--nonsense: unknown option"),
        (["rber", "stray"], "stray: unexpected"),
        (["vth", "--law", "fast19"], "--law fast19: has no voltages"),
        (["timing", "--profile", "none"], "--profile none: unknown"),
        (["timing", "fly"], "step fly: unknown"),
        (["timing", "read"], "step read: needs a number"),
        (["timing", "read:0", "out:999999"], "step out:999999"),
        (["timing", "resume"], "step resume at 0.000 us: nothing to suspend"),
        (["frobnicate"], "frobnicate: must be rber")]:
    code, out, err = run(*args)
    expect(f"{args}: {code} {err!r}", code == 2 and text in err and len(err.splitlines()) == 1)
    expect(f"{args}: wrote {out!r}", out == "")

print("0 passed, 1 failed" if failed else "1 passed, 0 failed")
sys.exit(failed != 0)
