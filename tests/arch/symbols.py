#!/usr/bin/env python3
"""What a shared library shows and needs: symbols.py PREFIX ALLOWED LIBRARY

PREFIX: every exported symbol begins with it. ALLOWED: shared libraries it may need,
comma separated, without version ("c,m,zstd").
"""
import re
import subprocess
import sys

# what compilers and sanitizers bring along
RUNTIME = re.compile(r"^(_init|_fini|_edata|_end|__bss_start|__odr_asan.*|__asan_.*|___asan_.*)$")
RUNTIME_LIBS = {"c", "m", "asan", "ubsan", "gcc_s", "pthread", "tsan"}


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()


def exported(library):
    lines = run("nm", "-D", "--defined-only", library).split("\n")
    return [line.split()[-1].split("@")[0] for line in lines if line.strip()]


def needed(library):
    found = re.findall(r"\(NEEDED\).*\[(?:lib)?([^\]]+)\]", run("readelf", "-d", library))
    return {re.sub(r"\.so.*", "", name) for name in found if not name.startswith("ld-linux")}


def check(prefix, allowed, symbols, libraries):
    errors = ["exports %s, which does not begin with %s" % (s, prefix)
              for s in symbols if not s.startswith(prefix) and not RUNTIME.match(s)]
    errors += ["needs lib%s" % name for name in sorted(libraries - allowed - RUNTIME_LIBS)]
    if not any(s.startswith(prefix) for s in symbols):
        errors.append("exports nothing that begins with " + prefix)
    return errors


def main():
    prefix, allowed, library = sys.argv[1], set(sys.argv[2].split(",")), sys.argv[3]
    if not check(prefix, allowed, [prefix + "a", "helper"], set()) or \
            not check(prefix, allowed, [prefix + "a"], {"surprise"}) or \
            not check(prefix, allowed, [], set()):
        sys.exit("self-test: a planted fault was accepted")
    symbols, libraries = exported(library), needed(library)
    errors = check(prefix, allowed, symbols, libraries)
    for error in errors:
        print("%s: %s" % (library.split("/")[-1], error))
    print("%d symbols, needs: %s" % (len(symbols), " ".join(sorted(libraries))))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
