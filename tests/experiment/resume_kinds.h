/* Configurations of every kind of run that can be interrupted; the data are three clients of twelve rows. A checkpoint every
 * second round: the ledger may be one or two rounds ahead of it. */
#ifndef MFPG_TESTS_EXPERIMENT_RESUME_KINDS_H
#define MFPG_TESTS_EXPERIMENT_RESUME_KINDS_H

#define DATA   "data: {format: synthetic, clients: 3, rows: 12, dimension: 2}\n"
#define FIVE   "train: {rounds: 5, checkpoint: 2}\n"
#define GAME   "game: {actions: [0.5, 1], curvature: 1}\n"
#define ACTING "method: mfpg\nprivacy: {unit: example, stop_at_epsilon: 30}\ngame: "

static const struct {
    const char *name, *text;
} kinds[] = {
    {"none", "seed: 1\nmethod: none\n" DATA FIVE},
    {"dp-sgd", "seed: 1\nmethod: dp-sgd\n" DATA FIVE},
    {"a checkpoint a round", "seed: 1\nmethod: dp-sgd\ntrain: {rounds: 5, checkpoint: 1}\n" DATA},
    {"as often as is cheap", "seed: 1\nmethod: dp-sgd\ntrain: {rounds: 5}\n" DATA},
    {"batches", "seed: 1\nmethod: dp-sgd\nprivacy: {unit: example, accountant: rdp}\n"
                "train: {rounds: 5, checkpoint: 2, local_steps: 2, batch: {rate: 0.5}}\n" DATA},
    {"mfep", "seed: 1\nmethod: mfep\n" DATA FIVE},
    {"mapg-dp", "seed: 1\nmethod: mapg-dp\n" DATA FIVE GAME},
    {"mfpg", "seed: 1\nmethod: mfpg\n" DATA FIVE GAME},
    {"view average", "seed: 1\nmethod: mfpg\nprivacy: {view: average}\n" DATA FIVE GAME},
    {"hidden",
        "seed: 1\nmethod: mfep\nprivacy: {unit: example, view: final, assume: convex, smoothness: 0.5, "
        "accountant: hidden-state}\nentropic: {scale: sensitivity}\n" DATA FIVE},
    {"drawn cohorts",
        "seed: 1\nmethod: dp-sgd\n" DATA "train: {rounds: 6, checkpoint: 2, clients_per_round: 2}\n"},
    {"sampled clients",
        "seed: 1\nmethod: dp-sgd\n" DATA "train: {rounds: 8, checkpoint: 3, client_rate: 0.4}\n"},
    {"a filter's budget", "seed: 3\nmethod: dp-sgd\nprivacy: {stop_at_epsilon: 2}\nnoise: {multiplier: 4}\n"
                          "train: {rounds: 8, checkpoint: 3, client_rate: 0.7}\n" DATA},
    {"an accountant's budget",
        "seed: 3\nmethod: dp-sgd\nprivacy: {unit: example, accountant: rdp, stop_at_epsilon: 5}\nnoise: "
        "{multiplier: 1}\ntrain: {rounds: 8, checkpoint: 3, batch: {rate: 0.3}}\n" DATA},
    {"noisy choices",
        "seed: 1\n" ACTING "{cost: paper, update: each-round, loss_noise: 9, gradient_noise: 9}\n" DATA FIVE},
    {"drawn choices", "seed: 1\n" ACTING
                      "{cost: measured, update: each-round, selection: exponential, selection_epsilon: 0.5}\n"
                      "train: {rounds: 6, checkpoint: 4, client_rate: 0.6}\n" DATA},
    {"projected states", "seed: 1\nmethod: mfep\nprivacy: {unit: example}\nentropic: {transport: "
                         "{regularisation: 0.3, scale: variance}}\n" DATA FIVE},
    {"raw choices", "seed: 1\nmethod: mfpg\nprivacy: {unit: example}\n"
                    "game: {cost: paper, update: each-round, selection: none}\n" DATA FIVE},
    {"momentum in a round", "seed: 1\nmethod: mfep\nprivacy: {unit: example, view: average}\n"
                            "train: {rounds: 5, checkpoint: 2, local_steps: 3, optimiser: momentum}\n" DATA},
    {"momentum of the server", "seed: 1\nmethod: dp-sgd\n" DATA FIVE "server: {optimiser: momentum}\n"},
    {"a shorter step of the server", "seed: 1\nmethod: dp-sgd\n" DATA FIVE "server: {learning_rate: 0.5}\n"},
    {"adam with noised records",
        "seed: 1\nmethod: {mechanism: input, players: none}\ntrain: {rounds: 6, checkpoint: 2, client_rate: "
        "0.6, "
        "local_steps: 2, optimiser: momentum}\nserver: {optimiser: adam, learning_rate: 0.1}\n" DATA},
    {"noised records", "seed: 1\nmethod: {mechanism: input, players: none}\ntrain: {rounds: 6, checkpoint: "
                       "2, clients_per_round: 2}\n" DATA},
    {"flowing records",
        "seed: 1\nmethod: mfep\nprivacy: {unit: example}\nentropic: {particles: data, step: 0.01}\ntask: "
        "{model: logistic}\ntrain: {rounds: 6, checkpoint: 2, clients_per_round: 2, local_steps: 2}\n" DATA},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

#endif
