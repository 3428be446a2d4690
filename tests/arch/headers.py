#!/usr/bin/env python3
"""Each public header compiles alone: headers.py ROOT COMPILER...

As C11 and as C++17, with all warnings as errors, included twice. A COMPILER that is
not there is skipped; none at all is an error.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import tree

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
FOLDERS = ["nand_model/include", "ldpc/include", "libftl/include", "workload/include",
           "testkit/include"]


def compiles(compiler, root, text, folder):
    cpp = "++" in os.path.basename(compiler)
    source = os.path.join(folder, "alone.cpp" if cpp else "alone.c")
    with open(source, "w", encoding="ascii") as out:
        out.write(text)
    command = [compiler, "-std=c++17" if cpp else "-std=c11", *STRICT,
               *["-I" + os.path.join(root, f) for f in FOLDERS], source]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return run.returncode == 0, run.stdout.decode(errors="replace")


def main():
    root = sys.argv[1]
    compilers = [c for c in sys.argv[2:] if shutil.which(c)]
    headers = tree.public_headers(tree.files(root))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for compiler in compilers:
            if compiles(compiler, root, "uint32_t needs_stdint;\n", folder)[0]:
                sys.exit("self-test: %s accepted a header that does not compile" % compiler)
            for header in headers:
                name = header.split("/include/", 1)[1]
                text = '#include "%s"\n#include "%s"\nint used(void);\n' % (name, name)
                good, said = compiles(compiler, root, text, folder)
                if not good:
                    failed += 1
                    print("%s: %s does not compile alone\n%s" % (compiler, header, said))
    print("%d public headers, compilers: %s, %d failed" %
          (len(headers), " ".join(compilers) or "none", failed))
    return 1 if failed or not headers or not compilers else 0


if __name__ == "__main__":
    sys.exit(main())
