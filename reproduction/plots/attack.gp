# The paper's bound under attack, from attack.csv into attack.svg, attack.png and attack.pdf: total variation between the last models of
# two runs that differ in one client, by the number of rounds. Bars reach from what an attack proved to what our certificate promises.
name = 'attack'
load 'style.gp'
file = name.'.csv'
of(kind, value) = strcol('kind') eq kind ? value : NaN
do for [kind in kinds] {
  eval(terminal(kind, 1100, 500))
  set output name.'.'.kind
  set multiplot layout 1,2 title 'The paper''s bound under attack: counterexample, 5 clients, strength 2'
  set key below maxrows 2 height 0.5 width 1 samplen 2
  set xlabel 'rounds (number)' offset 0,0.5
  set ylabel 'total variation (0 to 1)'
  set logscale x
  set xrange [1:1500]
  set logscale y
  set format y '1e%T'
  set yrange [1e-23:10]
  set ytics 1e4
  unset mytics
  do for [panel=1:2] {
    plot file using 'rounds':(of('curve', column('exact'))) with lines ls 1 title 'exact', \
         file using 'rounds':(of('curve', column('paper'))) with lines ls 2 dashtype 2 title 'the paper''s bound (no guarantee)', \
         file using 'rounds':(of('attack', column('proved_most'))):'proved_most':'certified' with yerrorbars ls 3 ps 1 title 'proved (point) to certified (top)'
    unset logscale y
    set format y '%g'
    set yrange [0:0.5]
    set ytics 0.1
  }
  unset multiplot
  unset output
  unset ytics
  set ytics nomirror
}
