# Figure 2 of the paper: logistic regression, from figure2.csv into figure2.svg, figure2.png and figure2.pdf.
name = 'figure2'
title = 'Logistic regression: 8 clients, 21 parameters, the paper''s settings'
second = 'accuracy'
second_label = 'accuracy (share of rows)'
load 'style.gp'
load 'rounds.gp'
