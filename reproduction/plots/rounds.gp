# The paper's runs round by round: figures 1 to 3, which set name, title and second before they load this.
methods = 'dp-sgd mfep mapg-dp mfpg'
file = name.'.csv'
of(method, column) = strcol('method') eq method ? column : NaN
set xlabel 'round' offset 0,0.7
set offsets graph 0.02, graph 0.02, 0, 0
do for [kind in kinds] {
  eval(terminal(kind, 1000, 760))
  set output name.'.'.kind
  set multiplot layout 2,2 title title.' (bands: ± standard error)'
  unset logscale y
  set format y '%g'
  set yrange [*:*]
  set key bmargin center horizontal samplen 2 width 1 height 0.5
  set ylabel 'loss (sum over clients)'
  plot for [i=1:words(methods)] file using 'round':(of(word(methods, i), column('loss') - column('loss_error'))):(of(word(methods, i), column('loss') + column('loss_error'))) with filledcurves fs transparent solid 0.15 noborder ls i notitle, \
       for [i=1:words(methods)] file using 'round':(of(word(methods, i), column('loss'))) with linespoints ls i title word(methods, i)
  set ylabel second_label
  if (second eq 'paper_epsilon') { set yrange [0:*] }
  spread = second eq 'accuracy' ? 'accuracy_error' : 'loss_error' # epsilon has none: its band has no width
  wide = second eq 'accuracy'
  plot for [i=1:words(methods)] file using 'round':(of(word(methods, i), column(second) - wide * column(spread))):(of(word(methods, i), column(second) + wide * column(spread))) with filledcurves fs transparent solid 0.15 noborder ls i notitle, \
       for [i=1:words(methods)] file using 'round':(of(word(methods, i), column(second))) with linespoints ls i title word(methods, i)
  set ylabel 'the paper''s delta: no guarantee'
  set logscale y
  set format y '%.0e'
  set yrange [3e-6:2]
  plot for [i=1:words(methods)] file using 'round':(of(word(methods, i), column('paper_delta'))) with linespoints ls i title word(methods, i)
  unset logscale y
  set format y '%g'
  set yrange [0:*]
  set ylabel 'certified epsilon (nats, delta 1e-5)'
  plot for [i=1:words(methods)] file using 'round':(of(word(methods, i), column('epsilon'))) with linespoints ls i title word(methods, i)
  unset multiplot
  unset output
}
