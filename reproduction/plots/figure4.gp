# Figure 4 of the paper: the equilibrium by preference, under several readings of the paper's best response (docs/paper.md#studies-of-the-equilibrium),
# from figure4.csv into figure4.svg, figure4.png and figure4.pdf.
name = 'figure4'
load 'style.gp'
readings = 'literal budget envelope hamiltonian consistent'
file = name.'.csv'
of(panel, reading, value) = strcol('panel') eq panel && strcol('reading') eq reading ? value : NaN
do for [kind in kinds] {
  eval(terminal(kind, 1300, 520))
  set output name.'.'.kind
  set multiplot layout 1,3 title 'Equilibrium by preference, under five readings of the best response'
  set key below maxrows 3 height 0.5
  set xlabel 'beta of every client (no unit)' offset 0,0.7
  set logscale x
  set ylabel 'mean strength or budget (no unit)'
  set yrange [0:2.15]
  plot for [i=1:words(readings)] file using 'x':(of('mean', word(readings, i), column('value'))) with linespoints ls i title word(readings, i)
  set ylabel 'the paper''s delta: no guarantee'
  set yrange [0:*]
  plot for [i=1:words(readings)] file using 'x':(of('delta', word(readings, i), column('value'))) with linespoints ls i title word(readings, i)
  unset logscale x
  set xlabel 'action of 20 clients, beta 0.5 to 1.5' offset 0,0.7
  set ylabel 'clients (count, mean over draws)'
  set yrange [0:21]
  set xtics ('0.1' 0, '0.3' 1, '0.5' 2, '1' 3, '2' 4)
  set xrange [-0.6:4.6]
  place(x) = x < 0.2 ? 0 : x < 0.4 ? 1 : x < 0.7 ? 2 : x < 1.5 ? 3 : 4
  set boxwidth 0.15
  plot for [i=1:words(readings)] file using (place(column('x')) + 0.16 * (i - 3)):(of('histogram', word(readings, i), column('value'))) with boxes fs solid 0.7 ls i title word(readings, i)
  unset multiplot
  unset output
  set xtics autofreq
  set xrange [*:*]
}
