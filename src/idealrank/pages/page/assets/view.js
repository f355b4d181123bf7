// One query, opened over the page: what it is, what `drawQuery` draws of it, and its values by every measure.

function startView(page) {
  const dialog = document.getElementById("query-view");
  let opener = null;
  let last = null;
  document.getElementById("query-close").addEventListener("click", () => dialog.close());
  document.getElementById("query-before").addEventListener("click", () => stepQuery(page, -1));
  document.getElementById("query-after").addEventListener("click", () => stepQuery(page, 1));
  document.getElementById("query-link").addEventListener("click", (event) => copyText(location.href, event.currentTarget));
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => {
    if (dialog.open) return; // told late: the next query is open already
    if (state.query !== null) setState({ query: null });
    // Where the link is gone, since the table was drawn anew, that of the query last seen takes its place.
    const isThere = opener?.isConnected && opener !== document.body;
    (isThere ? opener : document.querySelector(`#queries [data-query="${last}"]`))?.focus();
  });
  onState((now, before) => {
    if (now.query === null) {
      if (dialog.open) dialog.close();
      return;
    }
    if (!dialog.open) {
      opener = document.activeElement;
      dialog.showModal();
      document.getElementById("query-title").focus({ preventScroll: true });
    }
    last = now.query;
    fillView(page, now);
    if (now.query !== before.query) dialog.scrollTop = 0;
  });
}

function fillView(page, now) {
  const text = page.text(now.query);
  const id = shown(page.queries[now.query]);
  const title = document.getElementById("query-title");
  title.replaceChildren(isolated(text || id));
  const place = page.shown?.indexOf(now.query) ?? -1;
  document.getElementById("query-facts").replaceChildren(queryFacts(page, now, text ? id : "", place));
  enable("query-before", place > 0);
  enable("query-after", place >= 0 && place < page.shown.length - 1);
  const body = document.getElementById("query-body");
  drawQuery(body, page, now);
  const values = document.getElementById("query-values");
  values.hidden = page.measures.length === 1;
  values.lastElementChild.replaceChildren(valuesOfQuery(page, now));
  announce(`${title.textContent}. ${body.querySelector(".query-headline").textContent}`);
}

/** A button that cannot be used gives the focus back, or keys would go nowhere. */
function enable(id, isPossible) {
  const button = document.getElementById(id);
  if (!isPossible && button === document.activeElement) document.getElementById("query-title").focus({ preventScroll: true });
  button.disabled = !isPossible;
}

function queryFacts(page, now, id, place) {
  const slices = page.slicesOf(now.query);
  const among = page.shown?.length ?? 0;
  const where = place < 0 ? "not in the table as it is filtered" : `${(place + 1).toLocaleString("en")} of ${among.toLocaleString("en")}`;
  const facts = [id ? make("span", { class: "id" }, isolated(id)) : "", slices.map(shown).join(", "), where].filter(Boolean);
  return make("p", { class: "quiet" }, ...facts.flatMap((fact, at) => (at ? [" · ", fact] : [fact])));
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
  return make("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": "Values of this query" }, table);
}

function stepQuery(page, step) {
  const next = page.shown?.[page.shown.indexOf(state.query) + step];
  if (next !== undefined) setState({ query: next }, true);
}
