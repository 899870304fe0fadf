#!/usr/bin/env python3
"""Opens the pages of mfpg report in headless Chromium, by its DevTools protocol over a pipe, and looks at what a reader gets:
no error on the console, nothing loaded, charts that are drawn and numbers that are the files', in light and dark, on a
telephone, on paper, with keys alone, and without JavaScript.

    tests/scripts/test_report.py build/release/mfpg [--pictures DIR]

Skips with a message if there is no Chromium (Debian: chromium)."""
import base64
import csv
import itertools
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve()) if len(sys.argv) > 1 else "build/release/mfpg"
PICTURES = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[2] == "--pictures" else None
HOSTILE = "</td></script><!--<script>alert(1)</script><img src=x onerror=alert(2)>\u2028\u202e" + "x" * 300
LONGEST_WAIT = 60  # seconds for an answer of the browser


class Browser:
    """Chromium with the DevTools protocol on file descriptors 3 (commands) and 4 (answers): JSON texts that end with a 0."""

    def __init__(self, program, folder):
        command_end, self.commands = os.pipe()
        self.answers, answer_end = os.pipe()
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb",
             "--disable-background-networking", "--no-first-run", f"--user-data-dir={folder}/profile",
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=lambda: self.give(command_end, answer_end), close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command_end)
        os.close(answer_end)
        self.numbers, self.rest, self.events, self.session = itertools.count(1), b"", [], None

    @staticmethod
    def give(command_end, answer_end):
        first, second = os.dup(command_end), os.dup(answer_end)  # so that neither is in the way of the other
        first, second = (os.dup(first), os.dup(second)) if {first, second} & {3, 4} else (first, second)
        os.dup2(first, 3)
        os.dup2(second, 4)

    def read(self):
        while b"\0" not in self.rest:
            got = os.read(self.answers, 1 << 20)
            if not got:
                raise SystemExit("the browser has ended")
            self.rest += got
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        number, end = next(self.numbers), time.time() + LONGEST_WAIT
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while time.time() < end:
            answer = self.read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)
        raise SystemExit(f"{method}: no answer in {LONGEST_WAIT} s")

    def attach(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def open(self, path, width=1200, scheme="light", scripts=True):
        self.events = []
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        end = time.time() + LONGEST_WAIT
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            if time.time() > end:
                raise SystemExit(f"{path} does not load")
            self.events.append(self.read())

    def ask(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise SystemExit(f"{expression[:80]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def complaints(self):
        """What the page had to say on the console, what it tried to load, and whether it asked anything of the reader."""
        found = []
        for event in self.events:
            method, p = event.get("method"), event.get("params", {})
            if method == "Runtime.consoleAPICalled":
                found.append(f"console: {p['args']}")
            if method == "Runtime.exceptionThrown":
                found.append(f"exception: {p['exceptionDetails']}")
            if method == "Log.entryAdded":
                found.append(f"log: {p['entry']['text']}")
            if method == "Page.javascriptDialogOpening":
                found.append(f"dialog: {p['message']}")
            if method == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:///", "data:image/png;base64,")):
                found.append(f"request: {p['request']['url']}")
        pages = [e for e in self.events if e.get("method") == "Network.requestWillBeSent" and
                 not e["params"]["request"]["url"].startswith("data:")]
        if len(pages) > 1:
            found.append(f"{len(pages)} requests for one page")
        return found

    def picture(self, name):
        if not PICTURES:
            return
        PICTURES.mkdir(parents=True, exist_ok=True)
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8000), "scale": 1}
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        (PICTURES / f"{name}.png").write_bytes(base64.b64decode(data))

    def close(self):
        self.process.terminate()
        self.process.wait(LONGEST_WAIT)


failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}")


def mfpg(folder, *arguments):
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"mfpg {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")


# What every page must be, whatever it shows; names of charts whose pixels or titles are wrong.
CHARTS = """Array.from(document.querySelectorAll('figure.chart'), figure => {
  const canvas = figure.querySelector('canvas'), plot = figure.querySelector('.plot');
  const title = figure.querySelector('figcaption').textContent;
  if (!canvas) return plot.textContent.startsWith('Nothing to draw') ? '' : title + ': no canvas';
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const colours = new Set();
  for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] > 200) colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
  if (colours.size < 3) return title + ': blank';
  const chart = Chart.getChart(canvas);
  for (const scale of Object.values(chart.scales)) {
    chart.ctx.font = Chart.helpers.toFont(scale.options.title.font).string;
    const text = scale.options.title.text, half = chart.ctx.measureText(text).width / 2, flat = scale.isHorizontal();
    const middle = flat ? (scale.left + scale.right) / 2 : (scale.top + scale.bottom) / 2, room = flat ? chart.width : chart.height;
    if (middle - half < 0 || middle + half > room) return title + ': the title of an axis is cut: ' + text;
  }
  const legend = chart.legend;
  if (legend && legend.options.display && legend.height > chart.height / 2) return title + ': the legend hides the chart';
  return '';
}).filter(text => text)"""


READERS = (("light", 1200), ("dark", 1200), ("light", 400))


def check_page(browser, page, name, readers=READERS):
    for scheme, width in readers:
        browser.open(page, width, scheme)
        where = f"{name}, {scheme}, {width} px"
        for wrong in browser.ask(CHARTS):
            expect(False, f"{where}: {wrong}")
        expect(browser.ask("document.querySelectorAll('figure.chart').length") > 0, f"{where}: no charts")
        expect(browser.ask("document.documentElement.scrollWidth <= innerWidth"), f"{where}: wider than the window")
        paper = browser.ask("getComputedStyle(document.body).backgroundColor")
        expect(("255, 255, 255" in paper) == (scheme == "light"), f"{where}: background {paper}")
        expect(not browser.complaints(), f"{where}: {browser.complaints()}")
        browser.picture(f"{name}-{scheme}-{width}".replace(" ", "-"))


def check_without_scripts(browser, page, name):
    """Every chart has a table, with the same texts as the one that the script makes."""
    tables = "Array.from(document.querySelectorAll('figure.chart table'), t => Array.from(t.rows, r => Array.from(r.cells, c => c.textContent)))"
    browser.open(page)
    drawn = browser.ask(tables)
    browser.open(page, scripts=False)
    shown = browser.ask(tables)
    expect(all(table in shown for table in drawn), f"{name}: a chart has no table, or another one, without JavaScript")
    expect(browser.ask("document.querySelectorAll('canvas').length") == 0, f"{name}: scripts ran though they are off")
    expect(browser.ask("document.documentElement.scrollWidth <= innerWidth"), f"{name}, no scripts: wider than the window")
    closed = browser.ask("Array.from(document.querySelectorAll('figure.chart table')).filter(t => t.offsetHeight === 0).length")
    expect(closed == 0, f"{name}: {closed} tables cannot be seen without JavaScript")
    expect(not browser.complaints(), f"{name}, no scripts: {browser.complaints()}")
    browser.picture(f"{name}-no-scripts".replace(" ", "-"))


def check_paper(browser, page, name):
    browser.open(page, scheme="dark")
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=True)["data"])
    expect(pdf.startswith(b"%PDF") and len(pdf) > 20000, f"{name}: cannot be printed")
    expect(browser.ask("document.querySelectorAll('figure.chart details[open]').length") == 0, f"{name}: tables stay open after printing")
    if PICTURES:
        (PICTURES / f"{name}.pdf".replace(" ", "-")).write_bytes(pdf)


def check_keys(browser, page, rounds):
    """Tab leads to the skip link first; a chart's points can be read with the arrow keys."""
    browser.open(page)
    for key, code in (("Tab", 9),):
        browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code)
    expect(browser.ask("document.activeElement.className") == "skip", "the first stop of Tab is not the skip link")
    losses = "Array.from(document.querySelectorAll('figure.chart')).find(f => f.querySelector('figcaption').textContent === 'Loss')"
    browser.ask(f"{losses}.querySelector('canvas').focus()")
    for _ in range(2):
        browser.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39)
    spoken = browser.ask(f"{losses}.querySelector('[aria-live]').textContent")
    expect(spoken.endswith(": " + rounds[1]["loss"]), f"the second loss is read as '{spoken}', not {rounds[1]['loss']}")


def table(browser, caption):
    """The table of a chart: its header and rows of texts, as the page shows them."""
    return browser.ask(f"""(() => {{
      const figure = Array.from(document.querySelectorAll('figure.chart')).find(f => f.querySelector('figcaption').textContent === '{caption}');
      return Array.from(figure.querySelectorAll('tr'), row => Array.from(row.cells, cell => cell.textContent));
    }})()""")


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def check_numbers(browser, page, run):
    """Charts and tables against the CSV files, text by text; what is drawn is what the table says."""
    rounds, clients = read(run / "rounds.csv"), read(run / "clients.csv")
    browser.open(page)
    for caption, columns in (("Loss", ["loss"]), ("Accuracy", ["accuracy"]), ("Noise to signal", ["noise_to_signal"]),
                             ("Epsilon", ["epsilon", "paper_epsilon"]), ("The paper's delta", ["paper_delta"]),
                             ("Mean action", ["mean_action"])):
        shown = table(browser, caption.replace("'", "\\'"))[1:]
        expect(shown == [[row["round"], *(row[c] for c in columns)] for row in rounds], f"{caption}: other numbers than rounds.csv")
    shown = table(browser, "Epsilon of each client")
    at = [i for i, title in enumerate(shown[0]) if title.startswith("epsilon (nats)")][0]
    expect([row[at] for row in shown[1:]] == [c["epsilon"] for c in clients], "epsilon: other numbers than clients.csv")
    shown = table(browser, "Preference against action")[1:]
    expect(sorted(row[1:] for row in shown) == sorted([c["preference"], c["action"]] for c in clients), "actions: other numbers than clients.csv")
    drawn = browser.ask("""Array.from(document.querySelectorAll('figure.chart canvas'), c => Chart.getChart(c).data.datasets.map(
      s => s.data.map(p => typeof p === 'number' ? p : p.y)))""")
    cells = [float(row["loss"]) for row in rounds]
    expect([cells] in drawn, "the line of the loss is not the column of the table")


def same_cell(shown, value):
    return shown == value if isinstance(value, str) or value is None else shown != "" and float(shown) == value


def check_attack(browser, page, run, tables):
    """Every number of an audit's clients in the tables of the section, and what is drawn is what the tables say."""
    clients = json.loads((run / "audit.json").read_text())["clients"]
    browser.open(page)
    for caption, columns in tables.items():
        shown = table(browser, caption)
        for title, key in columns.items():
            at = shown[0].index(title)
            for row, client in zip(shown[1:], clients):
                expect(row[0] == client["client"] and same_cell(row[at], client[key]),
                       f"{caption}: {title} of {client['client']} is {row[at]}, in audit.json {client[key]}")
        drawn = browser.ask(f"""(() => {{
          const figure = Array.from(document.querySelectorAll('figure.chart')).find(f => f.querySelector('figcaption').textContent === '{caption}');
          return Chart.getChart(figure.querySelector('canvas')).data.datasets.map(set => [set.label, set.data]);
        }})()""")
        expect(len(drawn) > 1, f"{caption}: promised and proved are not both drawn")
        for title, numbers in drawn:
            expect(numbers == [c[columns[title]] for c in clients], f"{caption}: the bars of {title} are other numbers")


ATTACKED = {"Mu under attack": {"mu promised": "mu", "mu proved": "mu_lower", "gap: promised - proved": "gap",
                                "mu estimated (no proof)": "mu_estimate", "route": "route"},
            "Epsilon under attack": {"epsilon promised (nats)": "epsilon", "epsilon proved for Gaussian noise (nats)": "epsilon_lower",
                                     "epsilon proved by error rates alone (nats)": "epsilon_lower_direct"}}
LAST_MODEL = {"Total variation under attack": {"total variation promised": "distance", "total variation proved": "tv_lower",
                                               "no guarantee: the paper's bound": "paper_delta"}}


def png(width, height):
    """A picture as mfpg audit --inversion writes them: 8-bit grey, here a ramp."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(min(255, 9 * (x + y)) for x in range(width)) for y in range(height))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
                            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")).decode()


def make_inverted(folder):
    """A run with gradient inversion, of two levels and two examples."""
    shutil.copytree(folder / "one", folder / "inverted")
    path = folder / "inverted/audit.json"
    audit, picture, likeness = json.loads(path.read_text()), png(28, 28), {"median": 0.5, "best": 1}
    quality = {"psnr": {"median": 21.5, "best": 40}, "ssim": likeness, "pearson": likeness}
    rows = {"closed_form": [picture] * 2, "optimisation": [picture] * 2}
    found = {"correct": 380, "trials": 400, "rate": 0.95, "lower": 0.9, "cap": 1, "median_rank": 1, "stands": True}
    levels = [{"mu": mu, "mu_replace": mu, "noise_sd": 0.25, "closed_form": quality, "optimisation": quality, "identification": found}
              for mu in ("inf", 1.25)]
    audit["inversion"] = {
        "stands": True, "client": audit["clients"][0]["client"], "unit": audit["promise"]["unit"], "adjacency": audit["promise"]["adjacency"],
        "examples": 2, "batch": 1, "candidates": 100, "chance": {"mean": quality, "other": quality}, "levels": levels,
        "pictures": {"width": 28, "height": 28, "original": [picture] * 2, "mean": picture, "levels": [rows] * 2}}
    path.write_text(json.dumps(audit))


def check_pictures(browser, page):
    """All pictures are decoded, and say what they are, with scripts and without."""
    for scripts in (True, False):
        browser.open(page, scripts=scripts)
        shown = browser.ask("Array.from(document.images, i => [i.complete && i.naturalWidth === 28 && i.offsetWidth > 20, i.alt])")
        # attacks x examples x (original, two levels, mean); without scripts each picture once
        expect(len(shown) == (2 * 2 * 4 if scripts else 2 + 2 * 2 * 2 + 1), f"inverted: {len(shown)} pictures")
        expect(all(whole and alt for whole, alt in shown), "inverted: a picture is not shown, or says nothing of itself")
        expect(not browser.complaints(), f"inverted: {browser.complaints()}")


def make_broken(folder):
    shutil.copytree(folder / "one", folder / "broken")
    path = folder / "broken/audit.json"
    audit = json.loads(path.read_text())
    audit["stands"] = audit["clients"][2]["stands"] = False
    audit["clients"][2]["mu_lower"] = 2 * audit["clients"][2]["mu"]
    path.write_text(json.dumps(audit))


def check_broken(browser, page):
    """A reader cannot miss it: in the first window, in a colour of its own, with scripts and without, in light and dark."""
    for scheme in ("light", "dark"):
        for scripts in (True, False):
            browser.open(page, scheme=scheme, scripts=scripts)
            top, own, paper = browser.ask("""(() => {
              const alarm = document.querySelector('main .broken');
              return [alarm.getBoundingClientRect().top, getComputedStyle(alarm).backgroundColor, getComputedStyle(document.body).backgroundColor];
            })()""")
            expect(0 <= top < 600 and own != paper, f"broken, {scheme}: the promise that is broken is not conspicuous")
            rows = browser.ask("Array.from(document.querySelectorAll('tr.broken'), row => row.cells[0].textContent)")
            expect(rows and set(rows) == {"coast"}, f"broken: marked are {rows}")


def make_hostile(folder):
    shutil.copytree(folder / "one", folder / "hostile")
    path = folder / "hostile/summary.json"
    summary = json.loads(path.read_text())
    summary["name"] = HOSTILE
    for client in summary["clients"]:
        client["name"] = HOSTILE + client["name"]
        client["promise"] = HOSTILE + client["promise"]
    audit = json.loads((folder / "hostile/audit.json").read_text())
    for attacked, client in zip(audit["clients"], summary["clients"]):
        attacked["client"], attacked["route"], attacked["pattern"] = client["name"], HOSTILE, HOSTILE
    (folder / "hostile/audit.json").write_text(json.dumps(audit))
    summary["assumptions"].append(HOSTILE)
    summary.update(metrics="x", rounds_planned=[1], ledger=[3], odometer=7, stop={})  # of other types than a run writes
    summary["game"].update(cost=None, unique={}, exploitability=5, preference_factor=[], social_mean_action="inf")
    path.write_text(json.dumps(summary))


def check_hostile(browser, page):
    for scripts in (True, False):
        browser.open(page, scripts=scripts)
        expect(browser.ask("document.scripts.length") == 3, "hostile: a name became a script")
        expect(browser.ask("document.images.length") == 0, "hostile: a name became an image")
        expect(HOSTILE in browser.ask("document.querySelector('main').textContent"), "hostile: a name is not shown as it is")
        expect(not browser.complaints(), f"hostile: {browser.complaints()}")


# What the pages of those runs say, and do not say.
WORDS = {
    "one": (["Seeded: whoever knows the seed can take the noise off again.", "1: reproducible, and therefore not private",
             "city: someone who sees every update from this client and guesses whether", "No promise was broken: the attack proved ",
             "1000 whole runs with each of 3 patterns of canaries, seed ", "at most one such audit in 100 errs",
             "Certificate: in the limit of many clients, no client can gain anything by changing its own strength alone",
             "The larger a strength is, the more noise its client adds.", "test rows; computed on private data; not covered by any certificate"],
            ["No attack was made", "Broken", "Total variation under attack", "It promises other epsilons"]),
    "none": (["Nothing was promised: method none clips nothing and adds no noise.", "No game was played", "No attack was made. mfpg audit RUN"],
             ["last accuracy", "Certificate"]),
    "many": ([", protected least: someone who sees", ", protected most: someone who sees", "Quantiles of 2000 clients", "200 of 2000 clients, evenly"],
             []),
    "broken": (["An attack has broken a promise of this run. Under attack says what was proved.", "Broken: the promise to coast. mu "],
               ["No promise was broken", "Broken: the promise to city"]),
    "last": (["is refuted: of ", "no guarantee: the paper's bound"], []),
    "inverted": (["Gradient inversion", "in batches of 1; 2 examples, each to be picked out of 100 candidates", "Computed on private data; no certificate covers it.",
                  "Rebuilt by optimisation: examples of the client"], []),
    "stopped": (["It promises other epsilons than this run has spent"], []),
    "several": (["4 runs compared", "Epsilons compare if delta, unit, adjacency and view are the same.", "3 runs, seeds 1 to 3",
                 "The promises are the same in all 3 runs of the sweep.", "selection over several runs on private data: not covered",
                 "The actions are the same in all 3 runs of the sweep.", "Attacks have broken promises of 1 of these 4 runs.",
                 "Of a sweep the line is the mean over its seeds"], ["/shared/data/"]),
    "swept": (["the first of 3 runs that differ in the seed", "20 whole runs"], []),
}


def check_words(browser, folder):
    for name, (said, unsaid) in WORDS.items():
        browser.open(folder / name / "report.html")
        browser.ask("document.querySelectorAll('details').forEach(details => { details.open = true; })")
        page = " ".join(browser.ask("document.body.innerText").split())
        for words in said:
            expect(words in page, f"{name}: the page does not say '{words}'")
        for words in (*unsaid, "undefined", "[object", ": NaN", " NaN proved", "unknown on average"):
            expect(words not in page, f"{name}: the page says '{words}'")


def check_overview(browser, page):
    """Runs side by side fit the window, with rounded numbers; an epsilon is not rounded down."""
    for scripts, table in ((True, "#comparison .scroll"), (False, "figure .scroll")):
        browser.open(page, scripts=scripts)
        wide, room, rows = browser.ask(f"""(() => {{
          const box = document.querySelector('{table}');
          return [box.scrollWidth, box.clientWidth, Array.from(box.querySelectorAll('tr'), row => Array.from(row.cells, c => c.textContent))];
        }})()""")
        runs = browser.ask("JSON.parse(document.getElementById('report.json').textContent).runs.map(run => run.result)")
        expect(wide <= room, f"several runs: the comparison is {wide} wide in a box of {room}")
        for shown, exact in zip(rows[1:], runs):
            found = dict(zip(rows[0], shown))
            for title, key in (("epsilon (nats)", "epsilon"), ("loss", "loss"), ("accuracy (share of rows)", "accuracy")):
                near = len(found[title]) <= 8 and abs(float(found[title]) - exact[key]) <= 1e-4 * max(1, exact[key])
                expect(near, f"several runs: {key} {exact[key]} is shown as {found[title]}")
            expect(float(found["epsilon (nats)"]) >= exact["epsilon"], f"several runs: epsilon {exact['epsilon']} is shown as {found['epsilon (nats)']}")


def check_all(browser, folder):
    check_page(browser, folder / "one/report.html", "one run")
    check_page(browser, folder / "several/report.html", "several runs")
    check_page(browser, folder / "hostile/report.html", "hostile names", READERS[2:])
    check_page(browser, folder / "many/report.html", "many clients", READERS[:1])
    check_page(browser, folder / "broken/report.html", "broken promise")
    check_page(browser, folder / "last/report.html", "last model")
    check_without_scripts(browser, folder / "one/report.html", "one run")
    check_paper(browser, folder / "one/report.html", "one run")
    check_numbers(browser, folder / "one/report.html", folder / "one")
    check_keys(browser, folder / "one/report.html", read(folder / "one/rounds.csv"))
    check_hostile(browser, folder / "hostile/report.html")
    check_attack(browser, folder / "one/report.html", folder / "one", ATTACKED)
    check_attack(browser, folder / "last/report.html", folder / "last", LAST_MODEL)
    check_broken(browser, folder / "broken/report.html")
    check_page(browser, folder / "inverted/report.html", "inverted")
    check_pictures(browser, folder / "inverted/report.html")
    check_without_scripts(browser, folder / "several/report.html", "several runs")
    check_words(browser, folder)
    check_overview(browser, folder / "several/report.html")


def main():
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        print("SKIPPED: there is no Chromium here (Debian: chromium)")
        return
    begin = time.time()
    with tempfile.TemporaryDirectory(prefix="mfpg-browser-") as name:
        folder = pathlib.Path(name)
        mfpg(folder, "run", "clinics", "seed=1", "--out", "one")
        mfpg(folder, "run", "clinics", "seed=1..3", "--out", "sweep")
        mfpg(folder, "run", "clinics", "method=mfep", "seed=1..3", "--out", "mfep")
        mfpg(folder, "run", "clinics", "seed=1", "data.kind=logistic", "data.clients=2000", "data.rows=4", "game.curvature=5",
             "train.rounds=2", "--out", "many")
        mfpg(folder, "audit", "one", "--runs", "1000")
        mfpg(folder, "run", "counterexample", "--out", "last")
        mfpg(folder, "audit", "last", "--runs", "2000")
        make_hostile(folder)
        make_broken(folder)
        make_inverted(folder)
        (folder / "none.yaml").write_text("seed: 1\nmethod: none\ntrain: {rounds: 2}\nevaluate: none\n"
                                          "data: {format: synthetic, clients: 2, rows: 9, dimension: 2}\n")
        mfpg(folder, "run", "none.yaml", "--out", "none")
        shutil.copytree(folder / "sweep", folder / "swept")
        mfpg(folder, "audit", "swept/seed-1", "--runs", "20")
        noised = ("none.yaml", "method=mfep", "noise.action=1", "privacy.unit=example")
        mfpg(folder, "run", *noised, "--out", "stopped")
        mfpg(folder, "audit", *noised, "train.rounds=3", "--runs", "20", "--out", "stopped")
        for run in ("one", "hostile", "many", "broken", "last", "inverted", "none", "swept", "stopped"):
            mfpg(folder, "report", run)
        mfpg(folder, "report", "sweep", "mfep", "one", "broken", "--out", "several")
        browser = Browser(program, folder)
        try:
            browser.attach()
            check_all(browser, folder)
        finally:
            browser.close()
    print(f"pages in a browser: {len(failures)} failures, {time.time() - begin:.0f} s")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
