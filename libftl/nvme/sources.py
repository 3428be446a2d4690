#!/usr/bin/env python3
"""Writes a digest of all sources that give a state snapshot its meaning.

sources.py OUT.c OUT.d FOLDER...: every .c, .h and .def below the folders; the dependency file
names them all, so that a change of one makes a new digest.
"""
import hashlib
import os
import sys


def main():
    out, dependencies, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
    digest, seen = hashlib.sha256(), []
    for folder in folders:
        for here, below, names in os.walk(folder):
            below.sort()
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def")):
                    path = os.path.join(here, name)
                    seen.append(path)
                    digest.update(os.path.relpath(path, folder).encode() + b"\0")
                    with open(path, "rb") as source:
                        digest.update(source.read() + b"\0")
    with open(out, "w", encoding="ascii") as c:
        c.write('/* Made by sources.py. */\n#include "nvme/snapfile.h"\n')
        c.write('const char snap_sources[] = "%s";\n' % digest.hexdigest())
    with open(dependencies, "w", encoding="utf-8") as d:
        d.write("%s: %s\n" % (out, " ".join(path.replace(" ", "\\ ") for path in seen)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
