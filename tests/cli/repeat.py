"""One seed repeats byte for byte; two seeds differ; the wall clock shows nowhere."""
import json
import time
import unittest

from common import SMALL, Case

JOB = """[global]
bs=4k
time_based
runtime=200ms
[w]
rw=randwrite
iodepth=16
random_distribution=zipf:1.1
norandommap
[m]
rw=randrw
bssplit=4k/60:16k/40
rate_iops=5000
rate_process=poisson
[t]
rw=randtrim
bs=64k
thinktime=1ms
"""


class Repeat(Case):
    def report(self, fmt, seed):
        return self.run_ok(self.job(JOB), *SMALL, "--precondition", "seq:1,rand:0.5,self:0.5", "--seed", str(seed),
                           "--output-format", fmt).stdout

    def test_one_seed_repeats(self):
        for fmt in ("normal", "json+", "terse"):
            first = self.report(fmt, 7)
            time.sleep(1.1)             # another second of the wall clock
            self.assertEqual(first, self.report(fmt, 7))

    def test_two_seeds_differ(self):
        a, b = (json.loads(self.report("json", seed)) for seed in (1, 2))
        self.assertNotEqual(a["ssd"]["state_hash"], b["ssd"]["state_hash"])
        self.assertNotEqual(a["jobs"][0]["write"]["clat_ns"], b["jobs"][0]["write"]["clat_ns"])

    def test_formats_do_not_change_the_run(self):
        self.assertEqual(json.loads(self.report("json", 3))["ssd"]["state_hash"],
                         json.loads(self.report("json+", 3))["ssd"]["state_hash"])

    def test_notes_and_speed_go_to_stderr(self):
        done = self.run_ok(self.job("[a]\ndirect=1\nnumber_ios=10\n"), *SMALL)
        self.assertNotIn(b"note", done.stdout)
        self.assertIn(b"ftlsim: note: accepted without meaning here: direct\n", done.stderr)
        self.assertRegex(done.stderr.decode(), r"accesses in [\d.]+ s, [\d.]+ M/s; [\d.]+ GB of memory")
        self.assertNotIn(b"\r", done.stderr)


if __name__ == "__main__":
    unittest.main()
