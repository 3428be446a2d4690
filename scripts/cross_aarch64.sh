#!/bin/sh
# cross_aarch64.sh: the codec built for aarch64, run under qemu-user, must count what the
# native build counts, with and without vector kernels. Needs (Debian): gcc,
# gcc-aarch64-linux-gnu, qemu-user. Takes about a minute.
set -eu
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
flags="-std=c11 -O3 -Wall -Wextra -Werror -fno-strict-aliasing -ffp-contract=off -Ildpc/include"
gcc $flags -o "$tmp/native" tests/ldpc/digest.c ldpc/src/*.c
aarch64-linux-gnu-gcc $flags -static -o "$tmp/arm" tests/ldpc/digest.c ldpc/src/*.c
"$tmp/native" >"$tmp/vector.txt"
"$tmp/native" 0 >"$tmp/plain.txt"
qemu-aarch64 "$tmp/arm" >"$tmp/arm.txt"
cmp "$tmp/vector.txt" "$tmp/plain.txt"
cmp "$tmp/vector.txt" "$tmp/arm.txt"
echo "same: $(wc -l <"$tmp/arm.txt") lines"
