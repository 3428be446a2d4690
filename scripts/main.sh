#!/bin/sh
# main.sh [OPTION...]: installs what is missing, builds ftlsim and runs the main job:
# 4 KiB random writes on a UH812a 7.68 TB, from fresh out of the box to steady state.
# Further options go to `ftlsim run`, for instance --drive uh832a-6.4.
set -eu
cd "$(dirname "$0")/.."

sh scripts/install.sh build
if [ ! -f build-main/build.ninja ]; then
    rm -rf build-main
    meson setup build-main --buildtype=release -Dtests=false -Ddefault_library=static >/dev/null
fi
ninja -C build-main cli/ftlsim >/dev/null
echo "ftlsim run examples/jobs/fresh-to-steady.fio --drive uh812a-7.68 --scale 256 $*"
exec build-main/cli/ftlsim run examples/jobs/fresh-to-steady.fio --drive uh812a-7.68 --scale 256 "$@"
