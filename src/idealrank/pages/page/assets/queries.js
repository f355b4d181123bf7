// The table of all queries: fifty real rows at a time, so that keyboards, screen readers and the search of the browser know them.

const SHEET = 50;

function startQueries(page, element) {
  const every = page.queries.map((_, query) => query);
  const take = (name, queries) => [
    ["CSV", () => download(`${name}.csv`, csvOf(page, queries()), "text/csv")], ["JSON", () => download(`${name}.json`, jsonOf(page, queries()), "application/json")],
  ];
  offerDownload("Queries", "Queries as the table shows them", take("queries", () => page.shown));
  offerDownload("Queries", "All queries", take("all-queries", () => every));
  const parts = { controls: tableControls(page), count: make("p", { class: "count", "aria-live": "polite" }) };
  parts.table = make("table", { class: "queries" });
  parts.sheets = make("nav", { class: "sheets", "aria-label": "Sheets of the table" });
  const frame = make("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": "All queries" }, parts.table);
  element.replaceChildren(parts.controls, parts.count, frame, parts.sheets);
  let queries = [];
  onState((now, before) => {
    const same = ["measure", "a", "b", "only", "slice", "find", "from", "to", "sort"].every((key) => now[key] === before[key]);
    if (!queries.length || !same) queries = shownQueries(page, now);
    page.shown = queries;
    syncControls(parts.controls, now);
    drawSheet(page, parts, queries, now);
  });
  return element;
}

function tableControls(page) {
  const paired = page.runs.length > 1;
  const about = paired ? "difference" : "value";
  const slices = Object.keys(page.slices);
  const find = make("input", { type: "search", name: "find", autocomplete: "off", spellcheck: "false", oninput: (event) => setState({ find: event.target.value, sheet: 0 }, true) });
  return make("form", { class: "controls", "aria-label": "Filter", onsubmit: (event) => event.preventDefault() },
    labelled("search id and text", find),
    paired || Object.keys(page.lists).length ? labelled("show", onlySelect(page, paired)) : null,
    slices.length ? labelled("slice", selectOf("slice", [["", "all slices"], ...slices.map((name) => [name, shown(name)])])) : null,
    labelled(`${about} from`, rangeInput("from")),
    labelled("to", rangeInput("to")),
    make("button", { type: "button", onclick: () => setState({ only: "", slice: "", find: "", from: null, to: null, sheet: 0 }) }, "Clear"),
    make("span", { class: "right" },
      make("button", { type: "button", onclick: (event) => copyText(tabsOf(page, page.shown), event.currentTarget) }, "Copy rows"),
      make("button", { type: "button", "aria-haspopup": "dialog", onclick: () => openDownloads("Queries as the table shows them") }, "Download")));
}

function onlySelect(page, paired) {
  const offered = Object.entries(ONLY).filter(([key]) => !key || (key === "rankings" ? Object.keys(page.lists).length : paired));
  return selectOf("only", offered);
}

function labelled(text, control) {
  return make("label", {}, make("span", {}, text), control);
}

function selectOf(name, choices) {
  const options = choices.map(([value, text]) => make("option", { value }, text));
  return make("select", { name, onchange: (event) => setState({ [name]: event.target.value, sheet: 0 }) }, ...options);
}

function rangeInput(name) {
  const change = (event) => setState({ [name]: event.target.value === "" ? null : Number(event.target.value), sheet: 0 }, true);
  return make("input", { type: "number", name, step: "any", inputmode: "decimal", oninput: change });
}

/** Controls show what the address says, but never during typing. */
function syncControls(form, now) {
  for (const name of ["find", "only", "slice", "from", "to"]) {
    const control = form.elements[name];
    if (control && control !== document.activeElement) control.value = now[name] ?? "";
  }
}

function drawSheet(page, parts, queries, now) {
  const last = Math.max(0, Math.ceil(queries.length / SHEET) - 1);
  const sheet = Math.min(now.sheet, last);
  const rows = queries.slice(sheet * SHEET, (sheet + 1) * SHEET);
  const total = page.queries.length;
  const said = queries.length === total ? countText(total, "query", "queries") : `${queries.length.toLocaleString("en")} of ${countText(total, "query", "queries")}`;
  if (parts.count.textContent !== said) parts.count.textContent = said;
  const focused = parts.table.contains(document.activeElement) ? document.activeElement.dataset.column : undefined;
  parts.table.replaceChildren(tableHead(page, now), make("tbody", {}, ...rows.map((query) => tableRow(page, now, query))));
  if (focused) parts.table.querySelector(`[data-column="${CSS.escape(focused)}"]`)?.focus();
  parts.sheets.hidden = last === 0;
  parts.sheets.replaceChildren(
    make("button", { type: "button", disabled: sheet === 0, onclick: () => turnSheet(parts, sheet - 1) }, "Previous 50"),
    make("span", { class: "quiet" }, `${sheet * SHEET + (rows.length ? 1 : 0)} to ${sheet * SHEET + rows.length}`),
    make("button", { type: "button", disabled: sheet === last, onclick: () => turnSheet(parts, sheet + 1) }, "Next 50"));
}

function turnSheet(parts, sheet) {
  setState({ sheet });
  parts.table.closest(".scroll").focus({ preventScroll: true });
  parts.controls.scrollIntoView({ block: "start" });
}

/** Columns: query, the chosen pair, its difference, slices, then the other runs. */
function tableColumns(page, now) {
  const paired = now.a !== now.b;
  const others = page.runs.map((_, run) => run).filter((run) => run !== now.a && run !== now.b);
  const run = (number) => ({ key: String(number), title: page.runs[number], cell: (query) => numberCell(page.value(now.measure, number, query)) });
  return [
    run(now.a),
    ...(paired ? [run(now.b), { key: "difference", title: "difference", cell: (query) => differenceCell(page, now, query) }] : []),
    ...(Object.keys(page.slices).length ? [{ key: "slice", title: "slice", text: true, cell: (query) => sliceCell(page, query) }] : []),
    ...others.map(run),
  ];
}

function tableHead(page, now) {
  const columns = [{ key: "query", title: "query", text: true }, ...tableColumns(page, now)];
  return make("thead", {}, make("tr", {}, ...columns.map((column) => headCell(column, now))));
}

function headCell(column, now) {
  const rising = now.sort === column.key;
  const falling = now.sort === `-${column.key}`;
  const next = rising ? `-${column.key}` : column.key;
  const sign = make("span", { class: "sign", "aria-hidden": "true" }, rising ? "▲" : falling ? "▼" : "");
  const button = make("button", { type: "button", "data-column": column.key, onclick: () => setState({ sort: next, sheet: 0 }) }, isolated(column.title), sign);
  return make("th", { scope: "col", class: column.text ? "text" : null, "aria-sort": rising ? "ascending" : falling ? "descending" : "none" }, button);
}

function tableRow(page, now, query) {
  return make("tr", {}, make("th", { scope: "row" }, ...queryLink(page, now, query)), ...tableColumns(page, now).map((column) => column.cell(query)));
}

/** A link that opens a query, with its text where there is one, and its id. */
function queryLink(page, now, query) {
  const text = page.text(query);
  const link = make("a", { href: `#${hashOf({ ...now, query })}`, "data-query": String(query) }, isolated(text || page.queries[query]));
  const id = text ? [" ", make("span", { class: "id" }, isolated(page.queries[query]))] : [];
  const without = Object.keys(page.lists).length && !(query in page.lists) ? [" ", make("span", { class: "id", title: "no rankings on this page" }, "values only")] : [];
  return [link, ...id, ...without];
}

function numberCell(value) {
  return make("td", {}, numberText(value));
}

function differenceCell(page, now, query) {
  const gain = page.gain(now.measure, now.a, now.b, query);
  return make("td", { class: gain > 0 ? "better" : gain < 0 ? "worse" : null }, signedText(page.difference(now.measure, now.a, now.b, query)));
}

function sliceCell(page, query) {
  return make("td", { class: "text" }, isolated(page.slicesOf(query).join(", ")));
}
