/* mfpg man writes manual pages in the language of man(7), from the tables of commands, options and keys. */
#include <ctype.h>
#include <string.h>

#include "mfpg/names.h"
#include "mfpg/version.h"

#include "cli.h"

/* ---- words ---- */

/* Prints text in which nothing is interpreted as a request or an escape. In the first column a dot or a
 * quote would begin a request. */
static void put_text(const char *text, size_t length) {
    int first = 1;
    for (const char *at = text; at < text + length; at++) {
        if (first && (*at == '.' || *at == '\'')) fputs("\\&", stdout);
        first = *at == '\n';
        switch (*at) {
        case '\\': fputs("\\e", stdout); break;
        case '-': fputs("\\-", stdout); break;
        case '~': fputs("\\(ti", stdout); break;
        case '^': fputs("\\(ha", stdout); break;
        case '\'': fputs("\\(aq", stdout); break;
        case '`': fputs("\\(ga", stdout); break;
        default: putchar(*at);
        }
    }
}

static void put(const char *text) {
    put_text(text, strlen(text));
}

static void put_line(const char *text) {
    put(text);
    putchar('\n');
}

static void put_marked(const char *font, const char *text) {
    printf("\\f%s", font);
    put(text);
    fputs("\\fR", stdout);
}

static void begin_page(const char *name, const char *section, const char *help) {
    printf(".TH ");
    for (const char *at = name; *at; at++) printf(*at == '-' ? "\\-" : "%c", toupper((unsigned char)*at));
    printf(" %s \"\" \"mfpg %s\" \"mfpg\"\n.SH NAME\n", section, mfpg_version());
    put(name);
    fputs(" \\- ", stdout);
    put_line(help);
}

/* ---- texts of argp: paragraphs, and examples that are indented by two blanks ---- */

/* The start of a paragraph's last sentence if it is one word and a colon, as "Examples:", which becomes a heading; else its length. */
static size_t find_heading(const char *text, size_t length) {
    size_t begin = length;
    if (length < 2 || text[length - 1] != ':') return length;
    while (begin > 0 && !strchr(" \n", text[begin - 1])) begin--;
    int sentence = begin == 0 || (begin >= 2 && strchr(".)", text[begin - 2]));
    return sentence && isupper((unsigned char)text[begin]) ? begin : length;
}

static void put_example(const char *text, size_t length) {
    printf(".nf\n.RS 4\n");
    for (size_t at = 0; at < length;) {
        size_t line = strcspn(text + at, "\n"), blanks = strspn(text + at, " ");
        if (line > length - at) line = length - at;
        if (blanks > 2) blanks = 2;
        put_text(text + at + blanks, line - blanks);
        putchar('\n');
        at += line + 1;
    }
    printf(".RE\n.fi\n");
}

static void put_heading(const char *text, size_t length) {
    printf(".SH ");
    for (size_t i = 0; i < length; i++) putchar(toupper((unsigned char)text[i]));
    putchar('\n');
}

/* Prints text after a heading; between two paragraphs there is a request. */
static void put_prose(const char *text, size_t length) {
    for (int begun = 0; length > 0;) {
        const char *end = memmem(text, length, "\n\n", 2);
        size_t part = end ? (size_t)(end - text) : length, step = end ? part + 2 : length;
        while (part > 0 && text[part - 1] == '\n') part--;
        size_t heading = find_heading(text, part), prose = heading;
        while (prose > 0 && prose < part && text[prose - 1] == ' ') prose--;
        if (begun && prose > 0) printf(".PP\n");
        if (text[0] == ' ') {
            put_example(text, part);
        } else if (prose > 0) {
            put_text(text, prose);
            putchar('\n');
        }
        if (heading < part) put_heading(text + heading, part - heading - 1);
        begun = heading == part;
        text += step;
        length -= step;
    }
}

/* ---- the page of a command ---- */

/* The common options come last. Options without help are for scripts. */
static void put_options(const cli_command *command) {
    const mfpg_option *option;
    const char *last = "";
    printf(".SH OPTIONS\n");
    for (ptrdiff_t i = 0; (option = cli_command_option(command, i)); i++) {
        const char *section = cli_command_section(command, i), *word;
        if (!option->help[0]) continue;
        if (section ? strcmp(section, last) != 0 : last[0]) {
            printf(".SS ");
            put_line(section ? section : "Other options");
        }
        last = section ? section : "";
        printf(".TP\n");
        if (option->letter) printf("\\fB\\-%c\\fR, ", option->letter);
        fputs("\\fB\\-\\-", stdout);
        put(option->name);
        fputs(option->kind == MFPG_OPTION_FLAG ? "\\fR" : "\\fR=", stdout);
        if (option->argument) put_marked("I", option->argument);
        for (ptrdiff_t w = 0; !option->argument && (word = mfpg_option_word(option, w)); w++) {
            fputs(w > 0 ? "|" : "", stdout);
            put_marked("I", word);
        }
        putchar('\n');
        put_line(option->help);
    }
}

static void put_exit_codes(void) {
    const char *meaning;
    int code;
    printf(".SH EXIT STATUS\n");
    for (ptrdiff_t i = 0; (meaning = cli_exit_meaning(i, &code)); i++) {
        printf(".TP\n%d\n", code);
        put_line(meaning);
    }
}

static void put_command(const char *command, const char *help, const cli_command *of) {
    char name[64];
    const char *forms = of->forms ? of->forms : "", *after = strchr(of->doc, '\v');
    snprintf(name, sizeof name, "mfpg-%s", command);
    begin_page(name, "1", help);
    printf(".SH SYNOPSIS\n");
    for (const char *form = forms; form; form = strchr(form, '\n'), form = form ? form + 1 : NULL) {
        if (form != forms) printf(".br\n");
        printf("\\fBmfpg %s\\fR [\\fIOPTION\\fR...]%s", command, *form ? " " : "");
        put_text(form, strcspn(form, "\n"));
        putchar('\n');
    }
    printf(".SH DESCRIPTION\n");
    put_prose(of->doc, after ? (size_t)(after - of->doc) : strlen(of->doc));
    put_options(of);
    if (after) {
        printf(".SH NOTES\n");
        put_prose(after + 1, strlen(after + 1));
    }
    put_exit_codes();
    printf(".SH SEE ALSO\n.BR mfpg (1),\n.BR mfpg\\-config (5)\n");
}

/* ---- the pages of the program and of the configuration: pages/ ---- */

/* Prints the text of a page, with tables in place of the line @TABLES@. */
static void put_page(const char *name, void (*put_tables)(void)) {
    static const char mark[] = "@TABLES@\n";
    const char *text = cli_page(name), *tables = strstr(text, mark);
    fwrite(text, 1, (size_t)(tables - text), stdout);
    put_tables();
    fputs(tables + strlen(mark), stdout);
}

static void put_commands(void) {
    printf(".SH COMMANDS\n");
    for (ptrdiff_t i = 0; cli_command_name(i); i++) {
        printf(".TP\n\\fBmfpg\\-%s\\fR(1)\n", cli_command_name(i));
        put_line(cli_command_help(i));
    }
    put_exit_codes();
}

static void put_key(const mfpg_option *key) {
    char allowed[512];
    printf(".TP\n");
    put_marked("B", key->name);
    putchar('\n');
    put(key->help);
    printf(".\n.br\nAllowed: ");
    put(mfpg_option_allowed(key, allowed, sizeof allowed));
    if (key->unit[0]) {
        fputs("; unit: ", stdout);
        put(key->unit);
    }
    fputs(".\n.br\n", stdout);
    fputs(key->default_value ? "Default: " : "Not set by default; for example: ", stdout);
    put_marked("I", key->default_value ? key->default_value : key->example ? key->example : "\"\"");
    if (key->used[0]) {
        fputs("; counts ", stdout);
        put(key->used);
    }
    putchar('\n');
}

static void put_keys(void) {
    const mfpg_options *keys = mfpg_config_options();
    for (ptrdiff_t i = 0, last = -1; i < keys->count; i++) {
        ptrdiff_t group = mfpg_option_group(keys, i);
        if (group != last) {
            printf(".SS ");
            put_line(group > 0 ? mfpg_option_section(keys, i) : "Of the whole");
        }
        last = group;
        put_key(&keys->option[i]);
    }
}

/* ---- the command ---- */

static json_t *page_json(const void *user, ptrdiff_t index) {
    (void)user;
    if (index < 2) return json_string(index == 0 ? "mfpg.1" : "mfpg-config.5");
    return json_sprintf("mfpg-%s.1", cli_command_name(index - 2));
}

static mfpg_status man(cli_call *call) {
    const char *page = call->argument[0], *names[64] = {"config"}, *help;
    ptrdiff_t count = 1;
    for (; count < 64 && cli_command_name(count - 1); count++) names[count] = cli_command_name(count - 1);
    if (call->json) return cli_json_print(cli_json("pages:o", cli_json_array(count + 1, page_json, NULL)));
    const cli_command *command = page ? cli_command_find(page, &help) : NULL;
    if (command) {
        put_command(page, help, command);
    } else if (!page) {
        begin_page("mfpg", "1", "privacy games in federated learning");
        put_page("mfpg.1", put_commands);
    } else if (strcmp(page, "config") == 0) {
        begin_page("mfpg-config", "5", "configuration of a federation for mfpg");
        put_page("mfpg-config.5", put_keys);
    } else {
        return mfpg_names_unknown(call->ctx, "page", page, names, count);
    }
    return MFPG_OK;
}

const cli_command command_man = {
    .forms = "[COMMAND|config]",
    .most = 1,
    .limit = "one page at a time",
    .doc = "Prints a manual page in the language of man: of COMMAND, of all keys of the configuration "
           "(config), or without an argument of the program."
           "\vInstalled pages are read with man mfpg-run and the like. Without them:\n\n"
           "  mfpg man run | man -l -\n\n"
           "With --json the names of the pages are printed.",
    .run = man,
};
