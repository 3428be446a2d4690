"""Reports as the tools around fio read them."""
import csv
import json
import os
import re
import unittest

import common
from common import SMALL, Case

JOB = """[global]
bs=4k
norandommap
group_reporting
percentile_list=50:90:99:99.9
[mix]
rw=randrw
rwmixread=70
iodepth=16
numjobs=2
number_ios=20000
lat_percentiles=1
slat_percentiles=1
[seq]
stonewall
description=in order
rw=write
bs=64k
size=64m
"""

# Keys and their order as fio 3.33 prints them.
TOP = ["fio version", "timestamp", "timestamp_ms", "time", "global options", "jobs", "ssd"]
JOB_KEYS = ["jobname", "groupid", "error", "eta", "elapsed", "job options", "read", "write", "trim", "sync",
            "job_runtime", "usr_cpu", "sys_cpu", "ctx", "majf", "minf", "iodepth_level", "iodepth_submit",
            "iodepth_complete", "latency_ns", "latency_us", "latency_ms", "latency_depth", "latency_target",
            "latency_percentile", "latency_window"]
DIR_KEYS = ["io_bytes", "io_kbytes", "bw_bytes", "bw", "iops", "runtime", "total_ios", "short_ios", "drop_ios",
            "slat_ns", "clat_ns", "lat_ns", "bw_min", "bw_max", "bw_agg", "bw_mean", "bw_dev", "bw_samples",
            "iops_min", "iops_max", "iops_mean", "iops_stddev", "iops_samples"]
CAUSES = ["host", "rmw", "gc", "wear", "refresh", "metadata", "parity", "padding", "fold",
          "translation", "retire"]


def percentile_from_bins(bins, n, percentile):
    """The first bin at which the running sum reaches the share, as fio's tools do."""
    total = 0
    for value in sorted(bins, key=int):
        total += bins[value]
        if total * 100 >= percentile * n:
            return int(value)
    return None


class Json(Case):
    def report(self, text=JOB, fmt="json+"):
        done = self.run_ok(self.job(text), *SMALL, "--precondition", "seq:1,rand:1", "--output-format", fmt)
        return json.loads(done.stdout)

    def test_keys_and_their_order(self):
        report = self.report()
        self.assertEqual(list(report), TOP)
        for job in report["jobs"]:
            self.assertEqual(list(job), JOB_KEYS + (["desc"] if job["jobname"] == "seq" else []))
            for name in ("read", "write", "trim"):
                self.assertEqual(list(job[name]), DIR_KEYS)
                for lat in ("slat_ns", "clat_ns", "lat_ns"):
                    self.assertEqual(list(job[name][lat])[:5], ["min", "max", "mean", "stddev", "N"])
            self.assertEqual(list(job["iodepth_level"]), ["1", "2", "4", "8", "16", "32", ">=64"])
            self.assertEqual(list(job["latency_ms"])[-2:], ["2000", ">=2000"])
        self.assertEqual([j["jobname"] for j in report["jobs"]], ["mix", "seq"])
        self.assertEqual(report["jobs"][1]["desc"], "in order")
        self.assertEqual(report["global options"]["norandommap"], "1")

    def test_job_options_are_strings_and_complete(self):
        jobs = self.report()["jobs"]
        for job in jobs:
            for key in ("rw", "bs", "iodepth", "numjobs"):
                self.assertIsInstance(job["job options"][key], str)
            for value in job["job options"].values():
                self.assertIsInstance(value, str)
        options = jobs[1]["job options"]
        self.assertEqual([options[k] for k in ("rw", "bs", "iodepth", "numjobs")], ["write", "64k", "1", "1"])
        split = self.report("[a]\nrw=randwrite\nbssplit=4k/50:128k/50\nnumber_ios=10\n")["jobs"][0]["job options"]
        self.assertEqual(split["bs"], "4k-128k")

    def test_percentiles_agree_with_bins(self):
        for job in self.report()["jobs"]:
            for name in ("read", "write"):
                if job[name]["total_ios"] == 0:
                    self.assertNotIn("percentile", job[name]["clat_ns"])
                    continue
                for lat in ("slat_ns", "clat_ns", "lat_ns"):
                    if lat != "clat_ns" and job["jobname"] != "mix":
                        continue
                    block = job[name][lat]
                    self.assertEqual(sum(block["bins"].values()), block["N"])
                    for p, value in block["percentile"].items():
                        self.assertEqual(value, percentile_from_bins(block["bins"], block["N"], float(p)))

    def test_numbers_agree_with_one_another(self):
        report = self.report()
        for job in report["jobs"]:
            for name in ("read", "write"):
                d = job[name]
                if d["total_ios"] == 0:
                    continue
                self.assertEqual(d["clat_ns"]["N"], d["total_ios"])
                self.assertEqual(d["io_kbytes"], d["io_bytes"] >> 10)
                self.assertAlmostEqual(d["slat_ns"]["mean"] + d["clat_ns"]["mean"], d["lat_ns"]["mean"], places=3)
                self.assertAlmostEqual(d["bw_bytes"] / d["iops"], d["io_bytes"] / d["total_ios"], delta=1)
                self.assertLessEqual(d["clat_ns"]["min"], d["clat_ns"]["mean"])
                self.assertGreaterEqual(d["clat_ns"]["max"], d["clat_ns"]["mean"])
            for level in ("iodepth_level", "iodepth_submit", "iodepth_complete"):
                self.assertAlmostEqual(sum(job[level].values()), 100, delta=1)
            levels = sum(sum(job["latency_" + u].values()) for u in ("ns", "us", "ms"))
            self.assertAlmostEqual(levels, 100, delta=0.5)
        mix = report["jobs"][0]
        self.assertEqual(mix["read"]["total_ios"] + mix["write"]["total_ios"], 40000)
        self.assertEqual(report["jobs"][1]["write"]["io_bytes"], 64 << 20)

    def test_the_ssd_object(self):
        ssd = self.report()["ssd"]
        self.assertEqual(list(ssd["bytes"]), CAUSES)
        programmed = sum(ssd["bytes"].values())
        self.assertEqual(ssd["wa"]["programmed_bytes"], programmed)
        self.assertEqual(ssd["wa"]["host_bytes"], ssd["bytes"]["host"])
        self.assertAlmostEqual(ssd["wa"]["value"], programmed / ssd["bytes"]["host"], places=5)
        moved = sum(ssd["bytes"][k] for k in ("host", "gc", "wear", "refresh", "fold", "retire"))
        self.assertEqual(ssd["wa_gc"]["host_and_relocated_bytes"], moved)
        self.assertAlmostEqual(ssd["wa_gc"]["value"], moved / ssd["bytes"]["host"], places=5)
        self.assertEqual((ssd["drive"], ssd["scale"], ssd["seed"]), ("wa-reference", 1, 1))
        self.assertRegex(ssd["state_hash"], "^[0-9a-f]{16}$")
        self.assertEqual(set(ssd["utilisation"]), {"die", "channel", "link", "write_path", "front_end"})
        for share in ssd["utilisation"].values():
            self.assertTrue(0 <= share <= 1.01, share)
        self.assertEqual(ssd["configuration"]["gc.policy"]["value"], "greedy")
        self.assertEqual(set(ssd["configuration"]["gc.policy"]), {"value", "tag", "source"})
        self.assertEqual(ssd["configuration"]["ftl.op_ppm"]["value"], "145400")

    def test_no_writes_no_wa(self):
        done = self.run_ok(self.job("[r]\nrw=read\nnumber_ios=10\n"), *SMALL, "--output-format", "json")
        self.assertIsNone(json.loads(done.stdout)["ssd"]["wa"]["value"])

    def test_plus_adds_bins(self):
        self.assertIn("bins", self.report()["jobs"][0]["read"]["clat_ns"])
        self.assertNotIn("bins", self.report(JOB, "json")["jobs"][0]["read"]["clat_ns"])

    def test_steady_state(self):
        text = "[a]\nrw=read\nruntime=20\ntime_based\nss=iops_slope:1%\nss_dur=2\n"
        ss = self.report(text)["jobs"][0]["steadystate"]
        self.assertEqual(list(ss), ["ss", "duration", "attained", "criterion", "max_deviation", "slope", "data"])
        self.assertEqual((ss["ss"], ss["attained"], len(ss["data"]["iops"])), ("iops_slope:1.000000%", 1, 2))
        self.assertTrue(ss["criterion"].endswith("%"))

    def test_output_file(self):
        done = self.run_ok(self.job(JOB), *SMALL, "--output-format", "json", "--output", "report.json")
        self.assertEqual(done.stdout, b"")
        with open(self.path("report.json")) as f:
            self.assertEqual(list(json.load(f)), TOP)
        self.assertEqual(sorted(os.listdir(self.directory.name)), ["report.json", "t.fio"])


class Text(Case):
    def test_normal_fits_80_columns(self):
        out = self.run_ok(self.job(JOB), *SMALL, "--precondition", "seq:1").stdout.decode()
        self.assertLessEqual(max(map(len, out.splitlines())), 80, out)
        for word in ("mix: (groupid=0, jobs=2)", "seq: (groupid=1, jobs=1)", "read: IOPS=", "write: IOPS=",
                     "clat percentiles", "99.90th=[", "IO depths", "ssd: wa-reference", "WA           :",
                     "Run status group 1 (all jobs):", "  WRITE: bw=", "programmed / ", "a effective", "programmed   : host="):
            self.assertIn(word, out)

    def test_terse(self):
        out = self.run_ok(self.job(JOB), *SMALL, "--output-format", "terse").stdout.decode()
        rows = list(csv.reader(out.splitlines(), delimiter=";"))
        # version 3: 5 + 2 directions of 4 + 4 + 4 + 20 + 4 + 5, + 5 + 7 + 10 + 12, then a description
        self.assertEqual([len(r) for r in rows], [121, 122])
        self.assertEqual(rows[0][:5], ["3", "fio-3.33", "mix", "0", "0"])
        self.assertEqual(rows[1][121], "in order")
        self.assertRegex(rows[0][17], r"^50\.000000%=\d+$")
        self.assertEqual(rows[0][21], "0%=0")
        self.assertEqual(int(rows[1][5 + 41]), (64 << 20) >> 10)      # KiB written

    def test_logs(self):
        text = ("[a]\nrw=randrw\nruntime=1\ntime_based\nlog_avg_msec=250\n"
                "write_bw_log=lg\nwrite_lat_log=lg\nwrite_iops_log=lg\n")
        done = self.run_ok(self.job(text), *SMALL, "--precondition", "seq:1", "--output-format", "json")
        report = json.loads(done.stdout)["jobs"][0]
        self.assertEqual(sorted(f for f in os.listdir(self.directory.name) if f.endswith("log")),
                         ["lg_%s.1.log" % k for k in ("bw", "clat", "iops", "lat", "slat")])
        for kind in ("bw", "iops", "clat", "lat", "slat"):
            with open(self.path("lg_%s.1.log" % kind)) as f:
                lines = f.read().splitlines()
            self.assertTrue(all(re.match(r"^\d+, \d+, [01], 0, 0$", x) for x in lines), lines)
            self.assertEqual([int(x.split(",")[0]) for x in lines][:4], [250, 250, 500, 500])
        with open(self.path("lg_iops.1.log")) as f:
            reads = [int(x.split(",")[1]) for x in f if x.split(",")[2] == " 0"]
        self.assertAlmostEqual(sum(reads) / len(reads), report["read"]["iops"], delta=0.02 * report["read"]["iops"])

    def test_drives(self):
        listed = common.ftlsim("drives").stdout.decode()
        for name in ("uh812a-7.68", "uh832a-6.4", "wa-reference"):
            self.assertIn(name, listed)
        shown = common.ftlsim("drives", "show", "uh812a-7.68", "--set", "gc.policy=fifo").stdout.decode()
        self.assertRegex(shown, r"gc\.policy +fifo +\[.\] --set")
        self.assertRegex(shown, r"nand\.dies +64 .*\[[PDAC]\] .*uh812a-7\.68\.ini:\d+")

    def test_version(self):
        self.assertRegex(common.ftlsim("--version").stdout.decode(), r"^ftlsim \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
