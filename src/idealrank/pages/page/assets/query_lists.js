// Rankings of one query side by side: a table a run, a document a row.

const QUERY_SHORT = 24; // characters of an id that need no shortening
const QUERY_SHADES = 5; // of grades; --grade-0 ... --grade-4

/** Text that is read aloud and copied, but not seen. */
function queryAloud(text) {
  return make("span", { class: "unseen" }, text);
}

/** Every grade that the page's rankings hold, from the lowest: the colours are the same for all queries. */
function queryGrades(page) {
  const grades = new Set();
  for (const lists of Object.values(page.lists)) {
    for (const [, grade] of lists.relevant) grades.add(grade);
    for (const listing of lists.runs) for (const grade of listing?.g ?? []) if (grade !== null) grades.add(grade);
  }
  return [...grades].sort((one, other) => one - other);
}

/** Shade of a grade: the grade itself where all are small whole numbers, else by its share of the highest. */
function queryShade(grade, grades) {
  const highest = grades.at(-1) ?? 0;
  const isPlain = highest < QUERY_SHADES && grades.every((each) => Number.isInteger(each));
  const shade = isPlain ? grade : Math.round((grade / highest) * (QUERY_SHADES - 1));
  return Math.min(Math.max(shade, grade > 0 ? 1 : 0), QUERY_SHADES - 1);
}

/** A square of the grade's colour with its number; a hatched one for unjudged documents. */
function queryGradeSquare(grade, grades) {
  if (grade === null) return make("span", { class: "query-grade query-unjudged" }, queryAloud("unjudged"));
  const text = String(grade).replace("-", "\u2212");
  return make("span", { class: "query-grade", "data-shade": queryShade(grade, grades) }, text);
}

/** Characters at the end of an id that are always shown: its last part where that has a fitting length. */
function queryTail(characters) {
  const last = characters.length - 1 - Math.max(...[..."./:#"].map((mark) => characters.lastIndexOf(mark)));
  return last >= 4 && last <= 14 ? last : 10;
}

/** An id that may break after its marks. */
function queryBreakable(id) {
  return shown(id).split(/(?<=[./:#])/u).flatMap((part, at) => (at ? [make("wbr"), part] : [part]));
}

/** An id whose middle gives way where there is no room; hovered or focused, and copied, it is whole. */
function queryId(id) {
  const characters = [...shown(id)];
  const tail = characters.length > QUERY_SHORT ? queryTail(characters) : 0;
  const parts = [make("span", { class: "query-id-head" }, characters.slice(0, characters.length - tail).join(""))];
  if (tail) parts.push(make("span", { class: "query-id-tail" }, characters.slice(-tail).join("")));
  return make("bdi", { class: "query-id" }, make("span", { class: "query-id-whole" }, ...parts));
}

/** A text of several lines; whatever else shows nothing stands as escapes. */
function queryLines(text) {
  return text.split(/\r\n|[\n\r\t]/).map(shown).join("\n");
}

/** A document's text where there is one, and its id, or that it was not kept. */
function queryDocument(page, document) {
  if (document < 0) return [null, make("span", { class: "quiet" }, "not kept")];
  const text = page.documentText(document);
  return [text ? make("span", { class: "query-text", dir: "auto" }, queryLines(text)) : null, queryId(page.documents[document])];
}

/** What a document did between two listings: on a wide page a mark where it entered or left, elsewhere, and aloud, in words. */
function queryMoveMark(change, side) {
  const ranks = [change.from, change.to].map((rank, at) => rank ?? queryUnknown(change.lists[at], change.grade));
  const outside = ranks[side === "was" ? 0 : 1];
  const mark = change.move === "entered" && outside === "none" ? "new" : change.move + (outside && { was: " \u2190 ", now: " \u2192 " }[side] + outside);
  const tone = change.grade > 0 ? { entered: "better", left: "worse", "moved up": "better", "moved down": "worse" }[change.move] : "";
  const words = change.move === "stayed" ? `stayed at ${ranks[1]}` : `${change.move}, ${ranks.map((rank) => rank || "below").join(" \u2192 ")}`;
  return make(
    "span",
    { class: "query-move", "data-tone": tone },
    change.move === { was: "entered", now: "left" }[side] ? make("span", { class: "query-wide", "aria-hidden": "true" }, mark) : null,
    make("span", { class: "query-narrow" }, words),
  );
}

/** In place of a rank that is not listed: "none" where the list lacks the document, nothing where it may stand further down. */
function queryUnknown(listing, grade) {
  return queryOutside(listing, grade) === "not returned" ? "none" : "";
}

/** The cell of a move; empty where there is nothing to compare with. */
function queryMoveCell(changes, document, side) {
  if (!changes) return null;
  const change = changes.get(document);
  return make("td", { class: `query-${side}` }, change ? queryMoveMark(change, side) : "");
}

/** Contribution of a document, as a bar and a number; "unjudged" without a judgment. */
function queryAddsCell(view, listing, at) {
  const adds = listing.a?.[at] ?? null;
  if (listing.g[at] === null) return make("td", { class: "query-adds quiet" }, "unjudged");
  if (!view.hasAdds || adds === null) return make("td", { class: "query-adds" });
  const bar = make("span", { class: "query-bar", "aria-hidden": "true" });
  bar.style.setProperty("--share", Math.min(Math.abs(adds) / view.most, 1));
  const number = make("span", { class: adds ? "" : "quiet" }, adds ? queryNumber(adds) : "0");
  return make("td", { class: "query-adds" }, adds ? bar : null, number);
}

/** One document of one run. */
function queryListRow(view, column, at) {
  const { listing } = column;
  const document = listing.d[at];
  const tied = listing.t?.[at] ? [make("span", { "aria-hidden": "true", title: "tied score" }, "="), queryAloud(" tied")] : [];
  return make(
    "tr",
    { tabindex: "-1", "data-document": document, "data-rank": at + 1, class: at >= (view.cutoff ?? Infinity) ? "query-beyond" : null },
    queryMoveCell(column.was, document, "was"),
    make("td", { class: "query-rank" }, String(at + 1), ...tied),
    make("td", { class: "query-grade-cell" }, queryGradeSquare(listing.g[at], view.grades)),
    make("td", { class: "query-document" }, ...queryDocument(view.page, document)),
    queryAddsCell(view, listing, at),
    queryMoveCell(column.now, document, "now"),
  );
}

/** Heads of the columns; those that explain themselves are only read aloud. */
function queryListHead(view, column) {
  const cell = (name, text) => make("th", { scope: "col", class: `query-${name}` }, text);
  return make(
    "tr",
    {},
    column.was ? cell("was", queryAloud(`from ${shown(column.before)}`)) : null,
    cell("rank", queryAloud("rank")),
    cell("grade-cell", queryAloud("grade")),
    cell("document", "document"),
    cell("adds", view.hasAdds ? "adds" : queryAloud("judged")),
    column.now ? cell("now", queryAloud(`to ${shown(column.after)}`)) : null,
  );
}

/** The sum of the column, and what ranks that are not shown add. */
function queryListFoot(view, column) {
  const { listing, value } = column;
  if (!view.hasAdds || !listing?.a) return null;
  const sum = listing.a.slice(0, view.depth).reduce((total, adds) => total + (adds ?? 0), 0);
  const line = (label, amount) =>
    make(
      "tr",
      {},
      column.was ? make("td") : null,
      make("th", { scope: "row", colspan: 3 }, label),
      make("td", { class: "query-adds" }, queryNumber(amount)),
      column.now ? make("td") : null,
    );
  const isAll = Math.abs(value - sum) < 5e-5;
  return make("tfoot", {}, isAll ? null : line("other ranks", value - sum), line(shown(view.measure.text), value));
}

/** The ranking of one run as a table. */
function queryRanking(view, column) {
  const { listing } = column;
  const value = queryValue(column.value);
  const caption = make("caption", {}, make("bdi", { class: "query-run" }, shown(column.name)), " ", value);
  if (!listing) {
    const nothing = make("tr", {}, make("td", { class: "quiet" }, "returns nothing for this query"));
    return make("table", { class: "query-ranking", "data-run": column.run }, caption, make("tbody", {}, nothing));
  }
  const rows = listing.d.slice(0, view.depth).map((_, at) => queryListRow(view, column, at));
  if (!rows.length) rows.push(make("tr", {}, make("td", { class: "quiet", colspan: 6 }, "an empty list")));
  const head = make("thead", {}, queryListHead(view, column));
  const body = make("tbody", {}, ...rows);
  return make("table", { class: `query-ranking${column.was ? " query-later" : ""}`, "data-run": column.run }, caption, head, body, queryListFoot(view, column));
}

/** What each run shown is: its listing, its value, and its moves from the run on its left and to that on its right. */
function queryLists(view) {
  const { page, runs, lists } = view;
  const between = runs.slice(1).map((run, at) => {
    const pair = [lists.runs[runs[at]], lists.runs[run]];
    if (!pair[0] || !pair[1]) return null;
    const changes = queryChanges(pair[0], pair[1], lists.relevant, view.cutoff ?? view.depth);
    return new Map(changes.map((change) => [change.document, { ...change, lists: pair }]));
  });
  return runs.map((run, at) => ({
    run,
    name: page.runs[run],
    value: page.value(view.state.measure, run, view.query),
    listing: lists.runs[run],
    was: at ? between[at - 1] : null,
    now: between[at] ?? null,
    before: at ? page.runs[runs[at - 1]] : "",
    after: at + 1 < runs.length ? page.runs[runs[at + 1]] : "",
  }));
}
