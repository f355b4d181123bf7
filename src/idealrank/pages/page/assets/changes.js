// The largest regressions and gains, drawn anew when another pair or measure is chosen.

const CHANGES = 8;

function startChanges(page) {
  const places = [...document.querySelectorAll("[data-changes]")];
  const first = hashOf({ ...state, query: null });
  let drawn = first;
  onState((now) => {
    const asked = `${now.measure} ${now.a} ${now.b}`;
    if (asked === drawn || (drawn === first && isUsual(now))) return;
    drawn = asked;
    for (const place of places) place.replaceChildren(changesTable(page, now, place.dataset.changes));
    sayChosen(page, now);
  });
}

function isUsual(now) {
  const usual = usualState();
  return now.measure === usual.measure && now.a === usual.a && now.b === usual.b;
}

function sayChosen(page, now) {
  for (const place of document.querySelectorAll('[data-said="measure"]')) place.textContent = page.measures[now.measure].text;
  for (const place of document.querySelectorAll('[data-said="pair"]')) {
    place.replaceChildren(isolated(page.runs[now.b]), " against ", isolated(page.runs[now.a]));
  }
}

function changesTable(page, now, kind) {
  const runs = now.a === now.b ? [now.a] : [now.a, now.b];
  const queries = changedQueries(page, now, kind, runs);
  if (!queries.length) return make("p", { class: "quiet" }, kind === "gains" ? "No query gained." : kind === "regressions" ? "No query lost." : "No query counts.");
  const head = [...runs.map((run) => make("th", { scope: "col" }, isolated(page.runs[run]))), ...(runs.length > 1 ? [make("th", { scope: "col" }, "difference")] : [])];
  const rows = queries.map((query) => make("tr", {},
    make("th", { scope: "row" }, ...queryLink(page, now, query)),
    ...runs.map((run) => numberCell(page.value(now.measure, run, query))),
    runs.length > 1 ? differenceCell(page, now, query) : null));
  const label = { regressions: "Largest regressions", gains: "Largest gains", worst: "Worst queries" }[kind];
  const table = make("table", { class: "changes" }, make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "text" }, "query"), ...head)), make("tbody", {}, ...rows));
  return make("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": label }, table);
}

function changedQueries(page, now, kind, runs) {
  const direction = page.measures[now.measure].direction || 1;
  const gainOf = (query) => runs.length > 1 ? page.gain(now.measure, now.a, now.b, query) : page.value(now.measure, now.a, query) * direction;
  const sign = kind === "gains" ? -1 : 1;
  const wanted = (gain) => kind === "worst" ? !Number.isNaN(gain) : sign * gain < 0;
  return page.queries.map((_, query) => [query, gainOf(query)]).filter(([, gain]) => wanted(gain))
    .sort((p, q) => sign * (p[1] - q[1]) || p[0] - q[0]).slice(0, CHANGES).map(([query]) => query);
}
