// What stands around a plot: what the pointer is on, files to take along, and the same numbers as a table.

const PLOT_LINES = 300; // of a table; a file has all
const PLOT_TYPES = { svg: "image/svg+xml", csv: "text/csv;charset=utf-8" };

/** Draws what the pointer is on; everything as text, never as HTML. Names of runs come in here alone: as titles of a specification they
 *  would become part of an expression, which a backslash in them breaks. */
function plotTip(plot) {
  return (handler, event, item, value) => {
    const tip = plotTipElement();
    if (value === null || value === undefined || value === "") {
      tip.hidden = true;
      return;
    }
    const { a, b } = plot.content.words;
    const runs = new Map([["a", a], ["b", b], ...plot.content.rows.map((row) => [row.line, row.run])]);
    const told = Object.entries(value).filter(([name, said]) => said !== "" && !(/^r\d+$/.test(name) && !runs.has(name)));
    const lines = told.map(([name, said]) => make("div", {}, make("span", { class: "quiet" }, `${runs.get(name) ?? name} `), shown(String(said))));
    const query = item?.datum?.query;
    const text = Number.isInteger(query) ? plot.page.text(query) : "";
    if (text) lines.unshift(make("div", { class: "plot-tip-text" }, isolated(text)));
    tip.replaceChildren(...lines);
    tip.hidden = false;
    placePlotTip(tip, event);
  };
}

function plotTipElement() {
  const found = document.getElementById("plot-tip");
  if (found) return found;
  const tip = make("div", { id: "plot-tip", "aria-hidden": "true", hidden: true });
  document.body.append(tip);
  return tip;
}

/** Beside the pointer, and inside the window. */
function placePlotTip(tip, event) {
  const { width, height } = tip.getBoundingClientRect();
  const right = event.clientX + 14 + width > innerWidth;
  const left = right ? event.clientX - 14 - width : event.clientX + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 12, innerHeight - height - 4))}px`;
}

/** What a plot offers to take along, and the table behind it, which follows the measure and the pair. */
function startPlotTools(plot) {
  const heading = plot.figure.parentElement.querySelector("h2, h3")?.textContent ?? plot.name;
  offerDownload("Plots", heading, ["svg", "png", "csv"].map((kind) => [kind.toUpperCase(), () => savePlot(plot, kind)]));
  plot.figure.after(make("button", { type: "button", class: "take-along", "aria-haspopup": "dialog", "aria-label": `Download ${heading}`, onclick: () => openDownloads(heading) }, "Download"));
  const details = plot.figure.parentElement.querySelector("details");
  if (!details) return;
  const written = details.querySelector("table") ? [...details.children] : null;
  const fill = () => {
    if (!details.open || plot.stale) return;
    if (written && plotIsUsual(plot.page)) details.replaceChildren(...written);
    else details.replaceChildren(details.firstElementChild, plotTable(plot, heading));
  };
  details.addEventListener("toggle", () => (plot.stale ? plot.refresh() : fill()));
  plot.figure.addEventListener("plotdrawn", fill);
}

/** Whether the measure and the pair are those that the page was written for, with tables of its own. */
function plotIsUsual(page) {
  const [a, b] = page.pairs[0] ?? [0, 0];
  return state.measure === 0 && state.a === a && state.b === b;
}

/** Titles of the columns, with the names of the runs. */
function plotTitles(plot) {
  return Object.entries(PLOTS[plot.name].columns).map(([key, title]) => [key, String(plotFilled(title, plot.content.words))]);
}

function plotTable(plot, heading) {
  const titles = plotTitles(plot);
  const rows = plot.content.rows.filter((row) => !row.heading);
  const numeric = new Set(titles.map(([key]) => key).filter((key) => rows.some((row) => typeof row[key] === "number")));
  const left = (key) => (numeric.has(key) ? null : "text");
  const cell = (row, key, first) => make(first ? "th" : "td", { class: left(key), scope: first ? "row" : null }, ...plotNamed(plot, row, key));
  const lines = rows.slice(0, PLOT_LINES).map((row) => make("tr", {}, ...titles.map(([key], place) => cell(row, key, place === 0))));
  const head = make("tr", {}, ...titles.map(([key, title]) => make("th", { scope: "col", class: left(key) }, isolated(title))));
  const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...lines));
  const more = rows.length > PLOT_LINES ? make("p", { class: "quiet" }, `The first ${PLOT_LINES} of ${plotCount(rows.length)}; CSV has all.`) : "";
  return make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": `${heading} as a table` }, table, more);
}

/** What a cell says; a query by its text where there is one, with its id behind. */
function plotNamed(plot, row, key) {
  const text = key === "which" ? plot.page.text(row.query) : "";
  return text ? [isolated(text), " ", make("span", { class: "id" }, isolated(row.which))] : [isolated(plotCell(row[key]))];
}

function plotCell(value) {
  if (typeof value !== "number") return shown(String(value ?? "–"));
  const text = Number.isInteger(value) ? plotCount(value) : value.toFixed(4);
  return text.replace("-", "−");
}

function plotCsv(plot) {
  const titles = plotTitles(plot);
  const rows = plot.content.rows.filter((row) => !row.heading);
  const lines = [titles.map(([, title]) => title), ...rows.map((row) => titles.map(([key]) => String(row[key] ?? "")))];
  return lines.map((cells) => cells.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

/** A file of the plot as it is now: in the colours of paper, as wide as two columns. */
async function savePlot(plot, kind) {
  if (plot.stale) await plot.refresh();
  const { words, rows } = plot.content;
  const name = `${plot.name}-${words.measure}`.replace(/[^\w@.,=()+-]+/g, "-");
  if (kind === "csv") return download(`${name}.csv`, plotCsv(plot), PLOT_TYPES.csv);
  if (!rows.length) return null;
  const embed = await loadVega();
  const spec = plotSpec(plot.page.specs[plot.name], rows, { ...words, ...plot.page.paper }, 813);
  const { view } = await embed(make("div"), spec, { renderer: "none", ast: true, actions: false, defaultStyle: false, mode: "vega-lite" });
  if (kind === "svg") download(`${name}.svg`, await view.toSVG(), PLOT_TYPES.svg);
  else (await view.toCanvas(2)).toBlob((picture) => download(`${name}.png`, picture, "image/png"));
  return view.finalize();
}
