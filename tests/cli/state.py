"""--save-state and --load-state: the same report from the file as from the run itself."""
import json
import os
import unittest

from common import SMALL, Case, ftlsim

JOB = """[global]
bs=4k
time_based
runtime=100ms
[w]
rw=randwrite
iodepth=16
[m]
rw=randrw
iodepth=4
"""
WORN = ["--precondition", "seq:1,rand:1,self:0.3"]


class State(Case):
    def save(self, name="worn", seed="5", *more):
        return self.run_ok(self.job(JOB), *SMALL, *WORN, "--seed", seed, "--save-state", name,
                           "--output-format", "json", *more)

    def test_same_report(self):
        """Saving changes nothing; the loaded drive goes on as the saved one did."""
        for fmt in ("normal", "json+"):
            plain = self.run_ok(self.job(JOB), *SMALL, *WORN, "--seed", "5", "--output-format", fmt).stdout
            saved = self.run_ok(self.job(JOB), *SMALL, *WORN, "--seed", "5", "--output-format", fmt,
                                "--save-state", "worn").stdout
            self.assertEqual(plain, saved)
            loaded = self.run_ok(self.job(JOB), *SMALL, "--load-state", "worn", "--output-format", fmt).stdout
            if fmt == "normal":
                self.assertEqual(plain, loaded)
            else:           # but for the origin of the seed
                self.assertEqual(plain.replace(b'"--seed"', b'"--load-state"'), loaded)

    def test_same_file(self):
        """Two processes, two layouts of memory: no pointer and no leftover in the file."""
        self.save("a")
        self.save("b")
        job = self.job("[w]\nrw=randrw\nbs=4k\nnumber_ios=100\n", "short.fio")
        for name in "cd":       # with more of the drive in use
            self.run_ok(job, "--drive", "uh812a-7.68", "--scale", "464", "--set", "media.faults=1", "--set",
                        "media.ecc=1", "--precondition", "seq:0.2", "--save-state", name)
        for one, two in ("ab", "cd"):
            with open(self.path(one), "rb") as a, open(self.path(two), "rb") as b:
                self.assertEqual(a.read(), b.read())
        self.assertFalse([x for x in os.listdir(self.directory.name) if x.endswith(".part")])

    def test_many_runs(self):
        """One state: other jobs, other seeds of them, other policies."""
        self.save()
        hashes = set()
        for more in ([], ["--seed", "6"], ["--gc", "fifo"], ["--set", "gc.pacing=proportional"]):
            done = self.run_ok(self.job(JOB), *SMALL, "--load-state", "worn", "--output-format", "json", *more)
            report = json.loads(done.stdout)["ssd"]
            self.assertEqual(report["configuration"]["drive.seed"]["value"], "5")
            hashes.add(report["state_hash"])
        self.assertEqual(len(hashes), 4)

    def test_refused(self):
        job = self.job(JOB)
        self.save()
        self.refused(["run", job, *SMALL, *WORN, "--load-state", "worn"],
                     "--load-state: not together with --precondition")
        self.refused(["run", job, *SMALL, "--save-state", "x", "--load-state", "worn"],
                     "--load-state: not together with --save-state")
        self.refused(["run", job, *SMALL, "--save-state", "x"], "--save-state: needs --precondition")
        self.refused(["run", job, *SMALL, *WORN, "--save-state", "no/such/file"],
                     "no/such/file: No such file or directory")
        self.refused(["run", job, *SMALL, *WORN, "--save-state", "/dev/null"],
                     "--save-state: /dev/null: is there and not a plain file")
        self.refused(["run", job, *SMALL, "--load-state", "nosuch"], "--load-state: nosuch: No such file")
        self.refused(["run", job, *SMALL, "--load-state", job],
                     "--load-state: t.fio: header: not a snapshot of a drive")
        self.refused(["run", job, *SMALL, "--load-state", "worn", "--set", "fw.read_ns=1"],
                     "--load-state: worn: fw.read_ns=1: the snapshot has", "which cannot change")
        self.refused(["run", job, *SMALL, "--load-state", "worn", "--set", "op=0.2"],
                     "drive.user_bytes=", "which cannot change")
        self.refused(["run", job, *SMALL, "--load-state", "worn", "--set", "drive.seed=5"],
                     "drive.seed: a loaded drive keeps its own")
        self.refused(["run", job, "--drive", "uh812a-7.68", "--scale", "256", "--load-state", "worn"],
                     "which cannot change")

    def test_damaged(self):
        self.save()
        job = self.job(JOB)
        with open(self.path("worn"), "rb") as f:
            whole = f.read()
        for at in (50, len(whole) // 2):
            with open(self.path("worn"), "wb") as f:
                f.write(whole[:at])
            self.refused(["run", job, *SMALL, "--load-state", "worn"], "--load-state: worn: ends early")
        with open(self.path("worn"), "wb") as f:
            f.write(whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:])
        self.refused(["run", job, *SMALL, "--load-state", "worn"], "--load-state: worn: ", "checksum is wrong")

    def test_help(self):
        done = ftlsim("run", "--help")
        self.assertIn(b"--save-state FILE", done.stdout)
        self.assertIn(b"--load-state FILE", done.stdout)


if __name__ == "__main__":
    unittest.main()
