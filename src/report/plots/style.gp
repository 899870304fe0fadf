# What all figures share; loaded by each. Run a script with: gnuplot NAME.gp
set datafile separator comma
set datafile missing ''
set encoding utf8
set termoption noenhanced
set style line 1 lc rgb '#0b5fa5' lw 2 pt 7  ps 0.6
set style line 2 lc rgb '#b34700' lw 2 pt 5  ps 0.6
set style line 3 lc rgb '#00735a' lw 2 pt 9  ps 0.7
set style line 4 lc rgb '#8a2be2' lw 2 pt 13 ps 0.8
set style line 5 lc rgb '#9a6700' lw 2 pt 11 ps 0.7
set style line 6 lc rgb '#c2185b' lw 2 pt 2  ps 0.7
set style line 7 lc rgb '#00788a' lw 2 pt 4  ps 0.7
set style line 8 lc rgb '#57606a' lw 2 pt 6  ps 0.7
set grid lc rgb '#d8dee4' lw 0.7
set border 3 lc rgb '#57606a'
set tics nomirror textcolor rgb '#1b1f24'
set key noenhanced
kinds = 'svg png pdf'
# The terminal of a kind, for a figure that is w times h in units of a hundredth of an inch.
terminal(kind, w, h) = kind eq 'svg' ? sprintf('set terminal svg noenhanced size %d,%d dynamic background "#ffffff" font "DejaVu Sans,12"', w, h) : \
                       kind eq 'png' ? sprintf('set terminal pngcairo noenhanced size %d,%d background "#ffffff" font "DejaVu Sans,24" linewidth 2 pointscale 2', 2 * w, 2 * h) : \
                                       sprintf('set terminal pdfcairo noenhanced size %.2fin,%.2fin background "#ffffff" font "DejaVu Sans,11"', w / 100.0, h / 100.0)
