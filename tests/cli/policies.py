"""Policies from shared objects, and the tournament: ftlsim run --gc, ftlsim policy compare."""
import json
import math
import os
import unittest

import common
from common import SMALL, Case

BUILD = os.path.dirname(os.path.dirname(common.FTLSIM))
OBJECTS = os.path.join(BUILD, "tests", "ftl")
QUICK = ["--set", "ftl.superblocks=128", "--set", "nand.dies=4", "--warm", "2", "--measure", "1", "--timed", "3000"]


def shared(kind):
    return os.path.join(OBJECTS, "policy_%s.so" % kind)


class SharedObjects(Case):
    def test_run(self):
        job = self.job("[a]\nrw=randwrite\nnumber_ios=2000\n")
        done = self.run_ok(job, *SMALL, "--gc", shared("good"), "--output-format", "json")
        text = done.stdout.decode()
        self.assertIn('"value": "oldest"', text)            # gc.policy names it
        self.assertIn('"source": "--gc ' + shared("good")[:60], text)

    def test_refused(self):
        job = self.job("[a]\nrw=randwrite\nnumber_ios=2000\n")
        for kind, words in (("version", "made for version 2 of ftl_policy.h, this program takes 1"),
                            ("size", "its struct ftl_gc_policy has"),
                            ("symbol", "exports no ftl_gc_policy_export()"),
                            ("null", "returned no policy"), ("name", "name must have")):
            self.refused(["run", job, *SMALL, "--gc", shared(kind)], "--gc: ", words)
        self.refused(["run", job, *SMALL, "--gc", shared("taken")], "the name is that of a built-in policy")
        self.refused(["run", job, *SMALL, "--gc", "./none.so"], "--gc: ./none.so")
        self.refused(["run", job, *SMALL, "--gc", "best"], "gc.policy=best: unknown policy")

    def test_each_kind_has_an_option(self):
        job = self.job("[a]\nrw=randwrite\nnumber_ios=2000\n")
        streams = ["--set", "streams.mode=auto", "--set", "streams.count=2"]
        stream = os.path.join(OBJECTS, "stream_%s.so")
        done = self.run_ok(job, *SMALL, *streams, "--streams-policy", stream % "good", "--pacing", "idle", "--wear",
                           "fifo", "--output-format", "json").stdout.decode()
        for value in ("halves", "idle", "fifo"):
            self.assertIn('"value": "%s"' % value, done)
        self.assertIn('"source": "--streams-policy ' + (stream % "good")[:40], done)
        self.refused(["run", job, *SMALL, *streams, "--streams-policy", stream % "version"],
                     "--streams-policy: ", "made for version 2 of ftl_policy.h, this program takes 1")
        self.refused(["run", job, *SMALL, "--streams-policy", stream % "good"],
                     "streams.policy=halves: needs streams.mode=auto")
        self.refused(["run", job, *SMALL, "--wear", shared("good")], "--wear: ", "exports no ftl_wear_policy_export()")
        self.refused(["run", job, *SMALL, "--pacing", "best"], "gc.pacing=best: unknown policy")

    def test_nonsense_ends_the_run(self):
        job = self.job("[a]\nrw=randwrite\nnumber_ios=100000\niodepth=16\n")
        for extra in ("seq:1", "seq:1,rand:1"):      # timed, and before
            done = common.ftlsim("run", job, *SMALL, "--gc", shared("open"), "--precondition", extra,
                                 cwd=self.directory.name)
            self.assertEqual(done.returncode, 3)
            self.assertEqual(done.stdout, b"")
            self.assertIn("gc policy oldest: chose superblock", done.stderr.decode())
            self.assertEqual(len(done.stderr.decode().splitlines()), 1)


class Compare(Case):
    def compare(self, *args):
        done = common.ftlsim("policy", "compare", *QUICK, *args, cwd=self.directory.name)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def test_scores(self):
        text = self.compare("--format", "json", "--workload", "uniform,80-20", "--op", "0.28,0.4", "greedy",
                            shared("good"), "random")
        self.assertEqual(text, self.compare("--format", "json", "--workload", "uniform,80-20", "--op", "0.28,0.4",
                                            "greedy", shared("good"), "random"))
        out = json.loads(text)
        cells = {}
        for row in out["rows"]:
            cells.setdefault((row["workload"], row["op"]), {})[row["policy"]] = row
            self.assertGreaterEqual(row["p999_ns"], row["p99_ns"])
            self.assertGreaterEqual(row["wear_max_over_mean"], 1)
        self.assertEqual(len(cells), 4)
        for cell in cells.values():
            self.assertEqual(set(cell), {"greedy", "oldest", "random"})
            self.assertGreater(cell["random"]["wa"], cell["greedy"]["wa"])
        for score in out["scores"]:         # 100: the best; the geometric mean of best / own
            for key, field in (("wa_score", "wa"), ("wear_score", "wear_max_over_mean"), ("tail_score", "p999_ns")):
                logs = [math.log(min(r[field] for r in c.values()) / c[score["policy"]][field])
                        for c in cells.values()]
                self.assertAlmostEqual(score[key], 100 * math.exp(sum(logs) / 4), places=3)
        self.assertEqual([s["policy"] for s in out["scores"]],
                         [s["policy"] for s in sorted(out["scores"], key=lambda s: -s["wa_score"])])

    def test_table(self):
        text = self.compare("--op", "0.3", "--workload", "sequential,zipf", "greedy",
                            "cost-benefit+gc.frontiers=2+gc.pacing=idle+wear.spread=50")
        lines = text.splitlines()
        self.assertLessEqual(max(map(len, lines)), 100)
        self.assertRegex(lines[1], r"^sequential 0\.3 +greedy +1\.000 ")
        self.assertRegex(text, r"\n1 +(greedy|cost-benefit)")
        csv = self.compare("--op", "0.3", "--workload", "uniform", "--format", "csv", "greedy").splitlines()
        self.assertEqual(csv[0], "workload,op,policy,wa,wear_max_over_mean,iops,p99_ns,p999_ns")
        self.assertEqual(len(csv), 2)

    def test_refused(self):
        for args, words in ((["--workload", "random"], "workload: random: is none of uniform, 80-20"),
                            (["best"], "gc.policy=best: unknown policy"), (["greedy", shared("version")], "version 2"),
                            (["greedy++"], "policy: "), (["--op", "x"], "op"), (["--op", ""], "--op: an empty item"),
                            (["--depth", "0"], "--depth: 0"), (["--timed", "many"], "--timed: many"),
                            (["--warm", "0"], "--warm: 0: drive writes above 0"), (["--format", "xml"], "--format: xml"),
                            (["--set", "gc.window"], "--set: gc.window: KEY=VALUE"), (["--nosuch"], "--nosuch"),
                            (["--drive", "nosuch"], "nosuch"), (["greedy+gc.what=2"], "gc.what")):
            self.refused(["policy", "compare", *args], words)
        self.refused(["policy"], "policy: what to do?")
        self.refused(["policy", "best"], "policy: best")

    def test_nonsense_names_the_policy(self):
        done = common.ftlsim("policy", "compare", *QUICK, "--op", "0.3", "greedy", shared("open"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("gc policy oldest: chose superblock", done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
