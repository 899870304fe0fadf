/* Pages from templates: text with places that a JSON tree fills. The templates are the program's own, what fills them may
 * come from anybody. */
#ifndef MFPG_REPORT_TEMPLATE_H
#define MFPG_REPORT_TEMPLATE_H

#include <jansson.h>
#include <stdio.h>

#include "mfpg/context.h"

/* Writes the text with its tags filled in:
 *   {{name}}           the value as text, escaped for HTML (in an element or in quotes). {{.}}: the value itself
 *   {{#name}}...{{/name}}  once for each element of a list, once within an object, once where there is anything else; not
 *                      at all for an empty list, null, false, or where there is no such value
 *   {{^name}}...{{/name}}  once where the above would not be there
 *   {{>file}}          an embedded file as it stands
 *   {{<file}}          an embedded template, filled in like the rest
 * A name is looked up from the innermost value outwards. MFPG_ERR_DOMAIN for a fault of the template: a name without a value,
 * a section without an end. */
mfpg_status mfpg_template_write(mfpg_context *ctx, const char *text, const json_t *values, FILE *out);

/* Text of any origin for HTML: what has a meaning there is escaped; bytes that are no UTF-8, and controls but tabs and line
 * ends, become U+FFFD. */
void mfpg_html_text(const char *text, size_t length, FILE *out);

#endif
