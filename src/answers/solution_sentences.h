/* The sentences about a solution, for the answer of a solution and the end of a run. */
#ifndef MFPG_ANSWERS_SOLUTION_SENTENCES_H
#define MFPG_ANSWERS_SOLUTION_SENTENCES_H

#include <stdio.h>

#include "mfpg/solution.h"

/* Prints what follows the table of a solution. */
void mfpg_print_sentences(const mfpg_solution *solution, FILE *out);

#endif
