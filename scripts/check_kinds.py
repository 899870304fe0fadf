#!/usr/bin/env python3
"""Fails if the name of a kind (a line of mechanisms.def, costs.def, games.def, accountants.def, models.def or readers.def) is compared outside
the folder of its list: what a kind is belongs into its own table, and others ask for the fact, so that a new kind is one file and one line.

A comparison is strcmp or a function whose name ends in `is`, `is_named` or `is_cost` with a literal of that name. Of a configuration, only
the keys that choose a kind count: the word "none" of evaluate is no mechanism. Run it without arguments for this tree, with a folder for another."""
import pathlib
import re
import sys

LISTS = ["mechanisms/mechanisms.def", "games/costs.def", "games/games.def", "accountants/accountants.def", "models/models.def",
         "data/readers.def", "optimisers/local.def", "optimisers/server.def"]
# Keys of a configuration whose words are names of kinds.
KEYS = {"method.mechanism", "method.players", "game.cost", "privacy.accountant", "task.model", "data.format", "train.optimiser", "server.optimiser"}
# What is compared although it is no kind: the tasks of the suites, and the key evaluate.
OTHERS = {"task", "evaluate"}
COMPARISON = re.compile(r'\b(strcmp|\w*is|\w*is_named|\w*is_cost)\(([^()";]*(?:\([^()]*\)[^()";]*)?)((?:"[^"]*"[,\s]*)+)\)')
ENTRY = re.compile(r"^(?:ENTRY|PAPER)\((\w+)\)", re.MULTILINE)


def names_of(root):
    """Name of a kind -> folders of src whose lists have it; as in the list and as users type it."""
    folders = {}
    for item in LISTS:
        for name in ENTRY.findall((root / "src" / item).read_text(encoding="utf-8")):
            for spelling in {name, name.replace("_", "-")}:
                folders.setdefault(spelling, set()).add(item.split("/")[0])
    return folders


def is_other(before, literals):
    """True if what is compared is not a kind."""
    if len(literals) > 1:
        return literals[0] not in KEYS
    last = re.search(r"(\w+)\W*$", before)
    return last is not None and last[1] in OTHERS


def check(root):
    folders, problems, count = names_of(root), [], 0
    files = [p for place in ("src", "cli") for p in sorted((root / place).rglob("*.[ch]"))]
    for file in files:
        text = file.read_text(encoding="utf-8")
        own = file.relative_to(root).parts[1] if file.parts[len(root.parts)] == "src" else "cli"
        for match in COMPARISON.finditer(text):
            literals = re.findall(r'"([^"]*)"', match[3])
            count += 1
            name = literals[-1]
            if name not in folders or own in folders[name] or is_other(match[2], literals):
                continue
            line = text.count("\n", 0, match.start()) + 1
            problems.append(f"{file.relative_to(root)}:{line}: the name '{name}' is compared outside src/{min(folders[name])}; "
                            "ask for the fact that its table states")
    return count, problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    count, problems = check(root)
    print(*problems, f"kinds: {count} comparisons checked, {len(problems)} with the name of a kind outside its folder", sep="\n")
    sys.exit(1 if problems or count == 0 else 0)


if __name__ == "__main__":
    main()
