"""Every bad input: one line, exit status 2, nothing written."""
import os
import resource
import subprocess
import unittest

import common
from common import SMALL, Case


class Files(Case):
    def test_no_such_file(self):
        self.refused(["run", "none.fio", *SMALL], "none.fio:1: job file: No such file")

    def test_directory(self):
        self.refused(["run", ".", *SMALL], ".:1: job file: Is a directory")

    def test_empty(self):
        self.refused(["run", self.job(""), *SMALL], "t.fio:1: job: the file holds no job")

    def test_binary(self):
        self.refused(["run", self.job(bytes(range(256))), *SMALL], "t.fio:1: line: not a text file")
        with open(common.FTLSIM, "rb") as f:
            self.refused(["run", self.job(f.read(100000)), *SMALL], ": line: not a text file")

    def test_crlf_is_fine(self):
        self.run_ok(self.job("[a]\r\nrw=read\r\nnumber_ios=10\r\n"), *SMALL)
        self.refused(["run", self.job("[a]\r\nrw=reed\r\n"), *SMALL], "t.fio:2: rw: 'reed' is none of")

    def test_unknown_option(self):
        self.refused(["run", self.job("[a]\niodpeth=4\n"), *SMALL],
                     "t.fio:2: iodpeth: unknown option; did you mean iodepth?")

    def test_missing_variable(self):
        self.refused(["run", self.job("[a]\n\nbs=${NO_SUCH_VARIABLE}\n"), *SMALL],
                     "t.fio:3: bs: environment variable NO_SUCH_VARIABLE is not set")
        self.run_ok(self.job("[a]\nbs=${A_VARIABLE}\nnumber_ios=1\n"), *SMALL, env={"A_VARIABLE": "8k"})

    def test_values(self):
        for text, words in (("bs=0", "bs: must not be 0"),
                            ("iodepth=0", "iodepth: must be 1 to 65536, is 0"),
                            ("numjobs=0", "numjobs: must be 1 to 65535, is 0"),
                            ("rwmixread=101", "rwmixread: must be 0 to 100"),
                            ("size=101%", "size: must not be over 100 %"),
                            ("bssplit=4k/70:8k/70", "bssplit: percentages add up to 140.000000, over 100"),
                            ("percentage_random=200", "percentage_random: must be 0 to 100, is 200"),
                            ("size=99999999999999999999", "size: too large"),
                            ("size=20000000t", "size: too large"),
                            ("bs=17179869184g", "bs: too large"),
                            ("runtime=999999999999d", "runtime: too large"),
                            ("bs=1000", "bs: 1000 bytes is not a multiple of the drive's LBA of 4096 bytes")):
            self.refused(["run", self.job("[a]\n" + text + "\n"), *SMALL], "t.fio:2: " + words)

    def test_job_beyond_the_drive(self):
        line = self.refused(["run", self.job("[big]\nsize=1t\n"), *SMALL],
                            "t.fio:2: size: job 'big' needs 1099511627776 bytes")
        self.assertIn("at scale 1", line)
        self.refused(["run", self.job("[big]\noffset=4g\n"), *SMALL],
                     "t.fio:2: offset: job 'big' starts at byte 4294967296")

    def test_section(self):
        self.refused(["run", self.job("[a]\n"), *SMALL, "--section", "b"], "--section: no section named 'b'")


class Drives(Case):
    def test_unknown_drive(self):
        self.refused(["run", self.job("[a]\n"), "--drive", "nosuch"], "nosuch")
        self.refused(["run", self.job("[a]\n"), "--drive", "./nosuch.ini"], "nosuch.ini")

    def test_no_drive(self):
        self.refused(["run", self.job("[a]\n")], "--drive: no drive named")

    def test_zero_channels(self):
        self.refused(["run", self.job("[a]\n"), *SMALL, "--set", "nand.channels=0"], "nand.channels")

    def test_capacity_above_physical(self):
        self.refused(["run", self.job("[a]\n"), "--drive", "wa-reference", "--set", "drive.user_bytes=4T"],
                     "drive.user_bytes", "physical")

    def test_spare_too_small(self):
        line = self.refused(["run", self.job("[a]\n"), "--drive", "wa-reference", "--set", "op=0.0001"])
        self.assertRegex(line, r"\d")           # says how much is needed

    def test_overflow(self):
        self.refused(["run", self.job("[a]\n"), *SMALL, "--set", "drive.user_bytes=99999999999999999999"],
                     "drive.user_bytes")

    def test_unknown_key(self):
        self.refused(["run", self.job("[a]\n"), *SMALL, "--set", "no.key=1"], "no.key")
        self.refused(["run", self.job("[a]\n"), *SMALL, "--set", "nokey"], "--set: nokey: KEY=VALUE is needed")

    def test_scale(self):
        self.refused(["run", self.job("[a]\n"), *SMALL, "--scale", "0"], "--scale: 0: a whole number")
        self.refused(["run", self.job("[a]\n"), *SMALL, "--scale", "x"], "--scale: x: a whole number")
        self.refused(["run", self.job("[a]\n"), *SMALL, "--seed", "-1"], "--seed: -1: a whole number")

    def test_more_memory_than_there_is(self):
        with open("/proc/meminfo") as f:
            free = int(next(x for x in f if x.startswith("MemAvailable")).split()[1]) * 1024
        if free > 32 << 30:
            self.skipTest("the largest drive fits into this machine")
        # 1,000 superblocks of 4,276,224 units: 4.28e9 units with 8 bytes each
        line = self.refused(["run", self.job("[a]\n"), "--drive", "uh812a-7.68", "--scale", "1", "--set", "op=0.1",
                             "--set", "ftl.superblocks=1000", "--set", "nand.blocks_per_plane=1000"])
        self.assertRegex(line, r"--scale: 1: the drive needs [\d.]+ GB of memory, [\d.]+ GB are free; --scale \d+ fits")

    def test_show(self):
        self.refused(["drives", "show", "nosuch"], "nosuch")
        self.refused(["drives", "peel"], "drives: peel")


class Arguments(Case):
    def test_commands(self):
        self.refused([], "no command")
        self.refused(["walk"], "walk: unknown command")
        self.refused(["run"], "no job file")
        self.refused(["run", "a", "b", *SMALL], "one job file at a time")
        self.refused(["run", "--nosuch"], "--nosuch: unknown option")
        self.refused(["run", "a", "--drive"], "--drive: needs a value")
        self.refused(["options", "--nosuch"], "options: --nosuch")

    def test_format(self):
        self.refused(["run", self.job("[a]\n"), *SMALL, "--output-format", "xml"], "--output-format: xml")

    def test_precondition(self):
        job = self.job("[a]\nnumber_ios=1\n")
        self.refused(["run", job, *SMALL, "--precondition", "fill:1"],
                     "--precondition: fill:1: steps are seq, rand and self")
        self.refused(["run", job, *SMALL, "--precondition", "seq:x"], "--precondition: seq:x: a number is needed")
        self.refused(["run", job, *SMALL, "--precondition", "self:1"],
                     "--precondition: self: no job of the file writes")

    def test_each_help_fits_a_screen(self):
        for args in (["--help"], ["run", "--help"], ["drives", "--help"], ["options", "--help"],
                     ["policy", "--help"], ["powercut", "--help"]):
            done = common.ftlsim(*args)
            self.assertEqual(done.returncode, 0)
            lines = done.stdout.decode().splitlines()
            self.assertLessEqual(len(lines), 24)
            self.assertLessEqual(max(map(len, lines)), 80)


class Outputs(Case):
    def test_unwritable_output(self):
        job = self.job("[a]\nnumber_ios=1\n")
        self.refused(["run", job, *SMALL, "--output", "no/such/x.json"], "no/such/x.json: No such file or directory")
        self.refused(["run", job, *SMALL, "--output", "."], ".: Is a directory")

    def test_unwritable_logs(self):
        job = self.job("[a]\nnumber_ios=1\nwrite_bw_log=x\n")
        self.refused(["run", job, *SMALL, "--log-dir", "no/such"], "no/such/x_bw.1.log: log: No such file or directory")

    def test_disk_full_while_writing_logs(self):
        job = self.job("[a]\nnumber_ios=20000\nwrite_bw_log=x\nwrite_lat_log=x\n")
        os.symlink("/dev/full", self.path("x_clat.1.log.part"))
        done = common.ftlsim("run", job, *SMALL, "--output", "out", cwd=self.directory.name)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"ftlsim: x_clat.1.log: log: No space left on device", done.stderr)
        self.assertEqual(os.listdir(self.directory.name), ["t.fio"])

    def test_file_size_limit_while_writing_logs(self):
        job = self.job("[a]\nnumber_ios=20000\nwrite_lat_log=x\n")
        done = subprocess.run([common.FTLSIM, "run", job, *SMALL], cwd=self.directory.name, capture_output=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"File too large", done.stderr)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(os.listdir(self.directory.name), ["t.fio"])

    def run_into(self, **kwargs):
        return subprocess.run([common.FTLSIM, "run", "t.fio", *SMALL], cwd=self.directory.name,
                              stderr=subprocess.PIPE, **kwargs)

    def test_stdout_full(self):
        self.job("[a]\nnumber_ios=1\n")
        with open("/dev/full", "wb") as full:
            done = self.run_into(stdout=full)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"ftlsim: standard output: No space left on device", done.stderr)

    def test_stdout_closed(self):
        self.job("[a]\nnumber_ios=1\n")
        done = self.run_into(preexec_fn=lambda: os.close(1))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"ftlsim: standard output: ", done.stderr)
        read, write = os.pipe()
        os.close(read)
        done = self.run_into(stdout=write)
        os.close(write)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"ftlsim: standard output: Broken pipe", done.stderr)

    def test_a_device_is_not_replaced(self):
        job = self.job("[a]\nnumber_ios=1\n")
        os.mkfifo(self.path("fifo"))
        reader = subprocess.Popen(["cat", self.path("fifo")], stdout=subprocess.PIPE)
        self.run_ok(job, *SMALL, "--output", "fifo")
        self.assertIn(b"ssd: wa-reference", reader.communicate()[0])
        self.assertTrue(os.path.exists(self.path("fifo")) and not os.path.isfile(self.path("fifo")))


if __name__ == "__main__":
    unittest.main()
