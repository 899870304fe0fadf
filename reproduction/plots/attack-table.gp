# The paper's table under attack, from attack-table.csv into attack-table.svg, attack-table.png and attack-table.pdf: what the paper prints,
# what an attack proved, what our certificate promises.
name = 'attack-table'
load 'style.gp'
file = name.'.csv'
# Bar i of 4 of the settings whose quantity is shown.
place(i) = strcol('quantity') eq quantity ? column('place') + 0.2 * (i - 2.5) : NaN
label(shown) = strcol('quantity') eq shown ? strcol('task')."\n".strcol('method') : ''
do for [kind in kinds] {
  eval(terminal(kind, 1300, 560))
  set output name.'.'.kind
  set multiplot layout 1,2 title 'The paper''s table under attack'
  set key below maxrows 2 height 0.5 width 1 samplen 2
  set boxwidth 0.18
  set xrange [-0.6:*]
  unset xtics
  set xlabel " \n \n "
  set title 'last model, one client exchanged'
  set ylabel 'total variation (0 to 1)'
  set yrange [0:*]
  bottom = 0
  do for [quantity in 'distance epsilon'] {
    plot file using (place(1)):'printed' with boxes fs solid 0.8 ls 2 title 'the paper prints (no guarantee)', \
         file using (place(2)):'proved' with boxes fs solid 0.8 ls 3 title 'proved', \
         file using (place(3)):'proved_gaussian' with boxes fs solid 0.8 ls 4 title 'proved for Gaussian noise', \
         file using (place(4)):'certified' with boxes fs solid 0.8 ls 1 title 'our certificate', \
         file using (place(2.5)):(bottom):(label(quantity)) with labels offset 0,-1.3 notitle
    set title 'every update, one client left out'
    set ylabel 'epsilon (nats, delta 1e-5)'
    set logscale y
    set yrange [0.001:30]
    bottom = 0.001
  }
  unset logscale y
  unset multiplot
  unset output
}
