// Everything begins here. What fails is said on the page: tables and sentences are there without scripts.

const THEMES = ["auto", "dark", "light"];

function startTheme() {
  const button = document.getElementById("theme");
  const set = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    document.dispatchEvent(new CustomEvent("themechange")); // plots take their colours anew
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    const now = document.documentElement.dataset.theme ?? "auto";
    set(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
  });
}

function startCopies() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copyText(button.dataset.copy, button));
  }
}

/** Every table of the page can be taken along, with all its digits; those that fold out can be copied, too. */
function startTables() {
  for (const table of document.querySelectorAll(".table")) {
    const title = table.caption?.textContent ?? "table";
    const name = title.replace(/[^\w@.-]+/g, "-");
    offerDownload("Tables", title, [["CSV", () => download(`${name}.csv`, cellsOf(table, ","), "text/csv")]]);
    if (!table.closest("details")) continue;
    const copy = (event) => copyText(cellsOf(table, "\t"), event.currentTarget);
    table.closest(".scroll").after(make("p", { class: "take" }, make("button", { type: "button", onclick: copy }, "Copy")));
  }
}

/** Rows of a table as text: exact numbers where cells have them, an interval as its two ends. */
function cellsOf(table, separator) {
  const isInterval = [...table.rows[0].cells].map((_, column) => [...table.rows].some((row) => "low" in row.cells[column].dataset));
  const exact = (cell, column) => {
    const text = "value" in cell.dataset ? cell.dataset.value : cell.textContent.trim();
    if (!isInterval[column]) return [text];
    if (cell.closest("thead")) return [`${text} low`, `${text} high`];
    return [cell.dataset.low ?? "", cell.dataset.high ?? ""];
  };
  const write = separator === "," ? csvCell : plainCell;
  const lines = [...table.rows].map((row) => [...row.cells].flatMap(exact).map(write).join(separator));
  return lines.join(separator === "," ? "\r\n" : "\n") + (separator === "," ? "\r\n" : "\n");
}

/** Selects for the measure and, of more than two runs, for the pair. */
function startChoice(page) {
  const form = document.getElementById("choose");
  const numbered = (texts) => texts.map((text, number) => [String(number), shown(text)]);
  const controls = [];
  if (page.measures.length > 1) controls.push(chooser("measure", "measure", numbered(page.measures.map((measure) => measure.text))));
  if (page.runs.length > 2 || (page.pairs.length === 0 && page.runs.length > 1)) {
    controls.push(chooser("b", "run", numbered(page.runs)), chooser("a", "against", numbered(page.runs)));
  }
  if (!controls.length) return;
  form.replaceChildren(...controls);
  form.hidden = false;
  onState((now) => { for (const name of ["measure", "a", "b"]) if (form.elements[name]) form.elements[name].value = String(now[name]); });
}

function chooser(name, text, choices) {
  const options = choices.map(([value, label]) => make("option", { value }, label));
  return labelled(text, make("select", { name, onchange: (event) => choose(name, Number(event.target.value)) }, ...options));
}

/** The same run on both sides says nothing: then the other side takes what this one had. */
function choose(name, value) {
  const other = { a: "b", b: "a" }[name];
  const swapped = other && state[other] === value ? { [other]: state[name] } : {};
  setState({ [name]: value, ...swapped, sheet: 0 });
}

async function start() {
  startTheme();
  startCopies();
  startTables();
  startDownloads();
  const page = await loadPage();
  startState(page);
  startChoice(page);
  startChanges(page);
  startQueries(page, document.getElementById("query-table"));
  startView(page);
  document.documentElement.dataset.ready = "";
  if (typeof drawPlots === "function") await drawPlots(page, state);
}

start().catch((error) => {
  const place = document.getElementById("failed");
  place.textContent = `Plots and the table of all queries could not be drawn: ${error.message}.`;
  place.hidden = false;
  throw error;
});
