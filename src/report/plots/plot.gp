# gnuplot {{name}}.gp draws {{name}}.svg, {{name}}.png and {{name}}.pdf from {{name}}.csv.
name = '{{name}}'
file = name.'.csv'
load 'style.gp'
set xlabel '{{x}}{{#bar}}{{^named}} (number){{/named}}{{/bar}}' offset 0,0.4
set ylabel '{{y}}'
{{#legend}}set key below height 0.5
{{/legend}}
{{^legend}}unset key
{{/legend}}
{{#log}}set logscale y
{{/log}}
{{#alone}}set xrange [{{left}}:{{right}}]
{{/alone}}
{{#from_zero}}set yrange [0:*]
{{/from_zero}}
do for [kind in kinds] {
  eval(terminal(kind, 900, 560))
  set output name.'.'.kind
{{#line}}
  plot {{#series}}{{#band}}file using 1:{{low}}:{{high}} with filledcurves fs transparent solid 0.2 noborder ls {{style}} notitle, {{/band}}file using 1:{{column}} with lines ls {{style}}{{#dash}} dashtype 2{{/dash}} title columnheader({{column}}), {{/series}}NaN notitle
{{/line}}
{{#bar}}
  set boxwidth {{width}}
{{^named}}  set xtics {{tics}}
{{/named}}
  plot {{#bars}}file using ($2 + {{place}}):{{column}} with boxes fs solid 0.8 ls {{style}} title columnheader({{column}}), {{/bars}}{{#named}}file using 2:(0):xtic(1) with points pt 0 lc rgb '#57606a' notitle, {{/named}}NaN notitle
{{/bar}}
{{#scatter}}
  set offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05
  plot file using 2:3 with points ls 1 ps 1 title columnheader(3)
{{/scatter}}
  unset output
}
