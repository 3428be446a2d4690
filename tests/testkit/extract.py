#!/usr/bin/env python3
"""The one C program of a Markdown file: extract.py FILE.md OUT.c"""
import re
import sys

with open(sys.argv[1], encoding="utf-8") as text:
    found = re.findall(r"^```c\n(.*?)^```$", text.read(), re.M | re.S)
if len(found) != 1:
    sys.exit("%s: %d C programs, want 1" % (sys.argv[1], len(found)))
with open(sys.argv[2], "w", encoding="utf-8") as out:
    out.write(found[0])
