"""ftlsim powercut: refusals, the same report each time, and ids that repeat one chain."""
import re
import unittest

from common import Case, ftlsim


class PowerCut(Case):
    def test_refusals(self):
        for args, words in ((["--plan", "none"], "no such plan"), (["--cuts", "0"], "whole number"),
                            (["--cuts", "5x"], "whole number"), (["--variants", "22"], "1 to 21"),
                            (["--frobnicate"], "--help"), (["more"], "--help"),
                            (["--replay", "slc/1/2"], "PLAN/SEED/OPERATION/VARIANT"),
                            (["--replay", "none/1/2/3"], "unknown plan"),
                            (["--replay", "slc/1/99999999/3"], "operations only")):
            self.refused(["powercut", *args], words)

    def test_list(self):
        done = ftlsim("powercut", "--list")
        names = [line.split()[0] for line in done.stdout.decode().splitlines()]
        self.assertGreaterEqual(len(names), 12)
        for cells in ("slc", "mlc", "tlc", "qlc"):
            self.assertTrue(any(n.startswith(cells) for n in names))

    def test_report_repeats(self):
        runs = [ftlsim("powercut", "--plan", "slc", "--plan", "tlc-raid", "--cuts", "1500",
                       "--variants", "3") for _ in range(2)]
        for done in runs:
            self.assertEqual(done.returncode, 0, done.stdout.decode() + done.stderr.decode())
        self.assertEqual(runs[0].stdout, runs[1].stdout)
        text = runs[0].stdout.decode()
        total = re.search(r"^\| all +\| +(\d+) \| +(\d+) \| +(\d+) \| +(\d+) \| +(\d+) \|$", text, re.M)
        self.assertIsNotNone(total, text)
        cuts, in_recovery, violations = (int(total.group(i)) for i in (2, 3, 5))
        self.assertGreaterEqual(cuts, 1500)
        self.assertGreater(in_recovery, 0)
        self.assertEqual(violations, 0)

    def test_replay(self):
        done = ftlsim("powercut", "--replay", "tlc/1/7/9")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertRegex(done.stdout.decode(), r"^tlc/1/7/9: [2-9] cuts, sound$")


if __name__ == "__main__":
    unittest.main()
