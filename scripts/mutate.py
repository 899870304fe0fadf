#!/usr/bin/env python3
"""Changes the code in random small ways, one at a time, and counts which changes the tests find.

    mutate.py [--count N] [--seed N] [--tree FOLDER] [FOLDER-OF-SRC ...]

Works in a clone of the committed tree (build/mutants), never in the tree itself. A mutant changes one comparison, sign, constant or
operand of a core file. It is killed by the first test that fails, or that takes longer than ten minutes; those of the file's own
folder go first. Prints a line a mutant and every survivor as a diff: a survivor is a gap in the tests, or equal to the original."""
import argparse
import pathlib
import random
import re
import subprocess
import sys

CORE = ["accountants", "audit", "federation", "games", "mechanisms", "models", "numerics", "optimisers"]
QUIET = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.DOTALL | re.MULTILINE)
KINDS = {
    "comparison": [(r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == ")],
    "sign": [(r" \+ ", " - "), (r" - ", " + "), (r"(?<=[=(,] )-(?=[\w(])", ""), (r" \+= ", " -= "), (r" -= ", " += ")],
    "constant": [(r"(?<![\w.])0\.5(?![\w.])", "0.25"), (r"(?<![\w.])1\.0(?![\w.])", "2.0"), (r"(?<![\w.])2\.0(?![\w.])", "1.0"),
                 (r"(?<![\w.\[])1(?![\w.])", "2"), (r"(?<![\w.])2(?![\w.])", "3"), (r"(?<![\w.\[])0(?![\w.])", "1")],
    "operand": [(r" \* (?=[\w(])", " / "), (r" / (?=[\w(])", " * "), (r" && ", " || "), (r" \|\| ", " && "), (r"\bfmin\(", "fmax("),
                (r"\bfmax\(", "fmin("), (r"(?<=[(,&|] )!(?=[\w(])|(?<=\()!(?=[\w(])", "")],
}


def candidates(text):
    """Every place of a file's code that a mutant can change: (kind, start, end, replacement)."""
    code = QUIET.sub(lambda m: re.sub(r"[^\n]", "\0", m[0]), text)
    for kind, changes in KINDS.items():
        for pattern, replacement in changes:
            for match in re.finditer(pattern, code):
                line = code[code.rfind("\n", 0, match.start()) + 1:]
                if not line.startswith("static_assert"):
                    yield kind, match.start(), match.end(), replacement


def run(command, folder, seconds=None):
    try:
        return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None


def first_failure(tree, target, names):
    """The name of the test that fails first; "" if none does, None if the code cannot be compiled."""
    built = run(["cmake", "--build", "--preset", "release", "--target", *target], tree)
    if built.returncode != 0:
        return None
    tested = run(["ctest", "--preset", "release", "--stop-on-failure", *names], tree, 600)
    if tested is None:
        return "time"
    if tested.returncode == 0:
        return ""
    failed = re.search(r"^\s*\d+ - (\S+)", tested.stdout, re.MULTILINE)
    return failed[1] if failed else "the tests' program"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("folders", nargs="*", default=CORE)
    arguments = parser.parse_args()
    tree = arguments.tree / "build/mutants"
    if not tree.exists():
        subprocess.run(["git", "clone", "--quiet", arguments.tree, tree], check=True)
    subprocess.run(["git", "checkout", "--quiet", "."], cwd=tree, check=True)  # what an interrupted run has left
    subprocess.run(["git", "pull", "--quiet", "--ff-only"], cwd=tree, check=True)
    subprocess.run(["cmake", "--preset", "release", "--log-level=NOTICE"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "release"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    tests = sorted(p.name for p in (tree / "tests").glob("*/test_*.c"))
    files = sorted(p for name in arguments.folders for p in (tree / "src" / name).rglob("*.c"))
    choice, done, killed, survivors = random.Random(arguments.seed), 0, 0, []
    print(f"mutate: {len(files)} files, {len(tests)} tests, seed {arguments.seed}", flush=True)
    while done < arguments.count:
        file = choice.choice(files)
        text = file.read_text(encoding="utf-8")
        kind = choice.choice(list(KINDS))
        places = [c for c in candidates(text) if c[0] == kind]
        if not places:
            continue
        _, start, end, replacement = choice.choice(places)
        file.write_text(text[:start] + replacement + text[end:], encoding="utf-8")
        folder = file.relative_to(tree / "src").parts[0]
        own = [f"test_{folder}_{p.stem.removeprefix('test_')}" for p in (tree / "tests" / folder).glob("test_*.c")]
        found = first_failure(tree, own, ["-R", f"^{folder}\\."])
        if found == "":
            found = first_failure(tree, ["all"], [])
        if found is not None:
            done += 1
            killed += found != ""
            line = text.count("\n", 0, start) + 1
            print(f"{done}: {file.relative_to(tree)}:{line} {kind}: {found or 'SURVIVED'}", flush=True)
            if found == "":
                survivors.append(run(["git", "diff", "-U2"], tree).stdout)
        file.write_text(text, encoding="utf-8")
    print(*survivors, f"mutate: {killed} of {done} killed", sep="\n")


if __name__ == "__main__":
    sys.exit(main())
