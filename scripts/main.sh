#!/bin/sh
# main.sh [OPTION...]: installs what is missing, builds ftlsim and runs the main job:
# a UH812a 7.68 TB is filled in order, then written at random until its steady state.
# Further options go to `ftlsim run`, for instance --drive uh832a-6.4.
set -eu
cd "$(dirname "$0")/.."
log=build-main.log

# A command whose output matters only when it fails.
quietly() {
    "$@" >"$log" 2>&1 || {
        tail -n 60 "$log" >&2
        exit 1
    }
}

sh scripts/install.sh build
if [ ! -f build-main/build.ninja ]; then
    rm -rf build-main
    quietly meson setup build-main --buildtype=release -Dtests=false -Ddefault_library=static
fi
quietly ninja -C build-main cli/ftlsim
set -- examples/jobs/fresh-to-steady.fio --drive uh812a-7.68 --scale 256 "$@"
echo "ftlsim run $*"
exec build-main/cli/ftlsim run "$@"
