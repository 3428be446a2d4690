#!/bin/sh
# install.sh build|test: installs the Debian packages that are missing.
#
# Nothing is asked and nothing is touched when all of them are there, so a machine
# without network can run it too. Needs root or sudo only to install.
set -eu

build="gcc libc6-dev meson ninja-build pkg-config python3
       libinih-dev libisal-dev libjansson-dev libxxhash-dev libzstd-dev uthash-dev"
test="$build clang g++ libcmocka-dev"

case "${1:-}" in
build) wanted=$build ;;
test) wanted=$test ;;
*) echo "usage: sh scripts/install.sh build|test" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    echo "install.sh: not a Debian system; the packages needed are:" $wanted >&2
    exit 0
fi

missing=
for package in $wanted; do
    status=$(dpkg-query -W -f='${db:Status-Status} ' "$package" 2>/dev/null || true)
    case "$status" in
    *"installed "*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "install.sh: as root, please: apt-get install$missing" >&2
        exit 1
    fi
    root=sudo
fi
echo "installing:$missing"
# A warning of one package source must not stop the others.
$root env DEBIAN_FRONTEND=noninteractive apt-get -qq update || true
# dpkg's syncs cost half of the time and a build machine gains nothing by them.
$root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
    -o Dpkg::Options::=--force-unsafe-io -o Dpkg::Use-Pty=0 install $missing >/dev/null
