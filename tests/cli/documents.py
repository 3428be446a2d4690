"""What is written down agrees with the program."""
import glob
import os
import unittest

import common

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Documents(common.Case):
    def test_option_tables(self):
        with open(os.path.join(ROOT, "docs", "fio-options.md"), "rb") as f:
            written = f.read()
        made = common.ftlsim("options", "--markdown").stdout
        self.assertEqual(written, made, "make docs/fio-options.md again: ftlsim options --markdown")

    def test_example_jobs_are_accepted(self):
        for path in sorted(glob.glob(os.path.join(ROOT, "examples", "jobs", "*.fio"))):
            # the drive is looked up after the job file was read and found good
            done = common.ftlsim("run", path, "--drive", "no-such-drive")
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"no-such-drive", done.stderr, path)


if __name__ == "__main__":
    unittest.main()
