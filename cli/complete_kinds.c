/* Kinds of things that placeholders name in capitals, and what there is of each. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mfpg/accountant.h"
#include "reproduction/bench_suites.h"
#include "mfpg/config.h"
#include "mfpg/mechanism.h"
#include "mfpg/model.h"

#include "complete.h"
#include "option_table.h"
#include "options.h"
#include "solve.h"

void complete_offer(const fragment *typed, const char *word, const char *suffix, const char *help) {
    if (strncmp(word, typed->text, strlen(typed->text)) != 0) return;
    printf("%s%s%s\t%s\n", typed->list, word, suffix, help);
}

/* ---- names from the tables of the library and the program ---- */

typedef const char *(*name_function)(ptrdiff_t index);

static void offer_table(const fragment *typed, name_function name, name_function help) {
    for (ptrdiff_t i = 0; name(i); i++) complete_offer(typed, name(i), "", help(i));
}

static mfpg_status offer_example(void *user, const char *name, const char *help, const char *path) {
    (void)path;
    complete_offer(user, name, "", help);
    return MFPG_OK;
}

static void offer_examples(const fragment *typed) {
    fragment copy = *typed;
    mfpg_examples_list(typed->ctx, offer_example, &copy);
}

/* ---- files ---- */

static void offer_files(const fragment *typed) {
    (void)typed;
    puts(":files *");
}

static void offer_configurations(const fragment *typed) {
    (void)typed;
    puts(":files *.yaml");
}

static void offer_folders(const fragment *typed) {
    (void)typed;
    puts(":folders");
}

/* The runs below ./runs by name, which is where `mfpg run` puts them; others are found as folders. */
static void offer_runs(const fragment *typed) {
    DIR *runs = opendir("runs");
    struct dirent *item;
    while (runs && (item = readdir(runs))) {
        char path[sizeof item->d_name + 16], ledger[sizeof path + 8];
        snprintf(path, sizeof path, "runs/%s", item->d_name);
        snprintf(ledger, sizeof ledger, "%s/ledger", path);
        if (item->d_name[0] != '.' && access(ledger, F_OK) == 0) complete_offer(typed, path, "", "a run");
    }
    if (runs) closedir(runs);
    puts(":folders");
}

/* ---- the table ---- */

static const struct kind {
    const char *name;
    void (*offer)(const fragment *typed);
    name_function list, help; /* where offer is NULL */
} kinds[] = {
    {"FILE", offer_files, NULL, NULL},
    {"CONFIG.yaml", offer_configurations, NULL, NULL},
    {"DIR", offer_folders, NULL, NULL},
    {"FOLDER", offer_folders, NULL, NULL},
    {"RUN", offer_runs, NULL, NULL},
    {"EXAMPLE", offer_examples, NULL, NULL},
    {"KEY=VALUE", complete_keys, NULL, NULL},
    {"COMMAND", NULL, cli_command_name, cli_command_help},
    {"COST", NULL, mfpg_cost_name, mfpg_cost_help},
    {"STUDY", NULL, solve_name_of_study, solve_help_of_study},
    {"ACCOUNTANT", NULL, mfpg_accountant_name, mfpg_accountant_help},
    {"SUITE", NULL, mfpg_suite_name, mfpg_suite_help},
};

static void offer_kind(const fragment *typed, const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, name) != 0) continue;
        if (kinds[i].offer)
            kinds[i].offer(typed);
        else
            offer_table(typed, kinds[i].list, kinds[i].help);
    }
}

void complete_placeholder(mfpg_context *ctx, const char *placeholder, const char *text) {
    char part[WORD_SIZE], before[1024] = "";
    const char *comma = placeholder_is_list(placeholder) ? strrchr(text, ',') : NULL;
    if (comma) snprintf(before, sizeof before, "%.*s", (int)(comma + 1 - text), text);
    const fragment typed = {.ctx = ctx, .text = comma ? comma + 1 : text, .list = before};
    for (int i = 0; placeholder_part(placeholder, i, part); i++)
        if (part_is_word(part))
            complete_offer(&typed, part, "", "");
        else
            offer_kind(&typed, part);
}

/* ---- keys ---- */

/* "privacy." stands once for all keys below it. */
static int begins_group(const fragment *typed, const mfpg_option *key, char group[128]) {
    size_t done = strlen(typed->text);
    const char *dot = strlen(key->name) >= done ? strchr(key->name + done, '.') : NULL;
    if (!dot) return 0;
    snprintf(group, 128, "%.*s", (int)(dot + 1 - key->name), key->name);
    return 1;
}

void complete_keys(const fragment *typed) {
    char group[128], last[128] = "";
    const mfpg_options *keys = mfpg_config_options();
    for (ptrdiff_t i = 0; i < keys->count; i++) {
        const mfpg_option *key = &keys->option[i];
        if (!begins_group(typed, key, group)) {
            complete_offer(typed, key->name, "=", key->help);
        } else if (strcmp(group, last) != 0) {
            complete_offer(typed, group, "", mfpg_option_section(keys, i));
            strcpy(last, group);
        }
    }
}

void complete_value(mfpg_context *ctx, const char *path, size_t length, const char *text) {
    const fragment typed = {.ctx = ctx, .text = text, .list = ""};
    char name[256], allowed[512];
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), path);
    ptrdiff_t index = mfpg_config_key_find(name);
    if (index < 0) return;
    const mfpg_option *key = &mfpg_config_options()->option[index];
    const char *set = key->default_value ? key->default_value : "", *word;
    for (ptrdiff_t i = 0; (word = mfpg_option_word(key, i)); i++)
        complete_offer(&typed, word, "", strcmp(word, set) == 0 ? "default" : "");
    if (key->kind == MFPG_OPTION_TRUTH) {
        complete_offer(&typed, "true", "", strcmp(set, "true") == 0 ? "default" : "");
        complete_offer(&typed, "false", "", strcmp(set, "false") == 0 ? "default" : "");
    } else if (key->kind == MFPG_OPTION_PATH) {
        puts(":files *");
    } else if (key->kind != MFPG_OPTION_WORD) {
        printf(":message %s\n", mfpg_option_allowed(key, allowed, sizeof allowed));
    }
}
