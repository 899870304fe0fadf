# Figure 1 of the paper: quadratic regression, from figure1.csv into figure1.svg, figure1.png and figure1.pdf.
name = 'figure1'
title = 'Quadratic regression: 5 clients, 5 parameters, the paper''s settings'
second = 'paper_epsilon'
second_label = 'the paper''s epsilon: no guarantee'
load 'style.gp'
load 'rounds.gp'
