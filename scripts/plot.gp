# Run by scripts/plot.sh, which sets a, b (files of drive writes and IOPS), out, @TERM.
set terminal @TERM
set output out
set xlabel "drive writes of random 4 KiB after one sequential fill"
set ylabel "IOPS (thousands)"
set xrange [0:3]
set yrange [0:2200]
set grid lc rgb "#dddddd" lt 1
set key top right
plot b using 1:($2/1000) with lines lw 2 lc rgb "#c0392b" title "UH832a 6.4 TB, simulated (predicted)", \
     1000 with lines dt 2 lw 1.5 lc rgb "#c0392b" title "published: 1,000 K", \
     a using 1:($2/1000) with lines lw 2 lc rgb "#1f4e79" title "UH812a 7.68 TB, simulated (calibrated)", \
     470 with lines dt 2 lw 1.5 lc rgb "#1f4e79" title "published: 470 K"
