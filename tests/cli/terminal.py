"""Progress on a terminal, and ^C."""
import os
import pty
import re
import signal
import subprocess
import time
import unittest

import common
from common import SMALL, Case

LONG = "[a]\nrw=randwrite\niodepth=32\nruntime=1h\ntime_based\nnorandommap\nwrite_bw_log=x\nlog_avg_msec=1000\n"


class Terminal(Case):
    def start(self, stderr):
        child = subprocess.Popen([common.FTLSIM, "run", self.job(LONG), *SMALL, "--precondition", "seq:1"],
                                 cwd=self.directory.name, stdout=subprocess.PIPE, stderr=stderr)
        self.addCleanup(child.kill)     # a failed assertion leaves no run behind
        return child

    def read_until(self, fd, pattern, seconds=250):
        text, limit = "", time.monotonic() + seconds
        while not re.search(pattern, text):
            self.assertLess(time.monotonic(), limit, text)
            text += os.read(fd, 4096).decode()
        return text

    def test_progress_and_interrupt(self):
        try:
            ours, theirs = pty.openpty()
        except OSError as error:        # a chroot without /dev/pts
            self.skipTest("no pseudo-terminal: %s" % error)
        child = self.start(theirs)
        os.close(theirs)
        text = self.read_until(ours, r"\r +[\d.]+ %  t=[\d.]+ s  \d+ IOPS  WA \d\.\d\d.*\r")
        self.assertTrue(all(len(x) <= 80 for x in text.split("\r")), text)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=250)
        os.close(ours)
        self.assertEqual(child.returncode, 130)
        self.assertIn(b"write: IOPS=", out)         # what was measured so far
        self.assertIn(b"ssd: wa-reference", out)
        self.assertEqual(sorted(os.listdir(self.directory.name)), ["t.fio", "x_bw.1.log"])

    def test_a_pipe_sees_no_progress(self):
        child = self.start(subprocess.PIPE)
        time.sleep(1.5)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=250)
        self.assertEqual(child.returncode, 130)
        self.assertNotIn(b"\r", err)
        self.assertEqual(len(err.splitlines()), 1, err)


if __name__ == "__main__":
    unittest.main()
