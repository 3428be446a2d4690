#!/bin/sh
# plot.sh FTLSIM [FILE.svg|FILE.png]: the plot of the README (docs/img/fresh-to-steady.svg),
# from the IOPS logs that two runs of ftlsim write. Needs gnuplot; takes two minutes.
set -eu
ftlsim=$(realpath "$1")
cd "$(dirname "$0")/.."
out=${2:-docs/img/fresh-to-steady.svg}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# log DRIVE: drive writes and IOPS. The section `fall` writes the drive three times over,
# so its share of the accesses so far, times three, is the number of drive writes.
log() {
    mkdir "$work/$1"
    "$ftlsim" run examples/jobs/fresh-to-steady.fio --drive "$1" --scale 256 \
        --section fill --section fall --log-dir "$work/$1" >"$work/$1/report"
    cat "$work/$1"/*_iops*.log | tr -d , | awk '
        { iops[NR] = $2; sum += $2 }
        END { for (i = 1; i <= NR; i++) { done += iops[i]; print 3 * done / sum, iops[i] } }' \
        >"$work/$1.dat"
}

log uh812a-7.68
log uh832a-6.4
case $out in
*.png) terminal="pngcairo size 900,480 font 'sans,12'" ;;
*) terminal="svg size 900,480 font 'sans,14' background '#ffffff'" ;;
esac
sed "s|@TERM|$terminal|" scripts/plot.gp >"$work/plot.gp"
gnuplot -e "a='$work/uh812a-7.68.dat'; b='$work/uh832a-6.4.dat'; out='$out'" "$work/plot.gp"
