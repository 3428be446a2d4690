#!/usr/bin/env python3
"""Writes the drive files into one C file: embed.py OUT.c FILE.ini ..."""
import os
import sys


def main():
    out, files = sys.argv[1], sorted(sys.argv[2:])
    with open(out, "w", encoding="ascii") as c:
        c.write('/* Made by embed.py from drives/. */\n#include "config.h"\n')
        c.write("const struct drive_file drive_files[] = {\n")
        for path in files:
            name = os.path.splitext(os.path.basename(path))[0]
            with open(path, encoding="ascii") as text:
                lines = text.read().splitlines()
            c.write('{"%s",\n' % name)
            for line in lines:
                escaped = line.replace("\\", "\\\\").replace('"', '\\"')
                c.write('"%s\\n"\n' % escaped)
            c.write("},\n")
        c.write("{0, 0}};\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
