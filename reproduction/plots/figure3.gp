# Figure 3 of the paper: images and a network, from figure3.csv into figure3.svg, figure3.png and figure3.pdf. The paper leaves
# mapg-dp out here.
name = 'figure3'
title = 'Images: 10 clients, 109,386 parameters, the paper''s settings'
second = 'accuracy'
second_label = 'accuracy (share of rows)'
load 'style.gp'
load 'rounds.gp'
