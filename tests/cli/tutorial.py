"""docs/policies.md: its programs are the examples, and its commands run."""
import os
import re
import subprocess
import unittest

import common
from common import Case

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QUICK = " --set ftl.superblocks=128 --set nand.dies=4 --warm 1 --measure 1 --timed 2000"


def blocks(kind):
    with open(os.path.join(ROOT, "docs", "policies.md"), encoding="utf-8") as f:
        return re.findall(r"^```%s\n(.*?)^```$" % kind, f.read(), re.M | re.S)


class Tutorial(Case):
    def test_programs_are_the_examples(self):
        names = []
        for text in blocks("c"):
            name = re.match(r"/\* ([a-z_]+\.c) - ", text).group(1)
            names.append(name)
            example = os.path.join(ROOT, "examples", name)
            if os.path.exists(example):
                with open(example, encoding="utf-8") as f:
                    self.assertEqual(f.read(), text, name)
        self.assertEqual(names, ["my_gc_policy.c", "test_my_gc_policy.c", "night_shift.c"])

    def test_commands_run(self):
        for text in blocks("c"):
            self.job(text, re.match(r"/\* ([a-z_]+\.c)", text).group(1))
        include = "-I" + os.path.join(ROOT, "libftl", "include")
        lines = [line for text in blocks("sh") for line in text.splitlines()]
        self.assertEqual(len(lines), 4)
        for line in lines:
            line = line.replace("$(pkg-config --cflags ftl)", include + " -std=c11 -Wall -Wextra -Werror")
            if line.startswith("ftlsim "):
                line = common.FTLSIM + line[len("ftlsim"):] + QUICK
            done = subprocess.run(line, shell=True, cwd=self.directory.name, capture_output=True, timeout=200)
            self.assertEqual(done.returncode, 0, line + "\n" + done.stderr.decode())
            if "compare" in line:
                text = done.stdout.decode()
                self.assertIn("patient" if "my_gc" in line else "greedy+gc.pacing=", text)
                self.assertRegex(text, r"\nrank policy ")
        # the last table: without pauses pacing makes no difference
        wa = re.findall(r"^uniform +0\.28 +\S+ +([\d.]+)", text, re.M)
        self.assertEqual(len(wa), 2)
        self.assertEqual(wa[0], wa[1])


if __name__ == "__main__":
    unittest.main()
