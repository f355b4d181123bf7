// One query, opened over the page: its values in every run, and its rankings, which `drawQuery` draws.

function startView(page) {
  const dialog = document.getElementById("query-view");
  let opener = null;
  document.getElementById("query-close").addEventListener("click", () => dialog.close());
  document.getElementById("query-before").addEventListener("click", () => stepQuery(page, -1));
  document.getElementById("query-after").addEventListener("click", () => stepQuery(page, 1));
  document.getElementById("query-link").addEventListener("click", (event) => copyText(location.href, event.currentTarget));
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => {
    if (state.query !== null) setState({ query: null });
    if (opener?.isConnected) opener.focus();
    else if (opener?.dataset?.query) document.querySelector(`#queries [data-query="${CSS.escape(opener.dataset.query)}"]`)?.focus();
  });
  onState((now) => {
    if (now.query === null) {
      if (dialog.open) dialog.close();
      return;
    }
    if (!dialog.open) {
      opener = document.activeElement;
      dialog.showModal();
    }
    fillView(page, now);
  });
}

function fillView(page, now) {
  const text = page.text(now.query);
  const id = shown(page.queries[now.query]);
  document.getElementById("query-title").replaceChildren(isolated(text || id));
  document.getElementById("query-facts").replaceChildren(queryFacts(page, now, text ? id : ""));
  document.querySelector("#query-values > div").replaceChildren(valuesOfQuery(page, now));
  const place = page.shown?.indexOf(now.query) ?? -1;
  document.getElementById("query-before").disabled = place <= 0;
  document.getElementById("query-after").disabled = place < 0 || place >= page.shown.length - 1;
  drawQuery(document.getElementById("query-body"), page, now);
}

function queryFacts(page, now, id) {
  const slices = page.slicesOf(now.query);
  return make("p", { class: "quiet" }, id ? make("span", { class: "id" }, isolated(id)) : "", slices.length ? `${id ? " · " : ""}${slices.map(shown).join(", ")}` : "");
}

/** Measures as rows, runs as columns; the chosen pair first, with its difference. */
function valuesOfQuery(page, now) {
  const paired = now.a !== now.b;
  const runs = [...(paired ? [now.a, now.b] : [now.a]), ...page.runs.map((_, run) => run).filter((run) => run !== now.a && run !== now.b)];
  const head = runs.map((run) => make("th", { scope: "col" }, isolated(page.runs[run])));
  if (paired) head.splice(2, 0, make("th", { scope: "col" }, "difference"));
  const rows = page.measures.map((measure, m) => {
    const cells = runs.map((run) => numberCell(page.value(m, run, now.query)));
    if (paired) cells.splice(2, 0, differenceCell(page, { ...now, measure: m }, now.query));
    return make("tr", {}, make("th", { scope: "row" }, shown(measure.text)), ...cells);
  });
  const table = make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "text" }, "measure"), ...head)), make("tbody", {}, ...rows));
  return make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Values of this query" }, table);
}

function stepQuery(page, step) {
  const next = page.shown?.[page.shown.indexOf(state.query) + step];
  if (next !== undefined) setState({ query: next }, true);
}
