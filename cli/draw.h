/* Figures drawn by gnuplot, where it is there. */
#ifndef MFPG_CLI_DRAW_H
#define MFPG_CLI_DRAW_H

/* Runs the scripts of a folder, `names` ending with NULL, in that folder and without anybody's settings. 1 where all were drawn;
 * 0 with a message to stderr where gnuplot is not there or failed: a figure less is no failure of a command. */
int draw_figures(const char *command, const char *folder, const char *const *names);

#endif
