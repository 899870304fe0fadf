#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct reader {
    mfpg_context *ctx;
    const mfpg_yaml_origin *origin;
    const char *text;
    size_t length;
    yaml_parser_t parser;
} reader;

char *mfpg_yaml_location(const mfpg_yaml_origin *origin, int line, char out[MFPG_YAML_LOCATION]) {
    if (origin->has_lines && line > 0)
        snprintf(out, MFPG_YAML_LOCATION, "%.480s:%d", origin->name, line);
    else
        snprintf(out, MFPG_YAML_LOCATION, "%.480s", origin->name);
    return out;
}

void mfpg_yaml_clear(mfpg_yaml_node *node) {
    for (ptrdiff_t i = 0; i < node->count; i++) mfpg_yaml_clear(&node->child[i]);
    free(node->child);
    free(node->text);
    free(node->name);
    *node = (mfpg_yaml_node){0};
}

static int line_of(yaml_mark_t mark) {
    return mark.line < 1000000000 ? (int)mark.line + 1 : 0;
}

static mfpg_status refuse(reader *in, yaml_mark_t mark, const char *what) {
    char place[MFPG_YAML_LOCATION];
    return mfpg_fail(
        in->ctx, MFPG_ERR_INPUT, "%s: %s", mfpg_yaml_location(in->origin, line_of(mark), place), what);
}

/* Returns the byte at a position that is counted in UTF-8 characters. */
static int byte_at(const reader *in, size_t character) {
    size_t seen = 0;
    for (size_t i = 0; i < in->length; i++) {
        if (((unsigned char)in->text[i] & 0xC0) == 0x80) continue;
        if (seen++ == character) return (unsigned char)in->text[i];
    }
    return -1;
}

/* Reports the message of libyaml, with the hint that users need most often. */
static mfpg_status fail_syntax(reader *in) {
    const yaml_parser_t *parser = &in->parser;
    if (parser->error == YAML_MEMORY_ERROR) return mfpg_fail_memory(in->ctx);
    const char *problem = parser->problem ? parser->problem : "not valid YAML";
    const char *around = parser->context ? parser->context : "";
    char what[MFPG_MESSAGE_SIZE];
    int tab = parser->error == YAML_SCANNER_ERROR && byte_at(in, parser->problem_mark.index) == '\t';
    snprintf(what, sizeof what, "%s%s%s%s", problem, around[0] ? " " : "", around,
        tab ? ": this is a tab, indent with blanks" : "");
    return refuse(in, parser->problem_mark, what);
}

/* Gets the next event, which the caller must delete. */
static mfpg_status next_event(reader *in, yaml_event_t *event) {
    if (!yaml_parser_parse(&in->parser, event)) return fail_syntax(in);
    return MFPG_OK;
}

static mfpg_status refuse_indirection(reader *in, const yaml_event_t *event) {
    const void *anchor = NULL, *tag = NULL;
    switch (event->type) {
    case YAML_ALIAS_EVENT: anchor = event; break;
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    default: break;
    }
    if (!anchor && !tag) return MFPG_OK;
    return refuse(in, event->start_mark,
        anchor ? "anchors and aliases (& and *) are not accepted; quote a text that begins so"
               : "tags (!) are not accepted; quote a text that begins so");
}

static mfpg_status read_scalar(reader *in, const yaml_event_t *event, mfpg_yaml_node *node) {
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(value, 0, length)) return refuse(in, event->start_mark, "a text holds a zero byte");
    node->text = mfpg_text_copy(value, length);
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return node->text ? MFPG_OK : mfpg_fail_memory(in->ctx);
}

static mfpg_yaml_node *append(mfpg_yaml_node *parent) {
    if (parent->count == parent->room) {
        ptrdiff_t room = parent->room ? 2 * parent->room : 4;
        mfpg_yaml_node *larger = mfpg_resize(parent->child, room, sizeof *larger);
        if (!larger) return NULL;
        parent->child = larger;
        parent->room = room;
    }
    mfpg_yaml_node *child = &parent->child[parent->count++];
    *child = (mfpg_yaml_node){0};
    return child;
}

static mfpg_status read_node(reader *in, const yaml_event_t *event, int depth, mfpg_yaml_node *node);

/* Reads the name of an entry of a mapping; its event becomes that of the value. */
static mfpg_status read_key(
    reader *in, yaml_event_t *event, const mfpg_yaml_node *mapping, mfpg_yaml_node *child) {
    mfpg_status status = refuse_indirection(in, event);
    if (status == MFPG_OK && event->type != YAML_SCALAR_EVENT)
        status = refuse(in, event->start_mark, "a key must be a name");
    if (status == MFPG_OK && mapping->count > MFPG_YAML_ENTRIES)
        status = refuse(in, event->start_mark, "a mapping has too many keys");
    if (status == MFPG_OK) status = read_scalar(in, event, child);
    child->name = child->text;
    child->text = NULL;
    yaml_event_delete(event);
    *event = (yaml_event_t){0};
    return status == MFPG_OK ? next_event(in, event) : status;
}

/* Reads the entries of a list or mapping up to its end. */
static mfpg_status read_children(reader *in, int depth, mfpg_yaml_node *parent) {
    int mapping = parent->kind == MFPG_YAML_MAPPING;
    for (;;) {
        yaml_event_t event = {0};
        mfpg_status status = next_event(in, &event);
        if (status != MFPG_OK) return status;
        int end = event.type == (mapping ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT);
        int line = line_of(event.start_mark);
        mfpg_yaml_node *child = end ? NULL : append(parent);
        if (!end && !child) status = mfpg_fail_memory(in->ctx);
        if (child && mapping) status = read_key(in, &event, parent, child);
        if (child && status == MFPG_OK) status = read_node(in, &event, depth, child);
        if (child && mapping) child->line = line;
        yaml_event_delete(&event);
        if (end || status != MFPG_OK) return status;
    }
}

static mfpg_status read_node(reader *in, const yaml_event_t *event, int depth, mfpg_yaml_node *node) {
    if (depth > MFPG_YAML_DEPTH) return refuse(in, event->start_mark, "nested too deeply");
    mfpg_status status = refuse_indirection(in, event);
    if (status != MFPG_OK) return status;
    node->line = line_of(event->start_mark);
    switch (event->type) {
    case YAML_SCALAR_EVENT: return read_scalar(in, event, node);
    case YAML_SEQUENCE_START_EVENT: node->kind = MFPG_YAML_LIST; return read_children(in, depth + 1, node);
    case YAML_MAPPING_START_EVENT: node->kind = MFPG_YAML_MAPPING; return read_children(in, depth + 1, node);
    default: return refuse(in, event->start_mark, "not a value");
    }
}

/* Checks the order: stream start, document start, the root, and nothing after it. */
static mfpg_status read_document(reader *in, mfpg_yaml_node *root) {
    for (int seen = 0;;) {
        yaml_event_t event;
        mfpg_status status = next_event(in, &event);
        if (status != MFPG_OK) return status;
        yaml_event_type_t type = event.type;
        if (type == YAML_DOCUMENT_START_EVENT && seen)
            status = refuse(in, event.start_mark, "a second document begins; only one is accepted");
        if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT &&
            type != YAML_DOCUMENT_END_EVENT && type != YAML_STREAM_END_EVENT) {
            status = read_node(in, &event, 1, root);
            seen = 1;
        }
        yaml_event_delete(&event);
        if (status != MFPG_OK) return status;
        if (type == YAML_STREAM_END_EVENT) return seen ? MFPG_OK : refuse(in, (yaml_mark_t){0}, "is empty");
    }
}

mfpg_status mfpg_yaml_parse(mfpg_context *ctx, const mfpg_yaml_origin *origin, const char *text,
    size_t length, mfpg_yaml_node *root) {
    reader in = {.ctx = ctx, .origin = origin, .text = text, .length = length};
    mfpg_yaml_node tree = {0};
    if (!yaml_parser_initialize(&in.parser)) return mfpg_fail_memory(ctx);
    yaml_parser_set_input_string(&in.parser, (const unsigned char *)text, length);
    mfpg_status status = read_document(&in, &tree);
    yaml_parser_delete(&in.parser);
    if (status != MFPG_OK) {
        mfpg_yaml_clear(&tree);
        return status;
    }
    *root = tree;
    return MFPG_OK;
}
