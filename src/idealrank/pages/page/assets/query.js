// The view of one query: what changed, why, what each run returned for it, and what both missed.

const QUERY_DEPTH = 10; // ranks shown of a list whose measure has no cutoff
const QUERY_TITLE = 60; // letters of a document's text in a sentence
const queryMemory = { runs: [], isDeep: false, hasTexts: false, grades: null }; // what the reader chose, kept from query to query

/** Draws the query that the state names into an element, in the place of what was there. */
function drawQuery(element, page, state) {
  const view = queryView(page, state);
  const parts = view.lists ? queryParts(view, () => queryRedraw(element, page, state)) : [queryNoLists(view)];
  element.classList.add("query-view");
  element.classList.toggle("query-whole-texts", queryMemory.hasTexts);
  element.replaceChildren(queryHeadline(view), ...parts.filter(Boolean));
  wireQueryPointing(element);
  const rankings = element.querySelector(".query-rankings");
  if (rankings) wireQueryRankings(rankings);
}

/** Draws it again after a choice within; the control that was used keeps the focus. */
function queryRedraw(element, page, state) {
  const kept = document.activeElement?.dataset.keep;
  drawQuery(element, page, state);
  if (kept) element.querySelector(`[data-keep="${kept}"]`)?.focus({ preventScroll: true });
}

/** All that the parts of the view need to know. */
function queryView(page, state) {
  const { query, a, b } = state;
  const pair = a === b ? [a] : [a, b];
  const runs = [...pair, ...queryMemory.runs.filter((run) => !pair.includes(run) && run < page.runs.length)];
  const lists = page.lists[query] ?? null;
  const measure = page.measures[state.measure];
  const cutoff = measure.cutoff ?? null;
  const listings = lists ? runs.map((run) => lists.runs[run]).filter(Boolean) : [];
  const deepest = Math.max(0, ...listings.map((listing) => listing.d.length));
  const first = Math.min(cutoff ?? QUERY_DEPTH, deepest);
  const depth = queryMemory.isDeep ? deepest : first;
  // Contributions belong to the first measure; the page has no others.
  const hasAdds = state.measure === 0 && listings.some((listing) => listing.a?.some((adds) => adds !== null));
  const most = Math.max(1e-12, ...listings.flatMap((listing) => (listing.a ?? []).map((adds) => Math.abs(adds ?? 0))));
  queryMemory.grades ??= queryGrades(page);
  return { page, state, query, pair, runs, lists, measure, cutoff, deepest, first, depth, hasAdds, most, grades: queryMemory.grades };
}

/** "nDCG@10 fell from 0.7039 to 0.2346", with the difference. */
function queryHeadline(view) {
  const { page, pair } = view;
  const measure = shown(view.measure.text);
  const values = pair.map((run) => page.value(view.state.measure, run, view.query));
  const names = make("span", { class: "quiet" }, ...pair.flatMap((run, at) => [at ? " \u2192 " : "", isolated(page.runs[run])]));
  const line = (strong, ...others) => make("p", { class: "query-headline" }, make("strong", {}, strong), " ", ...others, " ", names);
  const [a, b] = values;
  if (values.some(Number.isNaN)) return line(measure, values.map(queryValue).join(" \u2192 "));
  if (pair.length === 1) return line(`${measure} is ${queryNumber(a)}`);
  if (queryNumber(a) === queryNumber(b)) return line(`${measure} is ${queryNumber(a)} in both`);
  return line(`${measure} ${b < a ? "fell" : "rose"} from ${queryNumber(a)} to ${queryNumber(b)}`, queryAmount(view, b - a));
}

/** A difference in the colour of better or worse, by the direction of the measure. */
function queryAmount(view, difference) {
  const isWorse = difference * (view.measure.direction || 1) < 0;
  return make("span", { class: "query-amount", "data-tone": isWorse ? "worse" : "better" }, queryNumber(difference, true));
}

/** The causes in words, the runs to choose from, the rankings, what was missed, and the commands. */
function queryParts(view, redraw) {
  return [
    queryWhy(view),
    queryRunChoice(view, redraw),
    queryRankingsSection(view, redraw),
    queryMissedSection(view),
    queryCommandSection(view.page, view.state),
  ];
}

/** Sentences on the cause; documents in them are marked with those in the rankings. */
function queryWhy(view) {
  if (view.pair.length < 2) return null;
  const { page, pair, lists } = view;
  const sentences = queryWords({
    runs: pair.map((run) => shown(page.runs[run])),
    values: pair.map((run) => page.value(view.state.measure, run, view.query)),
    lists: pair.map((run) => lists.runs[run]),
    relevant: lists.relevant,
    cutoff: view.cutoff,
    hasAdds: view.hasAdds,
  });
  const piece = (part) => {
    if (typeof part === "string") return part;
    if ("amount" in part) return queryAmount(view, part.amount);
    return queryNamed(page, part.document);
  };
  return make("div", { class: "query-why" }, ...sentences.map((sentence) => make("p", {}, ...sentence.map(piece))));
}

/** A document in a sentence: the beginning of its text where there is one, and its id. */
function queryNamed(page, document) {
  const id = make("bdi", {}, ...queryBreakable(page.documents[document]));
  const [text] = queryLines(page.documentText(document)).split(/\n|(?<=[.!?])\s/);
  if (!text) return make("b", { "data-document": document }, id);
  const title = text.length <= QUERY_TITLE ? text : `${text.slice(0, QUERY_TITLE - 1)}…`;
  return make("span", { "data-document": document }, make("b", {}, make("bdi", {}, title)), " ", make("span", { class: "id" }, id));
}

/** Every run with its value, to be shown beside the pair or not; nothing where there is no other. */
function queryRunChoice(view, redraw) {
  const { page, pair } = view;
  if (page.runs.length <= pair.length) return null;
  const choice = (name, run) => {
    const change = (event) => {
      queryMemory.runs = event.target.checked ? [...queryMemory.runs, run] : queryMemory.runs.filter((each) => each !== run);
      redraw();
    };
    const attributes = { type: "checkbox", checked: view.runs.includes(run), disabled: pair.includes(run), "data-keep": `run-${run}` };
    const value = make("span", { class: "quiet" }, queryValue(page.value(view.state.measure, run, view.query)));
    return make("label", {}, make("input", { ...attributes, onchange: change }), isolated(name), value);
  };
  const legend = make("legend", {}, `Runs side by side, with their ${shown(view.measure.text)}`);
  return make("fieldset", { class: "query-runs" }, legend, ...page.runs.map(choice));
}

/** The rankings with their legend, and the buttons that show more of them. */
function queryRankingsSection(view, redraw) {
  const tables = queryLists(view).map((column) => queryRanking(view, column));
  const lines = querySvg("svg", { class: "query-lines", "aria-hidden": "true" });
  const rankings = make("div", { class: "query-rankings", oncopy: (event) => queryCopied(event, view.page) }, lines, ...tables);
  const scroller = make("div", { class: `query-scroller${view.runs.length > 2 ? " query-many" : ""}` }, rankings);
  // A run between two others has the marks of moves on both sides.
  const widths = view.runs.map((_, at) => (at && at < view.runs.length - 1 ? "minmax(36rem, 1.2fr)" : "minmax(29rem, 1fr)"));
  scroller.style.setProperty("--columns", widths.join(" "));
  return make("section", { class: "query-lists" }, make("h3", {}, view.runs.length > 1 ? "Rankings" : "Ranking"), queryLegend(view), scroller, queryDeeper(view, redraw));
}

/** What colours, hatching and lines mean. */
function queryLegend(view) {
  const squares = view.grades.map((grade) => queryGradeSquare(grade, view.grades));
  const key = (...parts) => make("span", { class: "query-key" }, ...parts);
  const line = (move, text) => key(make("i", { class: `query-stroke query-${move}` }), text);
  const isTied = view.runs.some((run) => view.lists.runs[run]?.t?.slice(0, view.depth).includes(1));
  const isUnjudged = view.runs.some((run) => view.lists.runs[run]?.g.slice(0, view.depth).includes(null));
  return make(
    "p",
    { class: "query-legend quiet" },
    key("grade", ...squares),
    isUnjudged ? key(make("span", { class: "query-grade query-unjudged" }), "unjudged") : null,
    ...(view.runs.length > 1 ? [line("up", "moved up"), line("down", "moved down"), line("same", "same rank")] : []),
    isTied ? key("= tied score") : null,
  );
}

/** Buttons: ranks below those that count, and whole texts. */
function queryDeeper(view, redraw) {
  const toggle = (name, label) => {
    const change = () => {
      queryMemory[name] = !queryMemory[name];
      redraw();
    };
    return make("button", { type: "button", "data-keep": name, "aria-pressed": String(queryMemory[name]), onclick: change }, label);
  };
  const deeper = view.deepest > view.first ? toggle("isDeep", `Ranks ${view.first + 1} to ${view.deepest}`) : null;
  const texts = Object.keys(view.page.documentTexts).length ? toggle("hasTexts", "Whole texts") : null;
  const keys = view.runs.length > 1 ? "Arrow keys lead from row to row and to the same document beside it" : "Arrow keys lead from row to row";
  const hint = make("span", { class: "query-hint quiet" }, `${keys}${texts ? "; Enter shows its whole text" : ""}; copying copies its id.`);
  return make("p", { class: "query-deeper" }, deeper, texts, hint);
}

/** Where the page has no room for the rankings of this query: that it is so, and how to see them. */
function queryNoLists(view) {
  const { page } = view;
  const kept = Object.keys(page.lists).length;
  const number = (count) => count.toLocaleString("en");
  const why = kept
    ? `This page keeps the rankings of ${number(kept)} of ${number(page.queries.length)} queries, and this one is not among them. These commands show its rankings.`
    : "This page keeps no rankings. These commands show them.";
  return queryCommandSection(page, view.state, make("p", {}, why));
}
