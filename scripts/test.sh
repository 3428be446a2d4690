#!/bin/sh
# test.sh: installs what is missing, builds everything with gcc and clang, warnings
# being errors, and runs the tests:
#   gcc, release       all tests, those of the installed libraries too
#   clang, release     all but the suite `slow`
#   gcc, sanitizers    all but the suite `slow`
#   gcc, planted faults each fault of libftl/sim/plants.def is found by a test
#   one job on four builds (gcc and clang, debug and release): the same bytes
# The last line is "N passed, N failed". Build folders: build-test-*.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8

sh scripts/install.sh test

passed=0 failed=0 skipped=0

say() { printf '\n== %s\n' "$*"; }

# Prints the closing line whatever happened before.
close() {
    say "$(date -u +%H:%M:%S) end"
    printf '%d passed, %d failed' "$passed" "$failed"
    [ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
    printf '\n'
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# broken WHAT: a step that every later one needs has failed
broken() {
    echo "FAILED: $*" >&2
    failed=$((failed + 1))
    close || exit 1
}

# build NAME COMPILER MESON-OPTION...
build() {
    name=$1 compiler=$2
    shift 2
    say "$(date -u +%H:%M:%S) build $name"
    if [ ! -f "build-test-$name/build.ninja" ]; then
        rm -rf "build-test-$name"
        CC=$compiler meson setup "build-test-$name" "$@" >"build-test-$name.log" 2>&1 ||
            { cat "build-test-$name.log"; broken "set-up of $name"; }
    fi
    ninja -C "build-test-$name" >"build-test-$name.log" 2>&1 ||
        { grep -v '^\[' "build-test-$name.log" | tail -n 60; broken "build of $name"; }
}

# count FILE RESULT...: tests of a Meson log with one of these results
count() {
    log=$1 sum=0
    shift
    for result in "$@"; do
        sum=$((sum + $(grep -c "\"result\": \"$result\"" "$log" || true)))
    done
    echo "$sum"
}

# check NAME MESON-TEST-OPTION...
check() {
    name=$1
    shift
    say "$(date -u +%H:%M:%S) test $name"
    rm -f "build-test-$name"/meson-logs/testlog*.json
    meson test -C "build-test-$name" --no-rebuild --print-errorlogs "$@" || true
    log=$(ls "build-test-$name"/meson-logs/testlog*.json 2>/dev/null | head -n 1)
    [ -n "$log" ] || broken "no test ran in $name"
    all=$(grep -c '"result"' "$log" || true)
    good=$(count "$log" OK EXPECTEDFAIL)
    without=$(count "$log" SKIP)
    passed=$((passed + good)) skipped=$((skipped + without))
    failed=$((failed + all - good - without))
}

# same_bytes: one short job gives the same output on every build
same_bytes() {
    say "$(date -u +%H:%M:%S) same bytes from every build"
    reference=
    for name in gcc clang gcc-debug clang-debug; do
        output=build-test-$name/repeat.json
        if ! "build-test-$name/cli/ftlsim" run scripts/repeat.fio --drive wa-reference \
            --precondition seq:1,rand:0.5 --seed 7 --output-format json >"$output" 2>"$output.err"; then
            cat "$output.err"
            failed=$((failed + 1))
            continue
        fi
        [ -n "$reference" ] || reference=$output
        if cmp "$reference" "$output"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
        fi
    done
}

build gcc gcc --werror --buildtype=release
check gcc
build clang clang --werror --buildtype=release
check clang --no-suite slow
build sanitize gcc --native-file scripts/sanitize.ini
check sanitize --setup sanitize
build planted gcc --werror --buildtype=release -Dplanted=true -Ddefault_library=static
check planted --suite planted
build gcc-debug gcc --werror --buildtype=debug -Dtests=false -Ddefault_library=static
build clang-debug clang --werror --buildtype=debug -Dtests=false -Ddefault_library=static
same_bytes
close
