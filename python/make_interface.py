#!/usr/bin/env python3
"""Writes the C source of mfpg._interface from the public headers, so that Python and C cannot disagree.

    make_interface.py HEADER OUTPUT      (HEADER: include/mfpg/mfpg.h)

What cffi is told is the text of the headers themselves, in the order of their includes, without preprocessor lines and
comments; the compiler then checks it against the headers. A macro that is a text becomes a constant."""
import pathlib
import re
import sys

import cffi

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
TEXT_MACRO = re.compile(r'^#define\s+(\w+)\s+"', re.MULTILINE)
DIRECTIVE = re.compile(r"^\s*#[^\n]*\n", re.MULTILINE)
ATTRIBUTE = re.compile(r"__attribute__\(\(format\([^)]*\)\)\)") # which compilers read and cffi does not
# What the library calls back; cffi keeps the other end in mfpg/_call.py.
CALLBACKS = """
extern "Python" void mfpg_python_warn(void *, const char *);
extern "Python" void mfpg_python_progress(void *, const mfpg_round_report *, int64_t);
extern "Python" void mfpg_python_audited(void *, int64_t, int64_t);
extern "Python" mfpg_status mfpg_python_visit(void *, const mfpg_release *, int64_t, int64_t);
extern "Python" mfpg_status mfpg_python_release(mfpg_context *, void *, const mfpg_sum_terms *, const unsigned char *,
    int64_t *);
extern "Python" mfpg_status mfpg_python_example(void *, const char *, const char *, const char *);
void free(void *);
"""


def declarations(header, seen):
    """The declarations of a header behind those of the headers that it includes, each header once."""
    if header in seen:
        return ""
    seen.add(header)
    text = header.read_text(encoding="utf-8")
    before = "".join(declarations(header.parent / name, seen) for name in INCLUDE.findall(text))
    text = COMMENT.sub("", text.replace("\\\n", " "))
    constants = "".join(f"static char *const {name};\n" for name in TEXT_MACRO.findall(text))
    return before + constants + ATTRIBUTE.sub("", DIRECTIVE.sub("", text))


def main(header, output):
    ffi = cffi.FFI()
    ffi.cdef(declarations(pathlib.Path(header).resolve(), set()) + CALLBACKS)
    ffi.set_source("mfpg._interface", '#include <stdlib.h>\n#include "mfpg/mfpg.h"\n')
    ffi.emit_c_code(str(output))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
