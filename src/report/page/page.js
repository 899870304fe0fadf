"use strict";
/* Renders report.json, which the page carries, in the place of the tables for readers without scripts. Nothing on the page is made from
 * text: names go into text nodes and canvases only. If anything fails, the tables stay. */
(function () {
  const COLOURS = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7", "--c8"];
  const POINTS = ["circle", "rect", "triangle", "rectRot", "star", "cross"];
  const LONGEST_NAME = 16, IN_WORDS = 24;

  /* Controls mean nothing here, be they a terminal's or a printer's. */
  const visible = (key, value) => (typeof value === "string" ? value.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "\ufffd") : value);
  const report = JSON.parse(document.getElementById("report.json").textContent, visible);
  const several = report.runs.length > 1;

  /* ---- values: those of files may be of any type ---- */

  const at = (object, path) => path.split(".").reduce((value, key) => (value === null || value === undefined ? undefined : value[key]), object);
  const text = (object, path, other = "unknown") => (typeof at(object, path) === "string" ? at(object, path) : other);
  const list = (object, path) => (Array.isArray(at(object, path)) ? at(object, path) : []);
  const key = (run, path) => (run.configuration[0].rows.find((row) => row[0] === path) || ["", ""])[1];

  function toNumber(value) {
    if (value === "inf") return Infinity;
    return typeof value === "number" || (typeof value === "string" && value !== "") ? Number(value) : NaN;
  }
  const number = (object, path) => toNumber(at(object, path));
  const isThere = (object, path) => !Number.isNaN(number(object, path));

  /* As the program writes it: inf, 1e-05. */
  function plain(value) {
    if (value === Infinity) return "inf";
    const words = Math.abs(value) < 1e-4 && value !== 0 ? value.toExponential() : String(value);
    return words.replace(/e([-+])(\d)$/, "e$10$2");
  }
  const digits = (value, count = 6) => plain(Number.isFinite(value) ? Number(value.toPrecision(count)) : value);

  /* ---- elements ---- */

  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== false && child !== undefined));
    return element;
  }
  const own = (words) => make("bdi", {}, words); /* a text of the run's files, whose direction is its own */
  const strong = (...words) => make("strong", {}, ...words);
  const paragraph = (kind, ...words) => make("p", kind ? { class: kind } : {}, ...words);
  const note = (...words) => paragraph("note", ...words);
  const warning = (...words) => paragraph("warning", ...words);

  /* Terms and what is said of them; what is null is left out. */
  const facts = (pairs) => make("dl", { class: "facts" }, pairs.map((pair) =>
    pair && make("div", {}, make("dt", {}, pair[0]), make("dd", {}, own(pair[1])))));
  const statements = (pairs) => make("ul", { class: "words" }, pairs.map((pair) =>
    pair && make("li", {}, strong(pair[0], ":"), " ", own(pair[1]), ".")));

  function table(chart, attributes = {}) {
    const head = chart.columns.map((column) => make("th", { scope: "col" }, own(column.title)));
    const rows = chart.rows.map((row, i) => make("tr", chart.broken.includes(i) ? { class: "broken" } : {},
      row.map((words, k) => (k === 0 ? make("th", { scope: "row" }, own(words)) : make("td", {}, own(words))))));
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table: " + chart.title },
      make("table", attributes, chart.kind === "table" ? make("caption", {}, chart.title) : null,
        make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows)));
  }

  /* ---- charts ---- */

  const undrawn = [], drawn = [];
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const finite = (words) => (Number.isFinite(toNumber(words)) ? toNumber(words) : null);
  const shorten = (words) => (words.length > LONGEST_NAME ? words.slice(0, LONGEST_NAME - 1) + "\u2026" : words);

  function figure(chart) {
    const plot = make("div", { class: "plot" });
    undrawn.push({ chart, plot });
    return make("figure", { class: "chart", id: "chart-" + undrawn.length }, make("figcaption", {}, chart.title), plot,
      chart.notes.map((words) => note(words)), make("details", {}, make("summary", {}, "Table: " + chart.title), table(chart)));
  }
  const figures = (charts) => make("div", { class: charts.length > 1 ? "charts" : "" }, charts.map(figure));

  const points = (column, xs) => column.texts.map((words, i) => ({ x: xs[i], y: finite(words) }));

  function addLine(datasets, column, xs, series, few) {
    const name = COLOURS[series % COLOURS.length], dash = column.role === "dash";
    datasets.push({
      label: column.title, data: points(column, xs), colourName: name, borderDash: dash ? [5, 4] : [], borderWidth: 2,
      pointRadius: few && !dash ? 2.5 : 0, pointHitRadius: 8, pointStyle: dash ? "line" : POINTS[series % POINTS.length],
      spanGaps: true, fill: false,
    });
  }

  /* The range around the line before it: two borders without a line, the second filled down to the first. */
  function addBorder(datasets, column, xs) {
    datasets.push({
      label: column.title, data: points(column, xs), band: column.role, borderWidth: 0, pointRadius: 0, pointHitRadius: 0,
      colourName: datasets[datasets.length - (column.role === "low" ? 1 : 2)].colourName, spanGaps: true,
      fill: column.role === "high" ? "-1" : false,
    });
  }

  function lineData(columns) {
    const xs = columns[0].texts.map(finite), datasets = [];
    const series = { line: 0, dash: 0 }; /* a run has one colour for both */
    for (const column of columns) {
      if (column.role in series) addLine(datasets, column, xs, series[column.role]++, xs.length <= 40);
      else if (column.role === "low" || column.role === "high") addBorder(datasets, column, xs);
    }
    return { datasets };
  }

  function barData(columns) {
    return {
      labels: columns[0].texts,
      datasets: columns.filter((column) => column.role === "bar").map((column, i) => ({
        label: column.title, data: column.texts.map(finite), colourName: COLOURS[i], maxBarThickness: 42, pointStyle: "rect",
      })),
    };
  }

  function scatterData(columns) {
    const x = columns.find((column) => column.role === "x"), y = columns.find((column) => column.role === "point");
    return {
      datasets: [{
        label: y.title, data: points(y, x.texts.map(finite)), names: columns[0].texts, colourName: COLOURS[0], pointRadius: 5, pointHoverRadius: 7,
      }],
    };
  }

  const DATA = { line: lineData, bar: barData, scatter: scatterData };
  const hasPoint = (set) => set.data.some((point) => point !== null && (typeof point === "number" || (point.x !== null && point.y !== null)));

  /* Lines that are all but level would be shown around a number of their own making; others near 0 below it. */
  function fromZero(datasets) {
    const values = datasets.flatMap((set) => set.data.map((point) => point.y)).filter((value) => value !== null);
    const least = Math.min(...values), most = Math.max(...values), range = most - least;
    return least >= 0 && (range < 0.05 * most || least < 0.25 * range);
  }

  /* Colours of the scheme in force; a printed page is light. */
  function paint(picture) {
    const ink = colour("--ink"), grid = colour("--grid");
    for (const set of picture.data.datasets) {
      const shade = colour(set.colourName);
      set.borderColor = shade;
      set.backgroundColor = set.band ? shade + "33" : shade;
    }
    for (const axis of [picture.options.scales.x, picture.options.scales.y]) {
      axis.grid.color = grid;
      axis.ticks.color = ink;
      axis.title.color = ink;
    }
    picture.options.plugins.legend.labels.color = ink;
  }

  function axis(title, type) {
    const ticks = { maxTicksLimit: 8, maxRotation: 60 };
    return { type, title: { display: true, text: title }, grid: {}, ticks, grace: type === "linear" ? "4%" : 0 };
  }

  function options(chart, data) {
    const shown = data.datasets.filter((set) => !set.band).length, kind = chart.kind;
    const x = axis(chart.x, kind === "bar" ? "category" : "linear"), y = axis(chart.y, chart.log ? "logarithmic" : "linear");
    if (kind === "line") x.grace = 0;
    if (chart.x === "round") x.ticks.precision = 0;
    if (kind === "line" && !chart.log && fromZero(data.datasets)) y.min = 0;
    if (kind === "bar") {
      x.ticks.callback = function (value) { return shorten(this.getLabelForValue(value)); };
      x.ticks.maxTicksLimit = 40;
      y.beginAtZero = true;
      y.grace = 0;
    }
    const labels = { usePointStyle: true, boxHeight: 7, filter: (item, all) => !all.datasets[item.datasetIndex].band };
    return {
      animation: false, responsive: true, maintainAspectRatio: false, interaction: { mode: "nearest", intersect: false },
      scales: { x, y },
      plugins: {
        legend: { display: kind !== "scatter" && shown > 1, position: "bottom", labels },
        tooltip: { filter: (item) => !item.dataset.band, callbacks: { title: titleOf, label: labelOf } },
      },
    };
  }

  const titleOf = (items) => items.map((item) => (item.dataset.names ? item.dataset.names[item.dataIndex] : item.label)).slice(0, 1);
  const labelOf = (item) => item.dataset.names
    ? "preference " + item.raw.x + ", action " + item.raw.y
    : item.dataset.label + ": " + (typeof item.raw === "number" ? item.raw : item.raw.y);

  /* Left and right walk along a chart, up and down from line to line, for those without a pointer. */
  function listen(canvas, picture, spoken) {
    let set = 0, place = -1;
    canvas.addEventListener("keydown", (event) => {
      const lines = picture.data.datasets.map((_, i) => i).filter((i) => !picture.data.datasets[i].band);
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], turn = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step && !turn) return;
      event.preventDefault();
      if (turn) set = (set + turn + lines.length) % lines.length;
      place = Math.min(picture.data.datasets[lines[set]].data.length - 1, Math.max(0, place + (step || 0)));
      const active = [{ datasetIndex: lines[set], index: place }];
      picture.setActiveElements(active);
      picture.tooltip.setActiveElements(active, { x: 0, y: 0 });
      picture.update();
      const shown = picture.tooltip.dataPoints;
      spoken.textContent = shown && shown.length ? titleOf(shown)[0] + ": " + labelOf(shown[0]) : "";
    });
  }

  function draw({ chart, plot }) {
    const columns = chart.columns.map((column, i) => ({ role: column.role, title: column.title, texts: chart.rows.map((row) => row[i]) }));
    const data = DATA[chart.kind](columns);
    if (!data.datasets.some(hasPoint)) {
      plot.textContent = "Nothing to draw: no finite number.";
      return;
    }
    const canvas = make("canvas", {
      tabindex: "0", role: "img",
      "aria-label": chart.title + ", chart of " + chart.y + " against " + chart.x + "; arrow keys read its points, and its table follows",
    });
    const spoken = make("p", { class: "unseen", "aria-live": "polite" });
    plot.classList.add("drawn");
    plot.append(canvas, spoken);
    const picture = new Chart(canvas, { type: chart.kind, data, options: options(chart, data) });
    paint(picture);
    picture.update();
    listen(canvas, picture, spoken);
    drawn.push(picture);
  }

  /* ---- what was promised ---- */

  function seeds({ sweep, summary, result }, seed) {
    if (sweep) return ["seeds", `${result.seeds} runs, seeds ${sweep.first} to ${sweep.last}; reproducible, and therefore not private`];
    return ["seed", summary.seeded === true ? `${seed}: reproducible, and therefore not private` : "none: randomness of the operating system"];
  }

  const METRICS = [["loss", "last loss", ""], ["accuracy", "last accuracy", " (share of rows)"],
    ["auc", "last area under the ROC curve", " (0.5 is blind)"],
    ["majority_rate", "majority rate", " (accuracy of always predicting the most frequent class)"]];

  function metrics({ sweep, summary }, evaluate) {
    if (evaluate === "" || evaluate === "none") return [];
    const found = METRICS.filter(([name]) => isThere(summary, "metrics." + name));
    return [["evaluated on", `${evaluate === "train" ? "training" : "test"} rows; ${report.metrics}`],
      ...found.map(([name, term, unit]) => [term, digits(number(summary, "metrics." + name)) + unit + (sweep ? ", first seed" : "")])];
  }

  /* A model that has learnt nothing is shown with what drowned it. */
  function hint(run) {
    const noise = number(run.result, "noise_to_signal"), { summary } = run;
    if (key(run, "evaluate") === "none" || !(number(summary, "metrics.accuracy") <= number(summary, "metrics.majority_rate"))) return null;
    return warning("The model is no better than always predicting the most frequent class.", !Number.isNaN(noise) &&
      ` In the last round the noise of the average was ${digits(noise, 3)} times its signal: more rounds, a larger step, more ` +
      "clients or a larger epsilon give it more to learn from.");
  }

  function about(run) {
    const { summary, result } = run, { method } = summary, chain = text(summary, "ledger.chain", "");
    const interrupted = summary.status === "complete" ? "" : " (interrupted)";
    return facts([["folder", result.folder], ["method", `${method.name} (mechanism ${method.mechanism}, players ${method.players})`],
      ["model", key(run, "task.model")], ["clients", String(result.clients)],
      ["rounds", `${result.rounds} of ${number(summary, "rounds_planned")}${interrupted}`], seeds(run, key(run, "seed")),
      ...metrics(run, key(run, "evaluate")), chain && ["ledger", `${number(summary, "ledger.lines")} lines, ending in ${chain}`],
      ["written by", "mfpg " + summary.mfpg]]);
  }

  /* The promise to everybody; or, of many clients, to those that are protected least and most. */
  function certificates({ clients, result }) {
    const said = (client, role) => [[own(client.name), role], text(client, "promise")];
    if (result.clients <= IN_WORDS) return statements(clients.map((client) => said(client, "")));
    const pick = (better) => clients.reduce((best, client) => (better(toNumber(client.epsilon), toNumber(best.epsilon)) ? client : best));
    const least = pick((a, b) => a > b), most = pick((a, b) => a < b);
    return statements([said(least, ", protected least"), most !== least && said(most, ", protected most")]);
  }

  function promisesOfSweep({ sweep, result }) {
    if (!sweep || result.seeds < 2) return null;
    const same = `The promises are the same in all ${result.seeds} runs of the sweep.`;
    return note(sweep.same_epsilon ? same : ["Shown are the promises of ", own(result.folder),
      `. Over the ${result.seeds} runs of the sweep the largest epsilon of a client is ${sweep.epsilon}, in `, own(sweep.folder), "."],
    ` Every epsilon is that of one run; ${report.selection}.`);
  }

  const MEANINGS = [
    ["unit", "Whose presence is hidden: one row, where a row is one person (example), or everything that a client holds (client)."],
    ["adjacency", "Hidden against what: its contribution is missing (zero-out), or somebody else stands in its place (replace)."],
    ["view", "Who looks: one who sees every update (local), only the sum of each round (average), or only the last model (final)."],
    ["delta", "The probability, at most, of observations that epsilon does not speak of."],
    ["accountant", "Who did the sums. Its epsilon is an upper bound, rounded up."]];

  function meanings({ promise }) {
    const columns = ["word", "here", "the question it answers"].map((title) => ({ title }));
    const rows = MEANINGS.map(([word, question]) => [word, word === "delta" ? plain(number(promise, word)) : text(promise, word), question]);
    return table({ kind: "table", title: "What a promise is made of", broken: [], columns, rows }, { class: "keys" });
  }

  function promises(run) {
    const { summary } = run, name = text(summary, "name", "run"), title = several ? `${run.result.label}: ${name}` : name;
    const begin = [make("h3", {}, own(title)), hint(run), about(run)];
    if (run.promise.length === 0) return [begin, paragraph("", "Nothing was promised: method none clips nothing and adds no noise.")];
    return [begin,
      summary.seeded === true && warning("Seeded: whoever knows the seed can take the noise off again. What follows is what the same run " +
        "promises without a seed."),
      summary.certificate !== true && warning("Not certified: the epsilon of some client is infinite."),
      certificates(run), promisesOfSweep(run), meanings(summary), run.promise.map(figure)];
  }

  /* ---- under attack ---- */

  const PAIRS = [["mu", "mu", "mu_lower"], ["epsilon", "epsilon", "epsilon_lower_direct"], ["total variation", "distance", "tv_lower"],
    ["share of pairs in order", "auc_cap", "auc_lower"], ["mu of one round", "round_mu", "round_mu_lower"],
    ["mu by rows of data", "mu", "input_mu_lower"]];

  /* What was proved of a client that it must not be, each number as it is in the file. */
  function broken(client) {
    const exceeded = PAIRS.filter(([, promised, proved]) => number(client, proved) > number(client, promised))
      .map(([name, promised, proved]) => `${name} ${plain(number(client, proved))} proved, ${plain(number(client, promised))} promised`);
    return paragraph("broken", strong("Broken: the promise to ", own(client.client), "."), " ",
      exceeded.join("; ") || "its entry in audit.json says so", ".");
  }

  /* The range of proved mu over promised mu. */
  function reach({ judged, reach: found }) {
    const promises = judged === 1 ? "The promise was not broken" : "No promise was broken";
    if (!found) return promises + ".";
    if (!(found[1] > 0)) return promises + ": this attack proved nothing of mu.";
    const [least, most] = found.map((share) => Math.floor(100 * share));
    if (least === most) return `${promises}: the attack proved ${least} % of the promised mu.`;
    return `${promises}: the attack proved ${least} % to ${most} % of the promised mu, by client.`;
  }

  function attackInWords({ method, runs, patterns, seed, stopped }) {
    if (method === "one-run") return `one whole run with many canaries, seed ${seed}`;
    if (method === "few-runs") return `${runs} whole runs with many canaries in each${stopped === true ? ", stopped there" : ""}, seed ${seed}`;
    return `${runs} whole runs with ${patterns > 1 ? `each of ${patterns} patterns of ` : ""}canaries, seed ${seed}`;
  }

  function attack({ audit, result, other_epsilons: other, attack: charts }) {
    const { promise, confidence } = audit, fallen = audit.clients.filter((client) => client.stands === false);
    return [fallen.length ? fallen.map(broken) : paragraph("kept", strong(reach(audit))),
      audit.refuted > 0 && warning("The paper's bound of the last model, which is no promise, is refuted: of " +
        `${audit.refuted} of ${audit.judged} clients the attack proved more than it allows.`),
      paragraph("", "The attacker knows the code, everybody else's data and what the view of the promise shows, and guesses which of two " +
        "neighbouring inputs a client had. What is ", make("em", {}, "proved"), " is what the guesses cannot have come by with less privacy " +
        "loss, but by a chance that the confidence leaves. That an attack proved less than was promised is no proof of the promise."),
      result.seeds > 1 && note("Attacked was the configuration of ", own(result.folder),
        `, the first of ${result.seeds} runs that differ in the seed.`),
      other && note("What was attacked is a whole run of this configuration. It promises other epsilons than this run has spent, which are " +
        "above."),
      statements([["The attack", attackInWords(audit)],
        ["Confidence", `${confidence} that everything proved of all clients holds: at most one such audit in ` +
          `${digits(1 / (1 - confidence), 4)} errs. Of one client alone: ${audit.client_confidence}`],
        ["What was attacked", `unit ${promise.unit}, adjacency ${promise.adjacency}, view ${promise.view}, delta ${plain(promise.delta)}`]]),
      figures(charts)];
  }

  function range(inversion, name, term) {
    const of = (end) => digits(number(inversion, `${name}.${end}`), 4);
    return isThere(inversion, name + ".median") && [term, `${of("median")} in the median, from ${of("least")} to ${of("most")}`];
  }

  /* One row an example, from the original to what is left of it. */
  function grid({ pictures, levels }, attack, title) {
    if (!pictures || pictures.levels.some((level) => list(level, attack).length === 0)) return null;
    const mu = levels.map((level) => "mu " + digits(number(level, "mu"), 4));
    const image = (base64, alt) => make("td", {}, make("img", { src: "data:image/png;base64," + base64, alt }));
    const heads = ["example", "original", ...mu, "mean of all"].map((head) => make("th", { scope: "col" }, head));
    const rows = pictures.original.map((original, e) => make("tr", {}, make("th", { scope: "row" }, String(e + 1)),
      image(original, `example ${e + 1} as it is`),
      pictures.levels.map((level, i) => image(level[attack][e], `example ${e + 1} rebuilt at ${mu[i]}`)),
      image(pictures.mean, "the mean of all pictures")));
    const caption = title + ": examples of the client, from the original by falling mu to the mean of all pictures";
    return make("div", { class: "scroll pictures", tabindex: "0", role: "region", "aria-label": "Pictures: " + title },
      make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows)));
  }

  function inversion({ audit: { inversion: found }, inversion: charts }) {
    const count = (name) => plain(number(found, name));
    return [make("h4", {}, "Gradient inversion"),
      found.stands !== true && paragraph("broken", strong("Broken:"), " examples were picked out more often than the promise allows."),
      paragraph("", "What can be rebuilt of a client's examples from the gradient that it sends, clipped and noised, and how often the right " +
        "example is picked out of candidates. Level by level the noise grows, from none to that of the configuration."),
      warning("Computed on private data; no certificate covers it."),
      statements([["What was attacked", `the gradient of one local step of client ${found.client}, in batches of ${count("batch")}; ` +
          `${count("examples")} examples, each to be picked out of ${count("candidates")} candidates`],
        isThere(found, "confidence") && ["Confidence", count("confidence") + " of everything proved"],
        range(found, "gradient_norm", "Norm of an example's gradient, before the clip"),
        range(found, "clip_factor", "What the clip left of it (share)"),
        range(found, "exclusive_rows", "Rows of the first layer that one example alone activates")]),
      figures(charts), grid(found, "closed_form", "Rebuilt in closed form"), grid(found, "optimisation", "Rebuilt by optimisation")];
  }

  function attacks(run) {
    if (run.audit) return [run.audit.clients && attack(run), run.audit.inversion && inversion(run)];
    return [paragraph("", "No attack was made. ", make("code", {}, "mfpg audit RUN"), " attacks what a run promises and writes what it proved " +
      "into the run's folder, from where it comes onto this page.")];
  }

  /* ---- the equilibrium ---- */

  function actionsOfSweep({ sweep, result }) {
    if (!sweep || result.seeds < 2) return null;
    return note(sweep.same_action ? `The actions are the same in all ${result.seeds} runs of the sweep.`
      : ["Shown is ", own(result.folder), `; actions differ between the ${result.seeds} runs of the sweep.`]);
  }

  function games(run) {
    const { summary: { game }, control, result } = run;
    if (run.game.length === 0) return [paragraph("", "No game was played: the configuration sets the noise of all clients.")];
    const found = (path) => digits(number(game, path)), fact = (path, term, words) => isThere(game, path) && [term, words];
    return [typeof game.certificate === "string" && paragraph("", "Certificate: ", own(game.certificate), "."),
      list(game, "warnings").map((words) => warning(own(words), ".")),
      facts([["players", text(game, "players")], ["cost", text(game, "cost")], ["actions chosen", text(game, "update")],
        ["mean action", `${found("mean_action")} (${control}, no unit)`],
        fact("exploitability.max", "exploitability", `${found("exploitability.max")} at most, ${found("exploitability.mean")} on average (in ` +
          `units of a client's cost): what a client gains by changing its own ${control} alone`),
        fact("exploitability_finite.max", "among the clients themselves",
          `${found("exploitability_finite.max")} at most: the same actions played in the game of these ${result.clients} clients`),
        fact("social_mean_action", "had they agreed", `mean ${control} ${found("social_mean_action")} (no unit)`),
        fact("price_of_anarchy", "price of anarchy", found("price_of_anarchy") + " (ratio: cost of all at the equilibrium over the least)"),
        ["unique", typeof game.unique === "boolean" ? (game.unique ? "yes" : "no") : "unknown"],
        game.preference_factor !== 1 && fact("preference_factor", "all preferences times", found("preference_factor") + ", to meet the target epsilon")]),
      actionsOfSweep(run), run.game.map(figure)];
  }

  /* ---- the page ---- */

  function configuration(run) {
    return [table(run.configuration[0], { class: "keys" }), make("details", {},
      make("summary", {}, "The file config.yaml, with the reason of every value that was filled in"), make("pre", { tabindex: "0" }, run.file))];
  }

  const assumptions = (run) => make("ul", {}, list(run.summary, "assumptions").map((words) => make("li", {}, own(words))));

  const section = (id, title, ...parts) =>
    make("section", { id, "aria-labelledby": id + "-title" }, make("h2", { id: id + "-title" }, title), parts);

  /* What a function makes of each run. */
  const each = (part) => report.runs.map((run) =>
    make("section", { class: "run" }, several && part !== promises && make("h3", {}, own(run.result.label)), part(run)));

  const [results, keys] = report.comparison;
  const sections = [
    several && section("comparison", "Comparison", table(results),
      note(`Epsilons compare if delta, unit, adjacency and view are the same. Each is that of its own run; ${report.selection}.`),
      table(keys, { class: "keys" })),
    section("promises", "What was promised", each(promises)),
    section("attacks", "Under attack", each(attacks)),
    section("games", "Equilibrium", each(games)),
    section("rounds", "Round by round", figures(report.rounds)),
    section("configurations", "Configuration", each(configuration)),
    section("assumptions", "Assumptions", paragraph("", "A promise holds if all of these are true."), each(assumptions),
      note("Losses, accuracies and ratios of noise to signal on this page are computed on private data. No certificate covers them: whoever " +
        "publishes this page releases them. Columns whose names begin with ", make("code", {}, "paper_"), " reproduce formulas of the " +
        "paper and guarantee nothing.")),
  ].filter(Boolean);
  const SHORT = { promises: "Promises", rounds: "Rounds" };
  const links = sections.map(({ id, firstChild }) => make("li", {}, make("a", { href: "#" + id }, SHORT[id] || firstChild.textContent)));
  const alarm = report.alarm && paragraph("broken", strong(report.alarm), " ", make("a", { href: "#attacks" }, "Under attack"), " says what was proved.");
  document.querySelector("header").append(make("nav", { "aria-label": "Sections" }, make("ul", {}, links)));
  document.getElementById("main").replaceChildren(...[alarm, ...sections].filter(Boolean));
  undrawn.forEach(draw);

  function repaint() {
    for (const picture of drawn) {
      paint(picture);
      picture.update();
    }
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  matchMedia("print").addEventListener("change", repaint);
  const closed = [];
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details:not([open])").forEach((details) => {
      details.open = true;
      closed.push(details);
    });
    repaint();
  });
  addEventListener("afterprint", () => {
    closed.splice(0).forEach((details) => { details.open = false; });
    repaint();
  });
})();
