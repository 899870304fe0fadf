/* mfpg account: the privacy of a schedule from its numbers alone, or of a ledger. */
#include "account.h"

#include "options.h"

/* No line of the examples is longer than a line of the help, which would break it. */
static const char doc[] =
    "Prints the privacy of a schedule, or of what a run really released."
    "\vEpsilon is in nats, rounded up; infinity (noise 0) is \"inf\" in JSON. Examples:\n\n"
    "  mfpg account --noise-multiplier 5 --steps 20 --delta 1e-5\n"
    "  mfpg account --mechanism entropic --strength 1 --step 0.1 \\\n"
    "    --clip 1 --adjacency replace --steps 10\n"
    "  mfpg account --noise-multiplier 1 --sampling-rate 0.01 \\\n"
    "    --steps 1000 --delta 1e-5\n"
    "  mfpg account --blocks 0.1:3:200,0.05:2:300 --epsilon 3\n"
    "  mfpg account --mu 1 --epsilon 2\n"
    "  mfpg account --particles data --mechanism entropic \\\n"
    "    --strength 1 --step 0.1 --adjacency replace \\\n"
    "    --steps 10 --exogenous\n"
    "  mfpg account --mechanism entropic --strength 1 --step 0.1 \\\n"
    "    --steps 1000 --view final --assume glm --smoothness 1\n"
    "  mfpg account --ledger runs/hospitals/ledger\n";

static int print(const mfpg_answer *answer, int json) {
    if (answer->ledger) return account_print_ledger(answer, json);
    if (json) return cli_json_print("account", account_json(answer));
    account_print(answer);
    return cli_finish("account", CLI_DONE);
}

int command_account(int argc, char **argv) {
    return account_command(MFPG_QUESTION_ACCOUNT, "account", doc, argc, argv, print);
}
