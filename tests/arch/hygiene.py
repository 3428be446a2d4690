#!/usr/bin/env python3
"""What no tracked file may hold: hygiene.py ROOT

Paths of a build machine, hosts of package registries, marks of unfinished work,
files too long to read, drive values without a source, links that lead nowhere.
"""
import os
import re
import sys

import tree

LINES_MAX = 700
TEXT = (".c", ".h", ".def", ".py", ".sh", ".md", ".ini", ".fio", ".build", ".txt", ".gp",
        ".options", ".yml", ".alist", ".csv", ".json")
# Written so that this file does not match itself.
PATHS = re.compile(r"(?<![\w.$}])/(work|home|root|Users|builds?|tmp|farm)/[A-Za-z0-9_.]")
HOSTS = re.compile(r"\b(deb|registry|packages?|pypi|archive|ftp|mirrors?|files|crates|static|proxy)"
                   r"\.[a-z0-9-]+\.(org|com|io|net)\b")
MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
TAG = re.compile(r"\[[PDAC]\]")
# Tests may name the temporary folder; nothing else may.
TEMP_ALLOWED = ("tests/",)


def check_text(name, text):
    errors = []
    for number, line in enumerate(text.split("\n"), 1):
        where = "%s:%d" % (name, number)
        for found in PATHS.finditer(line):
            if not (found.group(1) == "tmp" and name.startswith(TEMP_ALLOWED)):
                errors.append("%s: path of a machine: %s" % (where, found.group(0)))
        if HOSTS.search(line):
            errors.append("%s: host of a registry: %s" % (where, HOSTS.search(line).group(0)))
        if MARKS.search(line):
            errors.append("%s: unfinished: %s" % (where, MARKS.search(line).group(0)))
    code = name.endswith((".c", ".h", ".py", ".sh"))
    if code and text.count("\n") > LINES_MAX:
        errors.append("%s: %d lines, more than %d" % (name, text.count("\n"), LINES_MAX))
    return errors


def drive_values(text):
    """(section.key, whole line) of a drive file."""
    section = ""
    for line in text.split("\n"):
        line = line.strip()
        if line.startswith("["):
            section = line.strip("[]")
        elif "=" in line and not line.startswith((";", "#")):
            yield section + "." + line.split("=", 1)[0].strip(), line


def check_drive(name, text):
    """UH812a and UH832a: each number says where it comes from; UH832a sells less
    capacity and changes nothing else, or its speed would be no prediction."""
    errors = []
    if not re.match(r"drives/uh8[13]2a-.*\.ini$", name):
        return errors
    keys = []
    for key, line in drive_values(text):
        keys.append(key)
        if key not in ("drive.inherit", "drive.name") and not TAG.search(line):
            errors.append("%s: no [P], [D], [A] or [C]: %s" % (name, line))
    if "/uh832a-" in name and sorted(keys) != ["drive.inherit", "drive.name", "drive.user_bytes"]:
        errors.append("%s: changes more than the user capacity: %s" % (name, " ".join(keys)))
    return errors


def check_links(name, text, known):
    """Relative links of a Markdown file must name a tracked file."""
    if not name.endswith(".md"):
        return []
    errors = []
    for link in re.findall(r"\]\(([^)#\s]+)", text):
        target = os.path.normpath(os.path.join(os.path.dirname(name), link))
        if "://" not in link and target not in known:
            errors.append("%s: link to nothing: %s" % (name, link))
    return errors


def check(texts, known=()):
    errors = []
    for name, text in sorted(texts.items()):
        errors += check_text(name, text) + check_drive(name, text)
        errors += check_links(name, text, known)
    return errors


def self_test():
    planted = [
        ("src/a.c", 'open("/wo" "rk/main/x")'.replace('" "', "")),
        ("docs/a.md", "see /ho" + "me/someone/x"),
        ("cli/a.c", "/tm" + "p/build1/x.c"),
        ("docs/a.md", "deb http://de" + "b.debian.org/debian"),
        ("src/a.c", "/* TO" + "DO: later */"),
        ("src/a.c", "int x;\n" * (LINES_MAX + 1)),
        ("drives/uh812a-9.ini", "[nand]\ndies = 64\n"),
        ("drives/uh832a-9.ini", "[drive]\ninherit = a\nname = b\nuser_bytes = 1 [D] x\n"
                                "[nand]\ndies = 32 [D] y\n"),
        ("drives/uh832a-9.ini", "[drive]\ninherit = a\nname = b\n"),
        ("docs/a.md", "see [b](b.md)"),
    ]
    for name, text in planted:
        if not check({name: text}):
            sys.exit("self-test: %s was accepted: %s" % (name, text[:60]))
    good = {"tests/a.c": 'mkdtemp("/tmp/x")', "src/b.c": "a = b/work/c; // /usr/share/x",
            "drives/uh832a-1.ini": "[drive]\ninherit = a\nname = b\nuser_bytes = 1 [D] x\n"}
    if check(good):
        sys.exit("self-test: " + check(good)[0])
    return len(planted)


def main():
    root = sys.argv[1]
    planted = self_test()
    known = tree.files(root)
    names = [n for n in known if n.endswith(TEXT) or "." not in n.split("/")[-1]]
    # inputs of the fuzz targets are no text
    texts = {n: tree.read(root, n) for n in names
             if not n.endswith("LICENSE") and "/corpus/" not in n}
    errors = check(texts, known)
    drives = [n for n in texts if n.startswith("drives/uh8")]
    if len(drives) < 8:
        errors.append("only %d drive files found" % len(drives))
    print("\n".join(errors) if errors else
          "%d files clean, %d drive files sourced; %d planted faults found" %
          (len(texts), len(drives), planted))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
