#!/usr/bin/env python3
"""An installed copy works: installed.py ROOT BUILD CC MESON...

Installs the build into a temporary folder, then compiles the program of README.md
against it through pkg-config, with the shared and with the static libraries, and
runs it. Also: every public header is there and compiles from there, and ftlsim runs.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import readme
import tree

LIBRARIES = ("nand_model", "ldpc", "ftl", "ftl_testkit", "workload")


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **more)
    text = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        sys.exit("%s\nfailed with %d:\n%s" % (" ".join(command), done.returncode, text))
    return text


def find(folder, name):
    for at, _, entries in os.walk(folder):
        if name in entries:
            return os.path.join(at, name)
    sys.exit("%s was not installed" % name)


class Installed:
    def __init__(self, stage, build, meson):
        run([*meson, "install", "-C", build, "--no-rebuild", "--destdir", stage])
        pc = find(stage, "ftl.pc")
        self.lib = os.path.dirname(os.path.dirname(pc))
        with open(pc, encoding="utf-8") as text:
            prefix = [line[7:].strip() for line in text if line.startswith("prefix=")][0]
        self.prefix = stage + prefix
        self.path = os.path.dirname(pc)

    def flags(self, library, *options):
        paths = [self.path] + [p for p in [os.environ.get("PKG_CONFIG_PATH")] if p]
        env = dict(os.environ, PKG_CONFIG_PATH=":".join(paths))
        return run(["pkg-config", "--define-variable=prefix=" + self.prefix,
                    *options, library], env=env).split()


def compile_and_run(place, library, source, cc, static, work):
    program = os.path.join(work, "program-static" if static else "program-shared")
    options = ["--static"] if static else []
    flags = place.flags(library, *options, "--cflags", "--libs")
    run([*cc, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", source, "-o", program, *flags])
    env = dict(os.environ)
    if not static:
        env["LD_LIBRARY_PATH"] = place.lib
    return run([program], env=env)


def drop_shared(folder):
    """With the shared libraries gone, -lNAME can only find the static ones."""
    for name in os.listdir(folder):
        if name.startswith(tuple("lib%s.so" % lib for lib in LIBRARIES)):
            os.unlink(os.path.join(folder, name))


def main():
    root, build, cc, meson = sys.argv[1], sys.argv[2], sys.argv[3].split(";"), sys.argv[4:]
    readme.self_test()
    work = tempfile.mkdtemp()
    try:
        place = Installed(os.path.join(work, "stage"), build, meson)
        source = os.path.join(work, "program.c")
        with open(source, "w", encoding="utf-8") as out:
            out.write(readme.program(root))
        for header in tree.public_headers(tree.files(root)):
            name = header.split("/include/", 1)[1]
            if not os.path.isfile(os.path.join(place.prefix, "include", name)):
                sys.exit("%s was not installed" % name)
        for library in LIBRARIES:
            place.flags(library, "--cflags", "--libs")
        ftlsim = find(place.prefix, "ftlsim")
        print(run([ftlsim, "drives"], env=dict(os.environ, LD_LIBRARY_PATH=place.lib)))
        outputs = []
        for static in (False, True):
            if static:
                drop_shared(place.lib)
            outputs.append(compile_and_run(place, "ftl", source, cc, static, work))
            print("static:" if static else "shared:", outputs[-1].strip())
            why = readme.judge(outputs[-1])
            if why:
                sys.exit(why)
        if outputs[0] != outputs[1]:
            sys.exit("shared and static libraries give different results")
    finally:
        shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
