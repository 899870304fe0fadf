"use strict";
/* Draws every chart from the table beneath it, so that a line and a cell cannot differ; without this script the tables
 * stand open. Nothing on the page is made from text: names go into text nodes and canvases only. */
(function () {
  const COLOURS = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7", "--c8"];
  const POINTS = ["circle", "rect", "triangle", "rectRot", "star", "cross"];
  const LONGEST_NAME = 16;
  const charts = [];

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = (text) => (text === "" || text === "inf" || text === "-inf" ? null : Number(text));
  const shorten = (text) => (text.length > LONGEST_NAME ? text.slice(0, LONGEST_NAME - 1) + "\u2026" : text);

  /* The table as columns of texts, each with its role and title. */
  function readTable(table) {
    const columns = Array.from(table.tHead.rows[0].cells, (cell) => ({
      role: cell.dataset.role, title: cell.textContent, texts: [],
    }));
    for (const row of table.tBodies[0].rows)
      columns.forEach((column, i) => column.texts.push(row.cells[i].textContent));
    return columns;
  }

  function addLine(datasets, column, xs, series, few) {
    const name = COLOURS[series % COLOURS.length];
    datasets.push({
      label: column.title, data: column.texts.map((text, i) => ({ x: xs[i], y: number(text) })), colourName: name,
      borderDash: column.role === "dash" ? [5, 4] : [], borderWidth: 2, pointRadius: few && column.role === "line" ? 2.5 : 0,
      pointHitRadius: 8, pointStyle: column.role === "dash" ? "line" : POINTS[series % POINTS.length], spanGaps: true, fill: false,
    });
  }

  /* The range around the line before it: two borders without a line, the second filled down to the first. */
  function addBorder(datasets, column, xs) {
    datasets.push({
      label: column.title, data: column.texts.map((text, i) => ({ x: xs[i], y: number(text) })), band: column.role,
      colourName: datasets[datasets.length - (column.role === "low" ? 1 : 2)].colourName, borderWidth: 0, pointRadius: 0,
      pointHitRadius: 0, spanGaps: true, fill: column.role === "high" ? "-1" : false,
    });
  }

  function lineData(columns) {
    const xs = columns[0].texts.map(number), datasets = [];
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
        label: column.title, data: column.texts.map(number), colourName: COLOURS[i], maxBarThickness: 42, pointStyle: "rect",
      })),
    };
  }

  function scatterData(columns) {
    const x = columns.find((column) => column.role === "x"), y = columns.find((column) => column.role === "point");
    return {
      datasets: [{
        label: y.title, data: x.texts.map((text, i) => ({ x: number(text), y: number(y.texts[i]) })),
        names: columns[0].texts, colourName: COLOURS[0], pointRadius: 5, pointHoverRadius: 7,
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
  function paint(chart) {
    const ink = colour("--ink"), grid = colour("--grid");
    for (const set of chart.data.datasets) {
      const own = colour(set.colourName);
      set.borderColor = own;
      set.backgroundColor = set.band ? own + "33" : own;
    }
    for (const axis of [chart.options.scales.x, chart.options.scales.y]) {
      axis.grid.color = grid;
      axis.ticks.color = ink;
      axis.title.color = ink;
    }
    chart.options.plugins.legend.labels.color = ink;
  }

  function axis(title, type) {
    return { type, title: { display: true, text: title }, grid: {}, ticks: { maxTicksLimit: 8, maxRotation: 60 }, grace: type === "linear" ? "4%" : 0 };
  }

  function options(plot, kind, data) {
    const shown = data.datasets.filter((set) => !set.band).length;
    const x = axis(plot.dataset.x, kind === "bar" ? "category" : "linear");
    const y = axis(plot.dataset.y, plot.dataset.log ? "logarithmic" : "linear");
    if (kind === "line") x.grace = 0;
    if (plot.dataset.x === "round") x.ticks.precision = 0;
    if (kind === "line" && !plot.dataset.log && fromZero(data.datasets)) y.min = 0;
    if (kind === "bar") {
      x.ticks.callback = function (value) { return shorten(this.getLabelForValue(value)); };
      x.ticks.maxTicksLimit = 40;
      y.beginAtZero = true;
      y.grace = 0;
    }
    return {
      animation: false, responsive: true, maintainAspectRatio: false, interaction: { mode: "nearest", intersect: false },
      scales: { x, y },
      plugins: {
        legend: { display: kind !== "scatter" && shown > 1, position: "bottom", labels: { usePointStyle: true, boxHeight: 7, filter: (item, all) => !all.datasets[item.datasetIndex].band } },
        tooltip: { filter: (item) => !item.dataset.band, callbacks: { title: titleOf, label: labelOf } },
      },
    };
  }

  const titleOf = (items) => items.map((item) => (item.dataset.names ? item.dataset.names[item.dataIndex] : item.label)).slice(0, 1);
  const labelOf = (item) => item.dataset.names
    ? "preference " + item.raw.x + ", action " + item.raw.y
    : item.dataset.label + ": " + (typeof item.raw === "number" ? item.raw : item.raw.y);

  /* Left and right walk along a chart, up and down from line to line, for those without a pointer. */
  function listen(canvas, chart, spoken) {
    let set = 0, at = -1;
    canvas.addEventListener("keydown", (event) => {
      const lines = chart.data.datasets.map((_, i) => i).filter((i) => !chart.data.datasets[i].band);
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], turn = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step && !turn) return;
      event.preventDefault();
      if (turn) set = (set + turn + lines.length) % lines.length;
      const points = chart.data.datasets[lines[set]].data;
      at = Math.min(points.length - 1, Math.max(0, at + (step || 0)));
      const active = [{ datasetIndex: lines[set], index: at }];
      chart.setActiveElements(active);
      chart.tooltip.setActiveElements(active, { x: 0, y: 0 });
      chart.update();
      const shown = chart.tooltip.dataPoints;
      spoken.textContent = shown && shown.length ? titleOf(shown)[0] + ": " + labelOf(shown[0]) : "";
    });
  }

  function draw(figure) {
    const plot = figure.querySelector(".plot"), columns = readTable(figure.querySelector("table"));
    const kind = plot.dataset.kind, data = DATA[kind](columns);
    if (!data.datasets.some(hasPoint)) {
      plot.textContent = "Nothing to draw: no finite number.";
      return;
    }
    const canvas = document.createElement("canvas"), spoken = document.createElement("p");
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", figure.querySelector("figcaption").textContent + ", chart of " + plot.dataset.y +
      " against " + plot.dataset.x + "; arrow keys read its points, and its table follows");
    spoken.className = "unseen";
    spoken.setAttribute("aria-live", "polite");
    plot.classList.add("drawn");
    plot.append(canvas, spoken);
    const chart = new Chart(canvas, { type: kind, data, options: options(plot, kind, data) });
    paint(chart);
    chart.update();
    listen(canvas, chart, spoken);
    charts.push(chart);
    figure.querySelector("details").open = false;
  }

  function repaint() {
    for (const chart of charts) {
      paint(chart);
      chart.update();
    }
  }

  document.querySelectorAll("figure.chart").forEach(draw);
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
