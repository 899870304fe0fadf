#!/usr/bin/env python3
"""Fails if the house is not in order: a header of src that only one file beside its own .c includes, a circle of calls between the
files of one folder, two files of src with one basename, or a comment that names a source file that does not exist.

    check_house.py [--list] [--counts] [FOLDER]     (--list: succeed with findings; --counts: sizes; FOLDER: another tree)

A header with one user hides nothing: its declarations belong into the file that uses them, or both files are one. A circle of
calls says that a file was cut by its size and not along a joint."""
import argparse
import collections
import pathlib
import re
import sys

CODE = ("src", "reproduction", "cli")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
QUIET = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
DEFINITION = re.compile(r"^(?!static\b|typedef\b|extern\b|return\b|else\b)[a-z][\w \t*]*?\b(\w+)\(([^;{}]*)\)\s*\{", re.MULTILINE)
FILE_NAME = re.compile(r"(?<![\w/.*<])((?:[\w-]+/)*[\w-]+\.(?:[ch]|def|py|sh))\b(?!\w)")
# Names in comments that are of other projects or of files that users bring.
FOREIGN = {"NAME.c", "argp.h", "sodium.h", "omp.h", "mpi.h", "jansson.h", "yaml.h", "zlib.h", "config.h"}


def code_files(root):
    return [p for place in CODE if (root / place).is_dir() for p in sorted((root / place).rglob("*")) if p.suffix in (".c", ".h", ".def")]


def single_users(root, files):
    """Headers of src that at most one file includes beside the .c file of the same name."""
    users = collections.defaultdict(set)
    for file in files:
        for name in INCLUDE.findall(file.read_text(encoding="utf-8")):
            for found in (file.parent / name, root / "src" / name):
                if found.exists():
                    users[found.resolve()].add(file)
                    break
    for file in files:
        if file.suffix == ".h" and root / "src" in file.parents:
            others = [u for u in users[file.resolve()] if u.with_suffix("") != file.with_suffix("")]
            if len(others) < 2:
                of = f"only {others[0].relative_to(root)} uses it" if others else "no file uses it"
                yield f"{file.relative_to(root)}: {of} beside its own .c file"


def circles(root, files):
    """Groups of .c files of one folder that call each other in a circle."""
    folders = collections.defaultdict(list)
    for file in files:
        if file.suffix == ".c":
            folders[file.parent].append(file)
    for folder, members in sorted(folders.items()):
        texts = {f: QUIET.sub(" ", f.read_text(encoding="utf-8")) for f in members}
        home = {name: f for f in members for name, _ in DEFINITION.findall(texts[f])}
        calls = {f: {home[w] for w in re.findall(r"\b\w+\b", texts[f]) if w in home} - {f} for f in members}
        for group in strong_components(calls):
            if len(group) > 1:
                yield f"{folder.relative_to(root)}: these call each other in a circle: " + ", ".join(sorted(f.name for f in group))


def strong_components(graph):
    """Tarjan's algorithm; the graphs are small enough for recursion."""
    index, low, stack, result = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            group = stack[stack.index(node):]
            del stack[stack.index(node):]
            result.append(group)

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return result


def twins(root, files):
    names = collections.defaultdict(list)
    for file in files:
        if root / "src" in file.parents and file.suffix == ".c":
            names[file.name].append(file)
    for name, places in sorted(names.items()):
        if len(places) > 1:
            yield f"{name}: a basename of " + ", ".join(str(p.relative_to(root)) for p in places)


def missing_files(root, files):
    """Source files named in comments that are nowhere."""
    tree = [p for p in root.rglob("*") if p.suffix in (".c", ".h", ".def", ".py", ".sh") and "build" not in p.relative_to(root).parts]
    known = {p.name for p in tree}
    paths = {str(p.relative_to(root)) for p in tree}
    for file in files + sorted((root / "include").rglob("*.h")):
        text = file.read_text(encoding="utf-8")
        for comment in COMMENT.finditer(text):
            for match in FILE_NAME.finditer(comment[0]):
                name = match[1]
                exists = any(p == name or p.endswith("/" + name) for p in paths) if "/" in name else name in known or name in FOREIGN
                if not exists:
                    line = text.count("\n", 0, comment.start() + match.start()) + 1
                    yield f"{file.relative_to(root)}:{line}: a comment names {name}, which does not exist"


def print_counts(root, files):
    """The sizes that are to stay small: lines by folder, files, and functions of the public headers."""
    headers = sorted((root / "include").rglob("*.h"))
    total = 0
    for folder in [root / name for name in ("cli", "include", "reproduction")] + sorted(p for p in (root / "src").iterdir() if p.is_dir()):
        members = [p for p in files + headers if folder in p.parents]
        lines = sum(len(p.read_text(encoding="utf-8").splitlines()) for p in members)
        total += lines
        print(f"{lines:7} lines {len(members):4} files  {folder.relative_to(root)}")
    functions = set()
    for header in headers:
        functions.update(re.findall(r"^(?!typedef|static|#)[a-z][^\n(;]*?\b(mfpg_\w+)\(", COMMENT.sub("", header.read_text(encoding="utf-8")), re.MULTILINE))
    print(f"{total:7} lines of src, cli, include and reproduction; {len(functions)} public functions")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--list", action="store_true", help="print every finding and succeed")
    parser.add_argument("--counts", action="store_true", help="print the sizes of folders and of the public headers")
    parser.add_argument("folder", nargs="?", default=pathlib.Path(__file__).parent.parent, type=pathlib.Path)
    arguments = parser.parse_args()
    root = arguments.folder.resolve()
    files = code_files(root)
    if arguments.counts:
        return print_counts(root, files)
    kinds = {"headers with one user": list(single_users(root, files)), "circles of calls": list(circles(root, files)),
             "basenames used twice": list(twins(root, files)), "comments that name missing files": list(missing_files(root, files))}
    found = [line for lines in kinds.values() for line in lines]
    print(*found, "house: " + ", ".join(f"{len(lines)} {kind}" for kind, lines in kinds.items()), sep="\n")
    sys.exit(1 if not files or (found and not arguments.list) else 0)


if __name__ == "__main__":
    main()
