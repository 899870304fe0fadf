# Figure 5 of the paper: privacy against accuracy, from figure5.csv into figure5.svg, figure5.png and figure5.pdf. Left as the paper
# sweeps it, by a number that is a budget for two methods and a strength for the others (a game is offered that action alone, so that mfpg, dashed, lies on
# mfep); right by what is certified.
name = 'figure5'
load 'style.gp'
methods = 'dp-sgd mfep mapg-dp mfpg'
file = name.'.csv'
of(panel, method, value) = strcol('panel') eq panel && strcol('method') eq method ? value : NaN
do for [kind in kinds] {
  eval(terminal(kind, 1100, 480))
  set output name.'.'.kind
  set multiplot layout 1,2 title 'Privacy against accuracy: logistic regression, planted labels (bars: ± standard error)'
  set key top left
  set logscale x
  set xrange [0.08:6.3]
  set yrange [0.45:1]
  set xtics (0.1, 0.2, 0.5, 1, 2, 5)
  set ylabel 'accuracy (share of test rows)'
  set xlabel 'own number: budget (dp-sgd, mapg-dp), strength (mfep, mfpg)'
  plot for [i=1:4] file using 'x':(of('own', word(methods, i), column('accuracy'))):'accuracy_error' with yerrorbars ls i notitle, \
       for [i=1:3] file using 'x':(of('own', word(methods, i), column('accuracy'))) with lines ls i title word(methods, i), \
       file using 'x':(of('own', 'mfpg', column('accuracy'))) with lines ls 4 dashtype 2 title 'mfpg'
  set xlabel 'certified epsilon (nats, delta 1e-5), largest client'
  plot for [i=1:4] file using 'x':(of('certified', word(methods, i), column('accuracy'))):'accuracy_error' with yerrorbars ls i notitle, \
       for [i=1:4] file using 'x':(of('certified', word(methods, i), column('accuracy'))) with lines ls i title word(methods, i)
  unset multiplot
  unset output
}
