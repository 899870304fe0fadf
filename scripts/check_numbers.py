#!/usr/bin/env python3
"""Compares the numbers of the documents with what the program prints.

README.md and docs/*.md hold blocks

    <!-- numbers: mfpg COMMAND ... -->
    what the command prints on its standard output, with or without a fence of ``` around it
    <!-- end numbers -->

`numbers: examples/NAME` is what the example program of that name prints, `numbers: scripts/NAME ...` what a script prints that takes
--program FILE. `numbers: mfpg COMMAND ... :: TITLE` is only the part under that heading of a Markdown output, heading excluded.
Each command runs once, with the release build in an empty folder; a block that differs is shown as a diff and fails.
Blocks `long numbers: mfpg COMMAND ...` take many minutes: they are left alone unless --long is given.
With --write the blocks are rewritten instead and keep their fences. Blank space at line ends does not count.

usage: scripts/check_numbers.py [--write] [--long] [--program FILE] [TREE]"""
import argparse
import difflib
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?P<head>^<!-- (?P<long>long )?numbers: (?P<command>.+?)(?: :: (?P<title>.+?))? -->\n)(?P<body>.*?)(?P<tail>^<!-- end numbers -->$)",
                   re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^\s*<!--\s*(end |long )?numbers\b", re.MULTILINE)


def lines_of(text):
    """Lines without blank space at their ends and without blank lines at both ends of the text."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def split_fence(body):
    """The opening line of the block's fence ("" without one) and the lines that it holds."""
    lines = lines_of(body)
    if len(lines) >= 2 and lines[0].startswith("```") and lines[-1] == "```":
        return lines[0], lines[1:-1]
    return "", lines


def part_under(title, lines, command):
    """The lines between the heading of that title and the next heading of its level or above."""
    level = None
    part = []
    for line in lines:
        depth = len(line) - len(line.lstrip("#"))
        if level is None:
            if depth and line[depth:].strip() == title:
                level = depth
        elif 0 < depth <= level:
            break
        else:
            part.append(line)
    if level is None:
        raise SystemExit(f"check-numbers: {command} prints no heading '{title}'")
    return lines_of("\n".join(part))


def run(program, tree, command):
    """Standard output of `mfpg ...`, of a program of the examples built beside it, or of a script, run in an empty folder."""
    words = shlex.split(command)
    script = (tree / words[0]).resolve() if words and words[0].startswith("scripts/") else None
    if script and script.exists():
        program, words = sys.executable, [words[0], script, "--program", program, *words[1:]]
    elif words[:1] and words[0].startswith("examples/") and (program.parent / words[0]).exists():
        program = program.parent / words[0]
    elif words[:1] != ["mfpg"]:
        raise SystemExit(f"check-numbers: only commands of mfpg, built examples and scripts can be checked, not: {command}")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, *words[1:]], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8")
    if done.returncode != 0:
        raise SystemExit(f"check-numbers: {command}: exit code {done.returncode}\n{done.stderr}")
    return lines_of(done.stdout)


def documents(tree):
    return [file for file in [tree / "README.md", *sorted((tree / "docs").glob("*.md"))] if file.exists()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="rewrite the blocks")
    parser.add_argument("--long", action="store_true", help="the blocks that take many minutes too")
    parser.add_argument("--program", type=pathlib.Path, help="default: TREE/build/release/mfpg")
    parser.add_argument("tree", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    options = parser.parse_args()
    program = (options.program or options.tree / "build/release/mfpg").resolve()

    printed, differing, count, left = {}, 0, 0, 0
    for file in documents(options.tree):
        text = file.read_text(encoding="utf-8")
        blocks = list(BLOCK.finditer(text))
        if len(MARK.findall(text)) != 2 * len(blocks):
            raise SystemExit(f"check-numbers: {file}: a block of numbers is not closed or not well formed")
        for block in reversed(blocks):  # from the end, so that earlier places stay where they are
            command = block["command"]
            if block["long"] and not options.long:
                left += 1
                continue
            if command not in printed:
                if not program.exists():
                    raise SystemExit(f"check-numbers: {program} is not there; run make build")
                printed[command] = run(program, options.tree, command)
            count += 1
            fence, found = split_fence(block["body"])
            title, expected = block["title"], printed[command]
            if title:
                expected = part_under(title, expected, command)
            if found == expected:
                continue
            differing += 1
            if options.write:
                body = "\n".join([fence, *expected, "```" if fence else "", ""])
                text = text[:block.start("body")] + body + text[block.end("body"):]
            else:
                print(*difflib.unified_diff(found, expected, str(file), command, lineterm=""), sep="\n")
        if options.write:
            file.write_text(text, encoding="utf-8")
    what = "rewritten" if options.write else "differ from what the program prints"
    print(f"check-numbers: {count} blocks, {differing} {what}" + (f"; {left} long ones left alone" if left else ""))
    sys.exit(1 if differing and not options.write else 0)


if __name__ == "__main__":
    main()
