/* Half the squared difference of margin and label, shared by the models of a least-squares loss. */
#ifndef MFPG_MODELS_SQUARED_LOSS_H
#define MFPG_MODELS_SQUARED_LOSS_H

static inline float squared_residual(float margin, float y) {
    return margin - y;
}

static inline double squared_slope(double margin, double y) {
    return margin - y;
}

static inline double squared_loss(float margin, float y) {
    double difference = (double)margin - (double)y;
    return 0.5 * difference * difference;
}

#endif
