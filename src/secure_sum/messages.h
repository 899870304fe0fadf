/* The ten messages of a secure sum, and what both sides know of it.
 *
 * A message is
 *     "MFSS"  version (2 bytes)  kind (1)  client (1: its place in the roster)  context (32)  body  tail
 * with numbers in little-endian order. The client is the sender, or the receiver if the server sends. The kinds, by step
 * (request of the server 2s, answer of the client 2s + 1), with the bodies that the table in messages.c gives in bytes:
 *     0 terms        the server's public key and all public numbers; the context is the hash of this body
 *     1 keys         public keys for masks and for transport
 *     2 key list     the set of those who sent keys; for each its keys and their signature
 *     3 shares       for each other member of the list, ascending: its two shares, encrypted
 *     4 delivery     the set of those who sent shares; of each other one: the shares for this client
 *     5 masked       the vector, bits a coordinate
 *     6 survivors    the set of those whose vectors are in the sum
 *     7 consistency  signature of the hash of the key list's body and of both sets
 *     8 signatures   the set of the signers, their signatures
 *     9 opened       for each who sent shares: the share of its self-mask if it survived, else of its mask key
 * Sets are 32 bytes, bit i of the roster's place i the lowest first.
 *
 * The tail of keys is an Ed25519 signature of all bytes before it by the site's identity. The tail of all later messages, in both
 * directions, is a seal: Poly1305 under a one-time key that follows from the key which the client's transport key and the server's
 * public key agree on, and from the message's first 40 bytes. Why not five signatures a client: hashing and verifying them costs
 * the server several times the key stream of the masks that it removes, and proves nothing more. Both keys of that agreement
 * are bound: the client's is signed, and the server's is part of the context, which is signed with it. So only this
 * client and the server that made these terms can seal. What the other clients have to believe, keys and consistency, is signed. */
#ifndef MFPG_SECURE_SUM_MESSAGES_H
#define MFPG_SECURE_SUM_MESSAGES_H

#include <sodium.h>

#include "agreement.h"
#include "mfpg/secure_sum.h"

enum {
    MFPG_SUM_VERSION = 1,
    MFPG_SUM_HEADER = 40,
    MFPG_SUM_SIGNATURE = crypto_sign_BYTES,
    MFPG_SUM_TAG = crypto_onetimeauth_BYTES,
    MFPG_SUM_SECRETS = 2 * MFPG_SUM_KEY, /* mask key and seed of the self-mask, in this order */
    MFPG_SUM_PARCEL = MFPG_SUM_SECRETS + crypto_aead_xchacha20poly1305_ietf_ABYTES,
    MFPG_SUM_STEPS = MFPG_SUM_DONE
};

/* The kinds of a step's messages. */
#define MFPG_SUM_REQUEST(step) (2 * (int)(step))
#define MFPG_SUM_ANSWER(step)  (2 * (int)(step) + 1)

typedef struct mfpg_sum_set {
    unsigned char byte[32];
} mfpg_sum_set;

static inline int mfpg_sum_has(const mfpg_sum_set *set, ptrdiff_t i) {
    return i >= 0 && i < MFPG_SUM_MOST && set->byte[i / 8] >> (i % 8) & 1;
}

static inline void mfpg_sum_insert(mfpg_sum_set *set, ptrdiff_t i) {
    set->byte[i / 8] = (unsigned char)(set->byte[i / 8] | 1 << (i % 8));
}

int mfpg_sum_size(const mfpg_sum_set *set);

/* The smallest member that is not below i; MFPG_SUM_MOST if there is none. */
ptrdiff_t mfpg_sum_next(const mfpg_sum_set *set, ptrdiff_t i);
#define MFPG_SUM_EACH(i, set)                                                                                \
    for (ptrdiff_t i = mfpg_sum_next(set, 0); i < MFPG_SUM_MOST; i = mfpg_sum_next(set, i + 1))

/* What a client publishes. */
typedef struct mfpg_sum_keys {
    unsigned char mask[MFPG_SUM_KEY], transport[MFPG_SUM_KEY], signature[MFPG_SUM_SIGNATURE];
} mfpg_sum_keys;

/* What both sides know of a sum: plain data without secrets. */
typedef struct mfpg_sum_record {
    mfpg_sum_terms terms; /* its shares are share[] */
    mfpg_sum_share share[MFPG_SUM_MOST];
    unsigned char server_key[MFPG_SUM_KEY], context[32];
    unsigned char list_hash[32]; /* of the key list's body */
    /* Who takes part in a step, [0] the members: those who answered the step before. */
    mfpg_sum_set present[MFPG_SUM_STEPS];
    mfpg_sum_keys keys[MFPG_SUM_MOST];
} mfpg_sum_record;

/* Returns the kind's name. */
const char *mfpg_sum_words_of(int kind);

/* Allocates a message with its header and room for its tail. *body is where its body goes. */
mfpg_status mfpg_sum_begin(mfpg_context *ctx, const mfpg_roster *roster, const mfpg_sum_record *record,
    int kind, ptrdiff_t client, mfpg_bytes *out, unsigned char **body);

/* Writes the seal of a message whose body is complete. */
void mfpg_sum_seal(const mfpg_bytes *message, const unsigned char key[MFPG_SUM_KEY]);

/* Reads the client's number from a message of any origin; -1 if it has none. */
ptrdiff_t mfpg_sum_client_of(const unsigned char *message, size_t size);

/* Reads the kind of a message that was not opened; -1 if it has none. */
int mfpg_sum_kind_of(const unsigned char *message, size_t size);

/* Checks a message of any origin: length, version, kind, client, context, and the seal of the kinds that have one (key is not
 * used for others). A set with which the body begins is read into record->present, after it was checked to lie within that of
 * the step before, and to reach the threshold. *body is the rest of the body. The record changes only if the kind has a set. */
mfpg_status mfpg_sum_open(mfpg_context *ctx, const mfpg_roster *roster, mfpg_sum_record *record, int kind,
    ptrdiff_t client, const unsigned char key[MFPG_SUM_KEY], const unsigned char *message, size_t size,
    const unsigned char **body);

/* The terms: the body of their message, and back; both set the context. Reading checks everything that needs no demands of
 * the client, from a message that mfpg_sum_open let through. */
void mfpg_sum_write_terms(const mfpg_roster *roster, mfpg_sum_record *record, unsigned char *message);
mfpg_status mfpg_sum_read_terms(
    mfpg_context *ctx, const mfpg_roster *roster, const unsigned char *message, mfpg_sum_record *record);

/* What a client signs: a message's header and what follows. Returns the size, at most MFPG_SUM_SIGNED. */
enum { MFPG_SUM_SIGNED = MFPG_SUM_HEADER + 3 * 32 };
size_t mfpg_sum_signed_keys(
    const mfpg_sum_record *record, ptrdiff_t client, unsigned char text[MFPG_SUM_SIGNED]);
size_t mfpg_sum_signed_sets(
    const mfpg_sum_record *record, ptrdiff_t client, unsigned char text[MFPG_SUM_SIGNED]);

/* What an encrypted pair of shares is bound to. */
enum { MFPG_SUM_BOUND = MFPG_SUM_HEADER + 1 };
void mfpg_sum_bind(
    const mfpg_sum_record *record, ptrdiff_t sender, ptrdiff_t receiver, unsigned char text[MFPG_SUM_BOUND]);

/* Hashes all keys of the list, with their signatures. */
void mfpg_sum_hash_list(mfpg_sum_record *record);

/* Returns those with a weight above 0. */
mfpg_sum_set mfpg_sum_members(const mfpg_roster *roster, const mfpg_sum_terms *terms);

/* Returns what |sum| of the vectors of these clients does not exceed, in steps of the grid, but with negligible probability
 * (terms.c). survivors NULL: all members. */
double mfpg_sum_reach(const mfpg_roster *roster, const mfpg_sum_terms *terms, const mfpg_sum_set *survivors);

#endif
