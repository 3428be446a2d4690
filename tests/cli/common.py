"""Runs ftlsim for the tests: the program's path is the last argument of the test."""
import os
import subprocess
import sys
import tempfile
import unittest

FTLSIM = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else "ftlsim"
SMALL = ["--drive", "wa-reference", "--set", "op=0.1454"]      # 2 GB, a fraction of a second


def ftlsim(*args, **kwargs):
    env = dict(os.environ)
    env.update(kwargs.pop("env", {}))
    return subprocess.run([FTLSIM, *args], capture_output=True, env=env, timeout=300, **kwargs)


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def job(self, text, name="t.fio"):
        """Writes a job file; the program runs in its directory, so its name is enough."""
        with open(self.path(name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return name

    def run_ok(self, *args, **kwargs):
        done = ftlsim("run", *args, cwd=self.directory.name, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done

    def refused(self, args, *words, **kwargs):
        """Exit status 2, one line with all the words, nothing on stdout, no file made."""
        before = sorted(os.listdir(self.directory.name))
        done = ftlsim(*args, cwd=self.directory.name, **kwargs)
        line = done.stderr.decode()
        lines = [x for x in line.splitlines() if not x.startswith("ftlsim: note: ")]
        self.assertEqual(done.returncode, 2, line)
        self.assertEqual(len(lines), 1, line)
        self.assertTrue(lines[0].startswith("ftlsim: "), line)
        for word in words:
            self.assertIn(word, lines[0])
        self.assertEqual(done.stdout, b"")
        self.assertEqual(sorted(os.listdir(self.directory.name)), before)
        return lines[0]
