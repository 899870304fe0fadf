/* The table of what an audit tells of a client: each key of audit.json is named here alone. */
#include "mfpg/audit.h"

#include "base/fields.h"

#define AUDIT(name, kind, places, member, help)                                                              \
    { name, MFPG_FIELD_##kind, places, offsetof(mfpg_audit_record, member), help }
enum { JSON = MFPG_FIELD_JSON, BOTH = MFPG_FIELD_JSON | MFPG_FIELD_PYTHON };

static const mfpg_record_field audit_fields[] = {
    AUDIT("client", TEXT, BOTH, client, "its name; together: the clients' canaries as one sample"),
    AUDIT("mu", MAGNITUDE, BOTH, found.mu, "promised; none if the accountant has none"),
    AUDIT("mu_lower", MAGNITUDE, BOTH, found.mu_lower, "proved; 0: nothing"),
    AUDIT("epsilon", MAGNITUDE, BOTH, found.epsilon, "promised at delta; nats"),
    AUDIT("epsilon_lower", MAGNITUDE, BOTH, found.epsilon_lower,
        "what mu_lower means at delta for Gaussian noise; nats"),
    AUDIT("epsilon_lower_direct", MAGNITUDE, BOTH, found.epsilon_lower_direct,
        "proved without any assumption; nats"),
    AUDIT("delta", MAGNITUDE, JSON, delta, "of the promise"),
    AUDIT("route", TEXT, BOTH, route, "how mu_lower was proved"),
    AUDIT("pattern", TEXT, BOTH, pattern, "how the canaries were sent for it"),
    AUDIT("gap", NUMBER, JSON, gap, "mu - mu_lower"),
    AUDIT("mu_estimate", NUMBER, BOTH, found.mu_estimate, "of a fitted Gaussian; no proof"),
    AUDIT(
        "auc", MAGNITUDE, BOTH, found.auc, "share of pairs of runs that the attack puts in order; no proof"),
    AUDIT("auc_cap", MAGNITUDE, BOTH, found.auc_cap, "promised share at most, if there is no mu"),
    AUDIT("auc_lower", MAGNITUDE, BOTH, found.auc_lower, "proved share"),
    AUDIT("round_mu", MAGNITUDE, BOTH, found.round_mu, "promised of one round"),
    AUDIT("round_mu_lower", MAGNITUDE, BOTH, found.round_mu_lower, "proved of one round"),
    AUDIT("distance", MAGNITUDE, BOTH, found.distance, "total variation, promised"),
    AUDIT("tv_lower", MAGNITUDE, BOTH, found.tv_lower, "total variation, proved without any assumption"),
    AUDIT("paper_delta", MAGNITUDE, BOTH, found.paper_delta,
        "the paper's bound of the total variation; no promise"),
    AUDIT("gradient_norm", MAGNITUDE, BOTH, found.gradient_norm, "of the canary, before the clip"),
    AUDIT("clip_factor", MAGNITUDE, BOTH, found.clip_factor, "share of it that the clip left"),
    AUDIT("input_mu_lower", MAGNITUDE, BOTH, found.input_mu_lower, "proved by rows of data"),
    AUDIT("input_mu_estimate", NUMBER, BOTH, found.input_mu_estimate,
        "the same of a fitted Gaussian; no proof"),
    AUDIT("input_gradient", MAGNITUDE, BOTH, found.input_gradient,
        "mean norm of a row's gradient, before the clip"),
    AUDIT("input_clip_factor", MAGNITUDE, BOTH, found.input_clip_factor, "share of it that the clip left"),
    AUDIT("canaries", COUNT, BOTH, found.canaries, "of the client in a run, with few runs or one"),
    AUDIT("guesses", COUNT, BOTH, found.guesses, "in all runs"),
    AUDIT("correct", COUNT, BOTH, found.correct, "guesses that were right"),
    AUDIT("ceiling", MAGNITUDE, BOTH, found.ceiling, "mu that one run proves if every guess is right"),
    AUDIT("expected", MAGNITUDE, BOTH, found.expected,
        "mu that one run proves half of the time if the promise is exact"),
    AUDIT("stands", TRUTH, BOTH, found.stands, "false if a promise is broken"),
};
const mfpg_fields mfpg_audit_fields = MFPG_FIELDS("audit", audit_fields);

mfpg_audit_record mfpg_audit_record_of(const char *name, double delta, const mfpg_audit_client *client) {
    return (mfpg_audit_record){.client = name,
        .route = mfpg_audit_route_name(client->route),
        .pattern = mfpg_audit_pattern_name(client->pattern),
        .delta = delta,
        .gap = client->mu - client->mu_lower,
        .found = *client};
}
