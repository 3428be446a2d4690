#!/usr/bin/env python3
"""Who may include whom: include_arrows.py ROOT

Rooms and arrows are those of docs/architecture.md. An #include that goes against
an arrow is an error; so is one that no rule knows.
"""
import os
import re
import sys

import tree

# Room: rooms that it may include. First match of the path prefix wins.
ROOMS = [
    ("nand_model/include/", "nand.public", ["nand.public"]),
    ("nand_model/", "nand", ["nand", "nand.public"]),
    ("ldpc/include/", "ldpc.public", ["ldpc.public"]),
    ("ldpc/", "ldpc", ["ldpc", "ldpc.public"]),
    ("libftl/include/ftl/ftl_policy", "ftl.policy.public", ["ftl.public", "ftl.policy.public"]),
    ("libftl/include/", "ftl.public", ["ftl.public", "ftl.policy.public"]),
    ("libftl/sim/", "sim", ["sim", "ftl.public"]),
    ("libftl/media/", "media", ["media", "sim", "ftl.public", "nand.public"]),
    ("libftl/core/", "core", ["core", "media", "sim", "ftl.public", "ftl.policy.public"]),
    ("libftl/policy/", "policy", ["ftl.policy.public"]),
    ("libftl/nvme/", "nvme", ["nvme", "core", "media", "sim", "ftl.public", "ftl.policy.public"]),
    ("libftl/config/", "config", ["config", "core", "ftl.public", "ftl.policy.public",
                                 "nand.public"]),
    ("workload/include/", "workload.public", ["workload.public", "ftl.public", "ftl.policy.public"]),
    ("workload/", "workload", ["workload", "workload.public", "ftl.public", "ftl.policy.public",
                               "nand.public", "ldpc.public"]),
    ("testkit/include/", "testkit.public", ["testkit.public", "ftl.public", "ftl.policy.public"]),
    ("testkit/", "testkit", ["testkit", "testkit.public", "ftl.public", "ftl.policy.public"]),
    ("cli/", "cli", ["cli", "workload.public", "testkit.public", "ftl.public",
                     "ftl.policy.public", "nand.public", "ldpc.public"]),
    ("examples/", "examples", ["examples", "workload.public", "testkit.public", "ftl.public",
                               "ftl.policy.public", "nand.public", "ldpc.public"]),
]
# Only this file of media/ may know the codec, so that it can be exchanged.
CODEC_ADAPTER = re.compile(r"libftl/media/ecc[a-z_]*\.[ch]$")

LIBC = re.compile(
    r"^(assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|"
    r"stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|"
    r"tgmath|threads|time|uchar|wchar|wctype|dirent|fcntl|getopt|glob|libgen|unistd|termios|poll|"
    r"sys/[a-z]+|[a-z]*intrin|cpuid|arm_neon)\.h$")
# Libraries of others, by room prefix.
FOREIGN = {
    "nand": {"zstd.h", "xxhash.h", "xxh_x86dispatch.h"},
    "ldpc": set(),
    "sim": {"isa-l/crc.h", "xxhash.h", "xxh_x86dispatch.h"},
    "media": {"xxhash.h", "uthash.h", "utlist.h"},
    "core": {"xxhash.h", "zstd.h", "uthash.h", "utlist.h", "utarray.h"},
    "policy": set(),
    "nvme": {"xxhash.h", "zstd.h", "uthash.h", "utlist.h"},
    "config": {"ini.h"},
    "workload": {"ini.h", "dlfcn.h", "xxhash.h", "zstd.h", "uthash.h", "utlist.h"},
    "testkit": set(),
    "cli": {"jansson.h", "ini.h", "uthash.h", "malloc.h"},    # the last: glibc's own
    "examples": {"cmocka.h"},
}


def room_of(name):
    for prefix, room, targets in ROOMS:
        if name.startswith(prefix):
            return room, targets
    return None, []


def resolve(name, quoted, known):
    """The project file that `quoted` in file `name` means, or None."""
    parts = name.split("/")
    folders = [os.path.dirname(name)]
    folders += ["/".join(parts[:n]) for n in range(len(parts) - 2, 0, -1)]
    folders += [parts[0] + "/" + sub for sub in ("src", "include", "config")]
    folders += ["nand_model/include", "ldpc/include", "libftl/include", "workload/include",
                "testkit/include", "libftl"]
    for folder in folders:
        candidate = os.path.normpath(os.path.join(folder, quoted))
        if candidate in known:
            return candidate
    return None


def check_include(name, system, included, known):
    """The reason why this include is wrong, or None."""
    room, targets = room_of(name)
    target = resolve(name, included, known)
    if target is None:
        if LIBC.match(included) or included in FOREIGN.get(room.split(".")[0], set()):
            return None
        if not system and included.endswith((".inc", ".c.inc")):
            return None
        return "%s may not use <%s>" % (room, included)
    if room == "media" and CODEC_ADAPTER.match(name):
        targets = targets + ["ldpc.public"]
    other = room_of(target)[0]
    if other in targets:
        return None
    return "%s may not include %s (%s)" % (room, target, other)


def check(texts):
    """texts: file name -> content. Errors as 'file: reason'."""
    errors = []
    for name, text in sorted(texts.items()):
        if room_of(name)[0] is None:
            continue
        for system, included in tree.includes(text):
            why = check_include(name, system, included, texts)
            if why:
                errors.append("%s: %s" % (name, why))
    return errors


def self_test():
    """Each planted include must be refused, and the good ones accepted."""
    base = {
        "nand_model/include/nand/nand.h": "", "nand_model/src/dev.h": "",
        "ldpc/include/ldpc/ldpc.h": "", "ldpc/src/code.h": "",
        "libftl/include/ftl/ftl.h": "", "libftl/include/ftl/ftl_policy.h": "",
        "libftl/sim/events.h": "", "libftl/media/media.h": "", "libftl/core/core.h": "",
        "libftl/nvme/drive.h": "", "libftl/config/config.h": "", "libftl/policy/helper.h": "",
        "workload/include/workload/run.h": "", "workload/src/engine.h": "",
        "testkit/include/ftl/ftl_testkit.h": "", "testkit/src/rig.h": "",
    }
    wrong = [
        ("libftl/sim/a.c", '"media/media.h"'), ("libftl/sim/a.c", '"nand/nand.h"'),
        ("libftl/media/a.c", '"core/core.h"'), ("libftl/media/a.c", '"../core/core.h"'),
        ("libftl/media/a.c", '"ldpc/ldpc.h"'), ("libftl/media/ecc.c", '"core/core.h"'),
        ("libftl/media/a.c", '"../../nand_model/src/dev.h"'),
        ("libftl/core/a.c", '"nvme/drive.h"'), ("libftl/core/a.c", '"policy/helper.h"'),
        ("libftl/core/a.c", '"nand/nand.h"'), ("libftl/core/a.c", "<ini.h>"),
        ("libftl/policy/a.c", '"core/core.h"'), ("libftl/policy/a.c", "<zstd.h>"),
        ("libftl/policy/a.c", '"ftl/ftl.h"'),
        ("libftl/nvme/a.c", '"workload/run.h"'), ("libftl/core/a.c", '"config.h"'),
        ("workload/src/a.c", '"core/core.h"'), ("workload/src/a.c", '"../../libftl/core/core.h"'),
        ("cli/a.c", '"engine.h"'), ("cli/a.c", '"nvme/drive.h"'),
        ("nand_model/src/a.c", '"ftl/ftl.h"'), ("nand_model/src/a.c", '"ldpc/ldpc.h"'),
        ("ldpc/src/a.c", '"nand/nand.h"'), ("ldpc/src/a.c", "<zstd.h>"),
        ("ldpc/include/ldpc/b.h", '"code.h"'), ("examples/a.c", '"core/core.h"'),
        ("libftl/core/a.c", '"no/such.h"'), ("testkit/src/a.c", '"core/core.h"'),
        ("testkit/src/a.c", '"nand/nand.h"'), ("libftl/core/a.c", '"ftl/ftl_testkit.h"'),
        ("cli/a.c", '"rig.h"'),
    ]
    right = [
        ("libftl/core/a.c", '"media/media.h"'), ("libftl/media/a.c", '"nand/nand.h"'),
        ("libftl/media/ecc.c", '"ldpc/ldpc.h"'), ("libftl/nvme/a.c", '"nvme/drive.h"'),
        ("libftl/policy/a.c", '"ftl/ftl_policy.h"'), ("cli/a.c", "<stdio.h>"),
        ("testkit/src/a.c", '"ftl/ftl_testkit.h"'), ("cli/a.c", '"ftl/ftl_testkit.h"'),
        ("workload/src/a.c", '"engine.h"'), ("nand_model/src/a.c", '"dev.h"'),
    ]
    for name, included in wrong:
        if not check({**base, name: "#include %s\n" % included}):
            sys.exit("self-test: %s with %s was accepted" % (name, included))
    for name, included in right:
        errors = check({**base, name: " # include %s\n" % included})
        if errors:
            sys.exit("self-test: %s" % errors[0])
    return len(wrong) + len(right)


def main():
    root = sys.argv[1]
    planted = self_test()
    texts = {n: tree.read(root, n) for n in tree.files(root) if n.endswith(tree.SOURCE)}
    errors = check(texts)
    print("\n".join(errors) if errors else
          "%d files keep the arrows; %d planted includes judged" % (len(texts), planted))
    if len(texts) < 40:
        sys.exit("only %d source files found under %s" % (len(texts), root))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
