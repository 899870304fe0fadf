/* mfpg keys makes the identity of a site for secure sums. */
#include <string.h>
#include <sys/stat.h>

#include "mfpg/secure_sum.h"

#include "cli.h"

typedef struct settings {
    const char *out;
} settings;

/* The name must be one that a roster accepts, or the line that is printed could not be used. */
static mfpg_status check_name(cli_call *call, const char *name) {
    size_t length = strlen(name),
           allowed = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    if (length >= 1 && length == allowed && length < sizeof((mfpg_roster_entry *)0)->name) return MFPG_OK;
    return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
        "the name of a site is '%.80s'; allowed: 1 to 63 letters, digits, '-', '_' and '.'", name);
}

static mfpg_status keys(cli_call *call) {
    const char *name = call->argument[0], *out = ((const settings *)call->options)->out;
    char path[CLI_PATH_SIZE], key[65];
    struct stat info;
    mfpg_identity identity = {0};
    mfpg_status status = check_name(call, name);
    if (status != MFPG_OK) return status;
    snprintf(path, sizeof path, "%s%s", out ? out : name, out ? "" : ".key");
    if (lstat(path, &info) == 0)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
            "%s: exists already and was left as it is; --out names another file", path);
    status = mfpg_identity_create(call->ctx, &identity);
    if (status == MFPG_OK) status = mfpg_identity_save(call->ctx, path, &identity);
    for (size_t i = 0; i < sizeof identity.public_key; i++)
        snprintf(key + 2 * i, 3, "%02x", identity.public_key[i]);
    explicit_bzero(&identity, sizeof identity);
    if (status != MFPG_OK) return status;
    if (call->json) return cli_json_print(cli_json("name:s public_key:s file:s", name, key, path));
    printf("%s %s\n", name, key);
    fprintf(stderr, "wrote %s, which must stay with this site; the line above goes into the roster\n", path);
    return MFPG_OK;
}

const cli_command command_keys = {
    .list = CLI_LIST(CLI_OPTION("out", 'o', PATH, "FILE", out, "File of the identity (default: NAME.key)")),
    .size = sizeof(settings),
    .forms = "NAME",
    .least = 1,
    .most = 1,
    .needed = "the name of the site is needed, such as mfpg keys north",
    .limit = "one site at a time",
    .doc =
        "Makes the identity of a site that takes part in secure sums: a key pair (Ed25519) from the system's "
        "randomness. It goes into NAME.key, which only its owner can read; a file that exists is left as it "
        "is "
        "(exit code 2). The line NAME KEY on stdout is public: a file of such lines, one for every site and "
        "the "
        "same at all of them, is the roster."
        "\vA site whose key file may have been read by others makes a new identity, and all sites take the "
        "new "
        "line into their rosters.",
    .run = keys,
};
