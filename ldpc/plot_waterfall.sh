#!/bin/sh
# plot_waterfall.sh FTLSIM: makes waterfall.svg from tables/4k-soft*.csv and the
# normal-approximation limits that `ftlsim ldpc fer` states. Needs gnuplot and awk.
set -eu
ftlsim=$1
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Measured points: RBER, FER and its Wilson 95 % interval.
points() {
    awk -F, '/^[0-9]/ && $3 > 0 { n = $2; p = $3 / n; z = 1.96; d = 1 + z * z / n
        c = (p + z * z / (2 * n)) / d; h = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / d
        print $1 / 1e9, p, c - h, c + h }' "tables/4k-soft$1.csv" >"$tmp/p$1"
}

# One frame a point: only the limit is wanted.
limit() {
    "$ftlsim" ldpc fer --quiet yes --frames 1 --soft "$1" --rber "$2" --csv "$tmp/csv" >/dev/null
    awk -F, 'NR > 1 && $NF > 1e-13 { print $1, $NF }' "$tmp/csv" >"$tmp/l$1"
}

points 1; points 2; points 3
limit 1 0.0096:0.0160:0.0002
limit 2 0.0186:0.0270:0.0002
limit 3 0.0216:0.0300:0.0002

gnuplot <<EOF
set terminal svg size 800,500 font 'sans,13' background 'white'
set output 'waterfall.svg'
set logscale y
set format y '10^{%L}'
set yrange [1e-10:1.5]
set xrange [0.006:0.03]
set grid
set key outside right
set xlabel 'raw bit error rate (hard decision)'
set ylabel 'frame error rate'
set title 'code 4k (n 36864, k 32768): decoder auto, at most 40 iterations'
plot '$tmp/p1' with yerrorlines lc 1 pt 7 ps 0.6 title 'hard', \
     '$tmp/l1' with lines lc 1 dt 2 title 'hard: limit', \
     '$tmp/p2' with yerrorlines lc 2 pt 7 ps 0.6 title '2-bit', \
     '$tmp/l2' with lines lc 2 dt 2 title '2-bit: limit', \
     '$tmp/p3' with yerrorlines lc 3 pt 7 ps 0.6 title '3-bit', \
     '$tmp/l3' with lines lc 3 dt 2 title '3-bit: limit'
EOF
