#!/usr/bin/env python3
"""Fails if an #include runs against the order of the folders (docs/architecture.md), or if a folder that handles private values
draws floating-point noise (mfpg_stream_gaussian): what leaves there is noised on a public grid (src/base/release_points.def).

The order of the folders:

    base <- numerics, options, secure_sum <- data, models, optimisers <- games | mechanisms | accountants <- federation <- audit <- answers <- experiment <- report <- reproduction <- cli

A folder may use what stands below it, never what stands beside or above it. A public header belongs to the folder
that implements it and follows the same rule. Run it without arguments for this tree, with a folder for another."""
import pathlib
import re
import sys

HEIGHT = {"base": 0, "options": 1, "numerics": 1, "secure_sum": 1, "data": 2, "models": 2, "optimisers": 2, "games": 3, "mechanisms": 3, "accountants": 3,
          "federation": 4, "audit": 5, "answers": 6, "experiment": 7, "report": 8, "reproduction": 9, "cli": 10}
# Folders beside src, which belong to the program and not to the library.
OUTSIDE = {"reproduction", "cli"}
# Public header -> folder that implements it; a new header needs a word here.
OWNER = {"status": "base", "version": "base", "context": "base", "fields": "base", "group": "base", "names": "base", "program": "base", "random": "base", "release": "base", "option": "options", "transport": "numerics", "pde": "numerics", "secure_sum": "secure_sum",
         "dataset": "data", "data_check": "data", "model": "models", "optimiser": "optimisers", "game": "games", "mechanism": "mechanisms",
         "privatise": "mechanisms", "accountant": "accountants", "calibration": "accountants", "account": "answers", "game_from_options": "answers", "filter": "accountants",
         "hidden_state": "accountants",
         "federation": "federation", "run_fields": "federation", "audit": "audit", "inversion": "audit", "config": "experiment",
         "experiment": "experiment", "solution": "answers", "preference_law": "answers", "loss_table": "experiment",
         "report": "report", "mfpg": "cli"}
# Models work on data sets: the one header that may be used at the same height.
BESIDE = {("models", "dataset")}
# Folders whose numbers are private until they are noised; the last digits of floating-point noise would betray them.
PRIVATE = {"mechanisms", "federation"}
FLOAT_NOISE = re.compile(r"\bmfpg_stream_(bounded_)?gaussian\w*")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def complaint(root, file, folder, name):
    """What is wrong with `#include "name"` in a file of a folder; None where nothing is."""
    first, _, rest = name.partition("/")
    public = folder == "include"
    header = rest if first == "mfpg" else name if public else None
    if header is not None:  # a public header
        stem = header.removesuffix(".h")
        if stem not in OWNER or not (root / "include/mfpg" / header).exists():
            return "is no public header that scripts/check_includes.py knows"
        user = OWNER.get(file.stem) if public else folder
        if user is None:
            return f"stands in a header whose folder scripts/check_includes.py does not know: {file.name}"
        below = OWNER[stem] == user or HEIGHT[OWNER[stem]] < HEIGHT[user] or (user, stem) in BESIDE
        return None if below else f"belongs to {OWNER[stem]}, which {user} must not use"
    if first in HEIGHT and rest:  # a private header of some folder, from src/
        if folder == "reproduction" or (folder == "cli" and first != "reproduction"):
            return f"is private; {folder} uses public headers{', those of reproduction' if folder == 'cli' else ''} and its own"
        allowed = first == folder or HEIGHT[first] < HEIGHT[folder]
        return None if allowed else f"belongs to {first}, which {folder} must not use"
    return None if ".." not in name and (file.parent / name).exists() else "is not found from its own folder"


def check(root):
    places = [(folder, root / (folder if folder in OUTSIDE else f"src/{folder}")) for folder in HEIGHT]
    places.append(("include", root / "include/mfpg"))
    problems, count = [], 0
    strangers = [p for p in (root / "src").iterdir() if p.is_dir() and p.name not in HEIGHT]
    problems += [f"{p.relative_to(root)}: a folder without a place in the order" for p in strangers]
    for folder, place in places:
        for file in sorted(place.rglob("*.[ch]")) + sorted(place.rglob("*.def")):
            text = file.read_text(encoding="utf-8")
            for match in FLOAT_NOISE.finditer(text if folder in PRIVATE else ""):
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{file.relative_to(root)}:{line}: {match[0]} draws floats; private values are noised on a grid")
            for match in INCLUDE.finditer(text):
                count += 1
                wrong = complaint(root, file, folder, match[1])
                if wrong:
                    line = text.count("\n", 0, match.start(1)) + 1
                    problems.append(f'{file.relative_to(root)}:{line}: "{match[1]}" {wrong}')
    return count, problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    count, problems = check(root)
    print(*problems, f"includes: {count} checked, {len(problems)} against the order", sep="\n")
    sys.exit(1 if problems or count == 0 else 0)


if __name__ == "__main__":
    main()
