#!/usr/bin/env python3
"""Writes mfpg/_solve_table.py from the table of options of `mfpg solve`, so that there is one list of names, ranges and readers.

    make_options.py TABLE OUTPUT      (TABLE: cli/solve_options.def)"""
import ast
import pathlib
import re
import sys

ENTRY = re.compile(r"^(?:GAME_)?(NUMBER|TEXT|WORD|FLAG)\((.*)\)$", re.MULTILINE)
EVERY = re.compile(r'^#define EVERY "(.*)"$', re.MULTILINE)
ARGUMENT = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,"]+)\s*(?:,|$)')
COLUMNS = {"NUMBER": ["key", "name", "field", "argument", "group", "allowed", "words", "costs", "others", "help"],
           "TEXT": ["key", "name", "field", "argument", "group", "costs", "others", "help"],
           "WORD": ["key", "name", "field", "argument", "group", "costs", "others", "help"],
           "FLAG": ["key", "name", "field", "group", "costs", "others", "help"]}


MACRO = re.compile(r'^#define (\w+) +"(.*)"$', re.MULTILINE)


def entries(text, macros):
    """(kind, {column: value}) of every line of the table; the costs are a list. A text may be a macro."""
    every = EVERY.search(text)[1]
    for kind, arguments in ENTRY.findall(text):
        values = [ast.literal_eval(value) if value.startswith('"') else macros.get(value.strip(), value.strip())
                  for value in ARGUMENT.findall(arguments)]
        if len(values) != len(COLUMNS[kind]):
            sys.exit(f"make_options: {kind}({arguments[:60]}...: {len(values)} columns, {len(COLUMNS[kind])} expected")
        row = dict(zip(COLUMNS[kind], values))
        row["costs"] = (every if row["costs"] == "EVERY" else row["costs"]).split()
        yield kind, row


def main(table, output):
    table = pathlib.Path(table)
    macros = dict(MACRO.findall((table.parent / "solve.h").read_text(encoding="utf-8")))
    rows = list(entries(table.read_text(encoding="utf-8"), macros))
    if not rows:
        sys.exit(f"make_options: {table} holds no option")
    lines = ['"""The options of `mfpg solve` (generated from cli/solve_options.def): who reads which, and what numbers may be."""',
             "", "COSTS: dict[str, list[str]] = {"]
    lines += [f"    {row['name'].replace('-', '_')!r}: {row['costs']!r}," for _, row in rows]
    lines += ["}", "NUMBERS: dict[str, tuple[str, str]] = {"]
    lines += [f"    {row['name'].replace('-', '_')!r}: ({row['allowed']!r}, {row['words']!r}),"
              for kind, row in rows if kind == "NUMBER"]
    pathlib.Path(output).write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
