/** The secure sum: a server learns the sum of the clients' integer vectors modulo 2^bits and nothing else, although
 *  clients drop out at any moment (Bonawitz et al., Practical Secure Aggregation for Privacy-Preserving Machine
 *  Learning, CCS 2017, with signatures and the consistency check). It makes true what the certificate of the view
 *  `average` assumes. Both sides are state machines that take and give byte strings: there is no network, no clock
 *  and no thread here. All primitives are those of libsodium.
 *
 *  One sum takes five messages of a client, each an answer to a message of the server:
 *    terms      -> keys         two fresh public keys, signed with the context (run, round, attempt and all terms)
 *    key list   -> shares       encrypted shares of the client's two secrets, one pair for every other client
 *    shares     -> masked       the vector, masked; the caller is asked for it only now, and charges it first
 *    survivors  -> consistency  a signature of what this client saw and of who sent a masked vector
 *    signatures -> opened       one share for each client: of its self-mask if it survived, else of its mask key
 *  A client that meets anything else (another context, a wrong signature, fewer members than the threshold, a second
 *  request) ends the sum with an error that says which, and nothing leaves. */
#ifndef MFPG_SECURE_SUM_H
#define MFPG_SECURE_SUM_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "random.h"

enum { MFPG_SUM_LEAST = 3, MFPG_SUM_MOST = 255 }; /* clients of one sum */

/** Bytes in the callee's memory; mfpg_bytes_clear wipes and frees them. */
typedef struct mfpg_bytes {
    unsigned char *data; /* size bytes; NULL if size is 0 */
    size_t size;
} mfpg_bytes;

void mfpg_bytes_clear(mfpg_bytes *bytes);

/* ---- who takes part ---- */

/** The long-lived Ed25519 key of one site. */
typedef struct mfpg_identity {
    unsigned char public_key[32];
    unsigned char secret_key[64]; /* libsodium's form: seed and public key */
} mfpg_identity;

/** Makes an identity from the system's randomness. MFPG_ERR_IO if the system provides none. */
mfpg_status mfpg_identity_create(mfpg_context *ctx, mfpg_identity *out);

/** Writes an identity to a new file that only its owner can read (mode 0600). MFPG_ERR_IO if the file exists. */
mfpg_status mfpg_identity_save(mfpg_context *ctx, const char *path, const mfpg_identity *identity);

/** Reads an identity. MFPG_ERR_INPUT for a file that others can read or write, or whose two keys do not belong
 *  together. *out is set only on success. */
mfpg_status mfpg_identity_load(mfpg_context *ctx, const char *path, mfpg_identity *out);

/** One site in a roster. */
typedef struct mfpg_roster_entry {
    char name[64]; /* 1 to 63 bytes of letters, digits, '-', '_' and '.'; ends with 0 */
    unsigned char public_key[32];
} mfpg_roster_entry;

/** Who may take part: a file that every site and the server have, and whose hash is signed into every message. A
 *  client's number in a sum is its place in the roster. */
typedef struct mfpg_roster {
    ptrdiff_t count; /* MFPG_SUM_LEAST to MFPG_SUM_MOST */
    mfpg_roster_entry *entry;
    unsigned char hash[32]; /* SHA-256 of the canonical text: "name key\n" for every entry, in order */
} mfpg_roster;

/** Reads a roster: a line "name key" for every site, the key as 64 hexadecimal digits; empty lines and lines that
 *  begin with # are skipped.
 *  @param[in] text    size bytes
 *  @param[in] source  name of the text in messages, for instance a path
 *  @return MFPG_ERR_INPUT, with the line, for anything else, for a name or a key that occurs twice, and for too few
 *  or too many sites. Free *out with mfpg_roster_clear. */
mfpg_status mfpg_roster_read(
    mfpg_context *ctx, const char *text, size_t size, const char *source, mfpg_roster *out);
mfpg_status mfpg_roster_load(mfpg_context *ctx, const char *path, mfpg_roster *out);
void mfpg_roster_clear(mfpg_roster *roster);

/* ---- what is summed, and what it promises ---- */

/** What one client brings, public before the sum. */
typedef struct mfpg_sum_share {
    double weight;   /* p_j > 0 of its vector in the sum; 0: it does not take part in this sum */
    double noise_sd; /* s_j >= 0, in the client's own units: its share has noise p_j s_j */
    /* S_j > 0 (or 0 at weight 0), in the client's own units: no coordinate of its vector without noise is larger in size. In the unit client the
     * clip, which bounds the norm; in the unit example a bound on the whole sum, not on what one example moves. */
    double clip;
} mfpg_sum_share;

/** All public numbers of one sum. Its hash, the context, is part of every message; clients end the sum if two
 *  contexts differ. */
typedef struct mfpg_sum_terms {
    unsigned char run[32];  /* identifies the run; random */
    int64_t round, attempt; /* >= 1; (run, round, attempt) is never used twice */
    int threshold; /* t: fewer answers than this reveal nothing; t > (n + c)/2, t <= n for the n members */
    int colluders; /* c >= 0: members that may work together with the server */
    int bits;      /* b, 2 to 64: the sum is that modulo 2^b, read as a signed number */
    ptrdiff_t dimension;         /* 1 to 2^31 - 1 */
    double grid;                 /* gamma > 0, a power of two: one step of the integers */
    const mfpg_sum_share *share; /* one for every entry of the roster; borrowed */
} mfpg_sum_terms;

/** Checks the terms: ranges, the number of members (weight > 0), and t > (n + c)/2. The message says what is allowed. */
mfpg_status mfpg_sum_check(mfpg_context *ctx, const mfpg_roster *roster, const mfpg_sum_terms *terms);

/** Returns the smallest number of bits b <= 64 for which the sum of the members fits except with negligible
 *  probability: 2^(b-1) > (sum p_k S_k + 9 sqrt(sum p_k^2 s_k^2)) / gamma + n; 0 if there is none. */
int mfpg_sum_bits(const mfpg_roster *roster, const mfpg_sum_terms *terms);

/** Returns the noise that protects a member's last step in the worst case that the protocol allows, in the member's
 *  own units and rounded down: sqrt(p_k^2 s_k^2 + the m smallest p_j^2 s_j^2 of the others) / p_k. Shares whose noise is
 *  below 4 gamma count as 0, and a member whose own share is one of these, or who has weight 0, has noise_sd only.
 *  @param[in] survivors  flags of the roster's entries, those whose vectors are in the sum: m is their number - c - 1;
 *  NULL, or without the member itself: not known yet, m is t - c - 1 over all members
 *  Never below noise_sd of the member itself. */
double mfpg_sum_noise(
    const mfpg_roster *roster, const mfpg_sum_terms *terms, ptrdiff_t member, const unsigned char *survivors);

/* ---- a client ---- */

typedef struct mfpg_sum_client mfpg_sum_client;

/** Asks for a client's vector, once, after all checks and immediately before it leaves. The callee must charge the
 *  release (write it to the ledger, on disk) and then fill the vector; any status other than MFPG_OK ends the sum and
 *  nothing leaves.
 *  @param[in]  members  flags of the roster's entries: whose shares this client holds (U1)
 *  @param[out] vector   dimension integers K_k, which are reduced modulo 2^bits */
typedef mfpg_status (*mfpg_sum_release)(mfpg_context *ctx, void *user, const mfpg_sum_terms *terms,
    const unsigned char *members, int64_t *vector);

/** What a client knows and demands before it hears from the server. */
typedef struct mfpg_sum_client_options {
    const mfpg_roster *roster;     /* borrowed for the life of the client */
    const mfpg_identity *identity; /* copied; its public key must be in the roster */
    int threshold, colluders;      /* demanded: the server's terms must name the same */
    mfpg_sum_share own;  /* demanded: the terms must name the same numbers for this client, bit for bit; a
                                      weight < 0 accepts any weight in (0,1] */
    ptrdiff_t dimension; /* demanded; 0 accepts any */
    mfpg_sum_release release;
    void *user;
    const mfpg_key *key; /* NULL: secrets come from the system; a key is for tests and simulations only */
} mfpg_sum_client_options;

mfpg_status mfpg_sum_client_create(
    mfpg_context *ctx, const mfpg_sum_client_options *options, mfpg_sum_client **out);

/** Answers a message of the server. Clear *answer with mfpg_bytes_clear. After any failure the client's secrets are
 *  wiped and every further call fails; nothing may be sent. After the last answer the secrets are wiped too.
 *  @return MFPG_ERR_INPUT with what was wrong with the message; what `release` returned; MFPG_ERR_MEMORY. */
mfpg_status mfpg_sum_client_answer(mfpg_context *ctx, mfpg_sum_client *client, const unsigned char *message,
    size_t size, mfpg_bytes *answer);

/** Returns the terms of the client's sum, which it holds; NULL before its first answer and after the end.
 *  @param[out] survivors  flags of the roster's entries (U2) as the server said them, zeros before its survivors message;
 *  the client's last answer shows that enough members agree on them. May be NULL */
const mfpg_sum_terms *mfpg_sum_client_terms(const mfpg_sum_client *client, unsigned char *survivors);

/** Writes the client's state, with its secrets, for a process that answers one message only. The caller must store it
 *  durably BEFORE the answer leaves, where only the site can read it, and must replace the state before: a state that
 *  is used twice can answer twice. The state is encrypted under a key that follows from the identity, which is not in
 *  it. A client that is done, or has failed, has a state too: it restores to one that answers nothing. */
mfpg_status mfpg_sum_client_save(mfpg_context *ctx, const mfpg_sum_client *client, mfpg_bytes *state);

/** Goes on from a state; the options must be those of the client that wrote it. MFPG_ERR_INPUT for a state that is
 *  damaged or of another roster or identity. */
mfpg_status mfpg_sum_client_restore(mfpg_context *ctx, const mfpg_sum_client_options *options,
    const unsigned char *state, size_t size, mfpg_sum_client **out);

/** Wipes all secrets. NULL is allowed. */
void mfpg_sum_client_destroy(mfpg_sum_client *client);

/* ---- the server ---- */

typedef struct mfpg_sum_server mfpg_sum_server;

/** The step whose answers the server waits for. */
typedef enum mfpg_sum_step {
    MFPG_SUM_KEYS = 0,
    MFPG_SUM_SHARES,
    MFPG_SUM_MASKED,
    MFPG_SUM_CONSISTENCY,
    MFPG_SUM_OPENED,
    MFPG_SUM_DONE
} mfpg_sum_step;

/** Starts a sum over the members of the terms, which are checked and copied; the roster is borrowed. The server draws a
 *  key of its own, which is part of the context: another server object is another sum. */
mfpg_status mfpg_sum_server_create(
    mfpg_context *ctx, const mfpg_roster *roster, const mfpg_sum_terms *terms, mfpg_sum_server **out);

/** Returns the message of the current step for a client of the roster. MFPG_ERR_INPUT if it does not take part in this
 *  step (it is no member, or it has dropped out). Clear *message with mfpg_bytes_clear. */
mfpg_status mfpg_sum_server_ask(
    mfpg_context *ctx, const mfpg_sum_server *server, ptrdiff_t client, mfpg_bytes *message);

/** Takes an answer of the current step. MFPG_ERR_INPUT if it is faulty, late, or the client's second one; the state is
 *  then unchanged, and the client counts as silent unless it sends a correct one. *sender (may be NULL) is the client
 *  on success. */
mfpg_status mfpg_sum_server_take(
    mfpg_context *ctx, mfpg_sum_server *server, const unsigned char *message, size_t size, ptrdiff_t *sender);

/** Closes the current step: members that have not answered have dropped out. MFPG_ERR_INPUT if fewer than the threshold
 *  are left, or if opened shares are wrong; MFPG_ERR_NUMERIC if the sum is larger than clips and noise allow, for
 *  somebody sent a wrong vector or share. After these the sum is over: it reveals nothing and has to be repeated as
 *  another attempt. *step (may be NULL) is the step that begins. */
mfpg_status mfpg_sum_server_advance(mfpg_context *ctx, mfpg_sum_server *server, mfpg_sum_step *step);

/** Returns the sum after the last step.
 *  @param[out] sum        dimension integers: the sum over the survivors modulo 2^bits, in [-2^(bits-1), 2^(bits-1))
 *  @param[out] survivors  flags of the roster's entries (U2); may be NULL */
mfpg_status mfpg_sum_server_sum(
    mfpg_context *ctx, const mfpg_sum_server *server, int64_t *sum, unsigned char *survivors);

void mfpg_sum_server_destroy(mfpg_sum_server *server);

#endif
