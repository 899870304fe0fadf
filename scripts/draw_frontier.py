#!/usr/bin/env python3
"""Draws docs/frontier.svg, the picture of README.md, from tables of docs/results.md: accuracy against epsilon of the four methods, what each client of
the games is promised (both printed by `mfpg bench`, `make check-numbers`), and accuracy with every update seen and with a secure sum
(scripts/secure_sum_study.py).

usage: scripts/draw_frontier.py [--check] [TREE]"""
import argparse
import math
import pathlib
import sys

METHODS = ("dp-sgd", "mfep", "mapg-dp", "mfpg")
TARGET = "2"  # of the right panel
STYLE = """
    text { font: 12px sans-serif; fill: #1f2328; }
    .title { font-weight: bold; }
    .faint { fill: #59636e; }
    .axis { stroke: #59636e; fill: none; }
    .grid { stroke: #d1d9e0; fill: none; }
    .dp-sgd { --ink: #0969da; } .mfep { --ink: #1a7f37; } .mapg-dp { --ink: #bc4c00; } .mfpg { --ink: #8250df; }
    .line { fill: none; stroke: var(--ink); stroke-width: 2; }
    .seen .line { stroke-dasharray: 5 4; }
    .point { fill: var(--ink); stroke: none; }
    .name { fill: var(--ink); }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .faint { fill: #9198a1; }
      .axis { stroke: #9198a1; }
      .grid { stroke: #30363d; }
      .dp-sgd { --ink: #4493f8; } .mfep { --ink: #3fb950; } .mapg-dp { --ink: #f0883e; } .mfpg { --ink: #b083f0; }
      .name { fill: var(--ink); }
    }
"""


def table_under(title, text):
    """Cells of the first table behind that heading."""
    rows = []
    for line in text[text.index(f"\n#### {title}\n"):].splitlines()[2:]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            break
    return [row for row in rows if not set("".join(row)) <= set("-")]


def frontier_of(text):
    """The epsilons, and for each method mean and standard error of the accuracy at each."""
    head, *rows = table_under("Unit example, view local", text)
    epsilons = [float(cell.split()[1]) for cell in head[1:]]
    return epsilons, {row[0]: [tuple(map(float, cell.split("±"))) for cell in row[1:]] for row in rows if row[0] in METHODS}


def promises_of(text):
    """Of each game the epsilons of clients 0 to 7 where the least protected has the target."""
    rows = table_under("Each client's own epsilon in the games (unit example, view local)", text)
    return {row[0]: list(map(float, row[2].split())) for row in rows if row[1] == TARGET}


def views_of(title, text):
    """The epsilons, and for each method and view mean and standard error of the accuracy at each."""
    head, *rows = table_under(title, text)
    epsilons = [float(cell.split()[1]) for cell in head[2:]]
    return epsilons, {(row[0], row[1]): [tuple(map(float, cell.split("±"))) for cell in row[2:]] for row in rows if row[0] in METHODS}


class Panel:
    """A plane with its axes: places are (x, y) in units of the data."""

    def __init__(self, left, top, width, height, x_range, y_range, log=False):
        self.left, self.top, self.width, self.height = left, top, width, height
        self.x_range, self.y_range, self.log, self.parts = x_range, y_range, log, []

    def x(self, value):
        low, high = self.x_range
        share = math.log(value / low) / math.log(high / low) if self.log else (value - low) / (high - low)
        return self.left + self.width * share

    def y(self, value):
        low, high = self.y_range
        return self.top + self.height * (1 - (value - low) / (high - low))

    def text(self, x, y, words, kind="", anchor="middle"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{words}</text>')

    def axes(self, title, x_title, x_ticks, y_ticks):
        bottom, right = self.top + self.height, self.left + self.width
        for value in y_ticks:
            self.parts.append(f'<path class="grid" d="M{self.left} {self.y(value):.1f} H{right}"/>')
            self.text(self.left - 8, self.y(value) + 4, f"{value:g}", "faint", "end")
        self.parts.append(f'<path class="axis" d="M{self.left} {bottom} H{right}"/>')
        for value in x_ticks:
            self.text(self.x(value), bottom + 18, f"{value:g}", "faint")
        self.text(self.left + self.width / 2, bottom + 38, x_title)
        self.text(self.left - 30, self.top - 18, title, "title", "start")

    def curve(self, method, places, errors=None, dodge=0.0, kind=""):
        """A line with points; errors are half the length of the bars."""
        spots = [(self.x(x) + dodge, self.y(y)) for x, y in places]
        self.parts.append(f'<g class="{method}{kind}"><path class="line" d="M' + " L".join(f"{x:.1f} {y:.1f}" for x, y in spots) + '"/>')
        for k, (x, y) in enumerate(spots):
            if errors:
                reach = abs(self.y(0) - self.y(errors[k]))
                self.parts.append(f'<path class="line" d="M{x:.1f} {y - reach:.1f} V{y + reach:.1f}"/>')
            self.parts.append(f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
        self.parts.append("</g>")


def secure_sums(text):
    """Two panels: what is gained where a secure sum shows only the sum of the updates."""
    parts = []
    panels = (("Accuracy, with and without a secure sum", "Logistic regression, 8 clients of 100 rows", 60, 330, (0.78, 0.98), (0.8, 0.85, 0.9, 0.95)),
              ("The same, four hospitals", "Four hospitals of the heart disease study, 123 to 303 patients", 470, 210, (0.61, 0.79), (0.65, 0.7, 0.75)))
    for title, table, place, width, y_range, y_ticks in panels:
        epsilons, accuracy = views_of(table, text)
        panel = Panel(place, 355, width, 220, (0.45, 2.2), y_range, log=True)
        panel.axes(title, "epsilon of the client that is protected least", epsilons, y_ticks)
        for k, (method, view) in enumerate(accuracy):
            means, errors = zip(*accuracy[method, view])
            panel.curve(method, list(zip(epsilons, means)), errors, dodge=4 * k - 6, kind=" seen" if view == "local" else "")
        parts += panel.parts
        if place == 60:
            for k, (method, view) in enumerate(accuracy):
                dashes = ' style="stroke-dasharray: 5 4"' if view == "local" else ""
                parts.append(f'<g class="{method}"><path class="line" d="M196 {501 + 17 * k} H220"{dashes}/></g>')
                panel.text(228, 505 + 17 * k, f"{method}, {'every update seen' if view == 'local' else view}", f"{method} name", "start")
                parts.append(panel.parts[-1])
    return parts


def picture(text):
    epsilons, accuracy = frontier_of(text)
    promises = promises_of(text)
    left = Panel(60, 50, 330, 220, (0.45, 8.9), (0.78, 0.98), log=True)
    left.axes("Test accuracy", "epsilon of the client that is protected least", epsilons, (0.8, 0.85, 0.9, 0.95))
    for k, method in enumerate(METHODS):
        left.curve(method, list(zip(epsilons, [mean for mean, _ in accuracy[method]])),
                   [error for _, error in accuracy[method]], dodge=4 * k - 6)
        left.text(300, 200 + 17 * k, method, f"{method} name", "start")
        left.parts.append(f'<g class="{method}"><circle class="point" cx="290" cy="{196 + 17 * k}" r="3"/></g>')
    right = Panel(470, 50, 210, 220, (-0.3, 7.3), (1.2, 2.1))
    right.axes("Epsilon of each client", "client, by how much it minds", range(8), (1.2, 1.4, 1.6, 1.8, 2))
    right.parts.append(f'<g class="dp-sgd"><path class="line" d="M{right.x(0):.1f} {right.y(2):.1f} H{right.x(7):.1f}"/></g>')
    right.text(right.x(7), right.y(2) - 7, "dp-sgd and mfep: 2 for all", "faint", "end")
    for method in ("mapg-dp", "mfpg"):
        right.curve(method, list(enumerate(promises[method])))
        right.text(right.x(7) + 8, right.y(promises[method][-1]) + 4, method, f"{method} name", "start")
    body = "\n  ".join(left.parts + right.parts + secure_sums(text))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 630" width="760" height="630" role="img" '
            f'aria-labelledby="title description">\n  <title id="title">Accuracy against privacy, and what each client is promised</title>\n'
            f'  <desc id="description">Left: mean test accuracy with standard errors of four methods from epsilon 0.5 to 8, where all rise from '
            f'about 0.8 to 0.96. Right: at epsilon 2 the two games give the clients that mind privacy more a smaller epsilon, down to '
            f'{min(map(min, promises.values())):.2f}. Below: on two tasks, dp-sgd and mfpg are more accurate at the same epsilon if a secure '
            f'sum hides the single updates.</desc>\n  <style>{STYLE}  </style>\n  {body}\n</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail where the picture is not that of the tables")
    parser.add_argument("tree", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    options = parser.parse_args()
    file = options.tree / "docs/frontier.svg"
    drawn = picture((options.tree / "docs/results.md").read_text(encoding="utf-8"))
    if not options.check:
        file.write_text(drawn, encoding="utf-8")
    elif not file.exists() or file.read_text(encoding="utf-8") != drawn:
        sys.exit("draw-frontier: docs/frontier.svg is not the picture of docs/results.md; run scripts/draw_frontier.py")


if __name__ == "__main__":
    main()
