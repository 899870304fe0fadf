#!/usr/bin/env python3
"""Checks the links of the tree's Markdown: files and folders that relative links and pictures name are there, and so are the
headings behind #. Nothing is fetched: what begins with a scheme is left alone.

usage: scripts/check_links.py [TREE]"""
import pathlib
import re
import sys
import urllib.parse

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?(?P<target>[^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HTML = re.compile(r"<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=\"(?P<target>[^\"]+)\"")
FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2[^\n]*$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(?P<text>.+?)\s*#*\s*$", re.MULTILINE)


def blank(match):
    """As many lines, without anything in them."""
    return "\n" * match.group().count("\n")


def prose_of(text):
    """The text without fenced blocks and code spans, line for line."""
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", FENCED.sub(blank, text))


def anchors_of(text):
    """What GitHub calls the headings: small letters, digits, - and _; blanks become -, and doubles are counted."""
    found = set(re.findall(r"\b(?:id|name)=\"([^\"]+)\"", text))
    for heading in HEADING.finditer(FENCED.sub(blank, text)):
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading["text"])
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        name, count = slug, 0
        while name in found:
            count += 1
            name = f"{slug}-{count}"
        found.add(name)
    return found


def fault_of(target, file, tree):
    """What is wrong with a link of the file, or None."""
    if re.match(r"[a-z][a-z0-9+.-]*:", target) or target.startswith("//"):
        return None
    path, _, anchor = target.partition("#")
    aim = (file.parent / urllib.parse.unquote(path)).resolve() if path else file.resolve()
    if path.startswith("/") or not aim.is_relative_to(tree.resolve()):
        return "leads out of the tree"
    if not aim.exists():
        return "is not there"
    if anchor and aim.suffix == ".md" and urllib.parse.unquote(anchor) not in anchors_of(aim.read_text(encoding="utf-8")):
        return "has no such heading"
    return None


def documents(tree):
    """Every Markdown file but those that were built or brought along."""
    return [file for file in sorted(tree.rglob("*.md"))
            if not any(part in ("build", "node_modules") or part.startswith(".") for part in file.relative_to(tree).parts)]


def main():
    tree = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent
    count, wrong = 0, 0
    for file in documents(tree):
        prose = prose_of(file.read_text(encoding="utf-8"))
        for link in [*LINK.finditer(prose), *HTML.finditer(prose)]:
            count += 1
            fault = fault_of(link["target"], file, tree)
            if fault:
                wrong += 1
                print(f"{file.relative_to(tree)}:{prose.count(chr(10), 0, link.start()) + 1}: {link['target']} {fault}")
    print(f"links: {count} checked, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
