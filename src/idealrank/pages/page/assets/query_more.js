// What stands below the rankings of a query: relevant documents that were missed, and commands; and what is copied.

/** Where the runs shown have a document beyond the ranks that count: "rank 13 in minilm". */
function queryWhere(view, document) {
  const found = view.runs.map((run) => {
    const rank = queryPlaces(view.lists.runs[run]).get(document)?.rank;
    return rank ? `rank ${rank} in ${shown(view.page.runs[run])}` : "";
  });
  return found.filter(Boolean).join(", ");
}

/** Relevant documents that none of the runs shown has among the ranks that count, the best first. */
function queryMissed(view) {
  const seen = new Set(view.runs.flatMap((run) => view.lists.runs[run]?.d.slice(0, view.first) ?? []));
  return view.lists.relevant.filter(([document]) => !seen.has(document)).sort((one, other) => other[1] - one[1]);
}

/** One missed document: grade, id, where it stands instead, text. */
function queryMissedItem(view, [document, grade]) {
  const where = queryWhere(view, document) || `not in the ${view.deepest === 1 ? "first rank" : `first ${queryCount(view.deepest)}`}`;
  const [text, id] = queryDocument(view.page, document);
  return make(
    "li",
    { "data-document": document },
    queryGradeSquare(grade, view.grades),
    make("div", { class: "query-document" }, text, id, make("span", { class: "quiet query-where" }, where)),
  );
}

/** The section of missed documents. */
function queryMissedSection(view) {
  const missed = queryMissed(view);
  const side = ["the run does not have", "neither run has"][view.runs.length - 1] ?? "no run shown has";
  const title = make("h3", {}, "Missed");
  if (!view.lists.relevant.length) return null;
  if (!missed.length) {
    const where = view.runs.length > 1 ? "of one run or another" : "of the run";
    const all = `Nothing: every document judged relevant is in ${queryFirst(view.cutoff ?? view.first)} ${where}.`;
    return make("section", { class: "query-missed" }, title, make("p", { class: "quiet" }, all));
  }
  const lead = `${queryCount(missed.length)} relevant ${missed.length === 1 ? "document" : "documents"} that ${side} in ${queryFirst(view.cutoff ?? view.first)}${missed.length === 1 ? "" : ", the best first"}.`;
  return make(
    "section",
    { class: "query-missed" },
    title,
    make("p", { class: "quiet" }, ...querySentence([lead])),
    make("ul", {}, ...missed.map((pair) => queryMissedItem(view, pair))),
  );
}

/** A word as a shell takes it. */
function queryQuoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Words of the command that made the page. */
function queryTyped(page) {
  return (page.made?.command ?? "").match(/'(?:[^']|'\\'')*'|\S+/g) ?? [];
}

/** Options of that command that change how files are read or values are computed, as they were typed. */
function queryOptions(page) {
  const words = queryTyped(page);
  const kept = words.flatMap((word, at) => (/^--(convention|input-format|columns|group)$/.test(word) ? [word, words[at + 1]] : []));
  return [...kept, ...words.filter((word) => /^--(convention|input-format|columns|group)=/.test(word))].map((word) => ` ${word}`).join("");
}

/** The files of the judgments and of the runs, as the command that made the page names them; else words that stand for them. */
function queryFiles(page) {
  const words = queryTyped(page);
  const known = ["compare", "evaluate", "gate"].includes(words[1]) ? words.slice(2) : [];
  const end = known.findIndex((word) => word.startsWith("-"));
  const files = end < 0 ? known : known.slice(0, end);
  if (files.length === page.runs.length + 1) return files;
  // A gate names its baselines by options: then a run is the file of its name.
  const stem = (word) => word.replaceAll("'", "").split("/").at(-1).split(".")[0];
  const fileOf = (name) => known.find((word) => stem(word) === name) ?? queryQuoted(name);
  return [files[0] ?? "QRELS", ...page.runs.map(fileOf)];
}

/** Shell commands that show this query, or the whole difference, in a terminal. */
function queryCommands(page, state) {
  const [qrels, ...files] = queryFiles(page);
  const measure = queryQuoted(page.measures[state.measure].text);
  const id = page.shortened.includes(state.query) ? "ID" : queryQuoted(page.queries[state.query]);
  const pair = [...new Set([state.a, state.b])];
  const options = queryOptions(page);
  const each = pair.map((run) => `idealrank explain ${qrels} ${files[run]} --query ${id} -m ${measure}${options}`);
  return pair.length > 1 ? [...each, `idealrank why ${qrels} ${files[pair[0]]} ${files[pair[1]]} -m ${measure}${options}`] : each;
}

/** The section of commands, each with a button that copies it. */
function queryCommandSection(page, state, lead = null) {
  const lines = queryCommands(page, state).map((command) => {
    const copy = (event) => copyText(command, event.currentTarget);
    return make("li", {}, make("code", {}, shown(command)), make("button", { type: "button", "aria-label": `Copy ${shown(command)}`, onclick: copy }, "Copy"));
  });
  const whole = page.shortened.includes(state.query) ? make("p", {}, "ID stands for the whole id of this query, for which the page had no room.") : null;
  return make("section", { class: "query-commands" }, make("h3", {}, "In a terminal"), lead, make("ul", {}, ...lines), whole);
}

/** Rows that the selection touches, as lines of rank, grade and id, so that a copied ranking is a table; of a focused row its id. */
function queryCopied(event, page) {
  const selection = getSelection();
  const row = event.target instanceof Element ? event.target.closest("tr[data-document]") : null;
  const rows = queryRows(event.currentTarget).filter((each) => !selection.isCollapsed && selection.containsNode(each, true));
  const id = (each) => page.documents[each.dataset.document] ?? "";
  const line = (each) => [each.dataset.rank, each.querySelector(".query-grade").textContent, id(each)].join("\t");
  if (rows.length > 1) event.clipboardData.setData("text/plain", rows.map(line).join("\n"));
  else if (selection.isCollapsed && row) event.clipboardData.setData("text/plain", id(row));
  else return;
  event.preventDefault();
}
