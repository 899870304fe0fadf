/* The law of the averaged model of entropic FedAvg in the long run (theory S3.3): one local step a round, equal
 * curvature, w' = w - tau [h (w - abar) + (ebar/sig2) w] + (sqrt(2 tau)/N) sum sqrt(e_k) z_k. With kap = ebar/sig2
 * and X = h + kap it is stable iff tau X < 2. */
#ifndef MFPG_GAMES_FEDAVG_LAW_H
#define MFPG_GAMES_FEDAVG_LAW_H

typedef struct mfpg_fedavg_law {
    double curvature;      /* h > 0 */
    double prior_variance; /* sig2 > 0 */
    double step;           /* tau > 0 */
    double dimension;      /* d */
    double optimum_norm2;  /* |abar|^2 */
    double variance_share; /* 1/N: how much of one client's variance the average keeps; 0 in the limit */
} mfpg_fedavg_law;

/* The strengths below this mean keep the model stable: sig2 (2/tau - h), negative where none does. */
double mfpg_fedavg_stable_below(const mfpg_fedavg_law *law);

/* m_inf/abar = h/X: the average is shrunk towards 0. */
double mfpg_fedavg_shrinkage(const mfpg_fedavg_law *law, double ebar);

/* v_inf = (ebar/N)/[X (1 - tau X/2)] per coordinate; +INFINITY where unstable. */
double mfpg_fedavg_variance(const mfpg_fedavg_law *law, double ebar);

/* Expected excess loss f(ebar) = (h/2)(|abar|^2 (kap/X)^2 + d v_inf) and its derivative; +INFINITY where unstable. Below
 * that f grows: f' > 0 wherever optimum_norm2 > 0 or variance_share > 0. */
double mfpg_fedavg_excess(const mfpg_fedavg_law *law, double ebar);
double mfpg_fedavg_slope(const mfpg_fedavg_law *law, double ebar);

#endif
