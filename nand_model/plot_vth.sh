#!/bin/sh
# Draws nand_model/vth.svg: threshold voltages of eTLC, fresh and aged.
# usage: plot_vth.sh path/to/ftlsim [output.svg]     needs gnuplot
set -eu
ftlsim=$1
out=${2:-$(dirname "$0")/vth.svg}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ftlsim" nand vth --cell etlc --pe 0 --points 900 >"$work/fresh.csv"
"$ftlsim" nand vth --cell etlc --pe 7000 --days 90 --celsius 40 --points 900 >"$work/aged.csv"
# the curves name their files in the picture: without the folder
(cd "$work" && gnuplot >vth.svg <<PLOT
set terminal svg size 900,620 dynamic font 'sans,13'
set datafile separator ','
set multiplot layout 2,1
set xrange [-3.2:7.8]
set yrange [1e-4:1]
set logscale y
set format y '10^{%L}'
set ylabel 'density per pitch'
set key off
do for [n = 0:6] { set arrow from n + (n == 0 ? 0.454 : 0.5), graph 0 to n + (n == 0 ? 0.454 : 0.5), graph 1 nohead dt 3 lc rgb '#999999' }
set title 'eTLC as written: 0 P/E, no time'
plot for [s = 2:9] 'fresh.csv' using 1:s with lines lw 2 lc s
set title '7,000 P/E, 90 days at 40 °C (dashed: read voltages frozen at the fresh optimum)'
set xlabel 'threshold voltage, state pitch = 1'
plot for [s = 2:9] 'aged.csv' using 1:s with lines lw 2 lc s
PLOT
)
mv "$work/vth.svg" "$out"
