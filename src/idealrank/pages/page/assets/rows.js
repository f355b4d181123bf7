// Which queries the table shows, and in which order: pure functions of the page and the state.

const ONLY = { "": "all queries", changed: "changed", losses: "losses", wins: "wins", ties: "ties", rankings: "with rankings" };

/** One number a query decides filters: the difference of the pair, or the value of the only run. */
function decidingValue(page, chosen, query) {
  const { measure, a, b } = chosen;
  return a === b ? page.value(measure, a, query) : page.difference(measure, a, b, query);
}

/** Numbers of queries after filter, search and sort. */
function shownQueries(page, chosen) {
  const kept = [];
  const inSlice = chosen.slice ? new Set(page.slices[chosen.slice] ?? []) : null;
  const words = chosen.find.toLowerCase().split(/\s+/).filter(Boolean);
  for (let query = 0; query < page.queries.length; query += 1) {
    if (inSlice && !inSlice.has(query)) continue;
    if (!isOnly(page, chosen, query) || !isBetween(page, chosen, query)) continue;
    if (words.length && !hasWords(page, query, words)) continue;
    kept.push(query);
  }
  return sorted(page, chosen, kept);
}

function isOnly(page, chosen, query) {
  if (!chosen.only) return true;
  if (chosen.only === "rankings") return query in page.lists;
  const gain = page.gain(chosen.measure, chosen.a, chosen.b, query);
  return { changed: gain > 0 || gain < 0, wins: gain > 0, losses: gain < 0, ties: gain === 0 }[chosen.only] ?? true;
}

function isBetween(page, chosen, query) {
  if (chosen.from === null && chosen.to === null) return true;
  const value = decidingValue(page, chosen, query);
  return value >= (chosen.from ?? -Infinity) && value <= (chosen.to ?? Infinity);
}

function hasWords(page, query, words) {
  const text = `${page.queries[query]} ${page.text(query)}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Sort by a column: "query", "difference", "slice", or the number of a run; what has no number comes last, whatever the direction. */
function sorted(page, chosen, queries) {
  if (!chosen.sort) return queries;
  const sign = chosen.sort.startsWith("-") ? -1 : 1;
  const column = chosen.sort.replace(/^-/, "");
  if (column === "query" || column === "slice") {
    const textOf = column === "query" ? (query) => page.queries[query] : (query) => page.slicesOf(query).join(", ");
    const collator = new Intl.Collator("en", { numeric: true });
    const texts = new Map(queries.map((query) => [query, textOf(query)]));
    return queries.sort((p, q) => sign * collator.compare(texts.get(p), texts.get(q)) || p - q);
  }
  const valueOf = column === "difference"
    ? (query) => page.difference(chosen.measure, chosen.a, chosen.b, query)
    : (query) => page.value(chosen.measure, Number(column), query);
  const values = new Map(queries.map((query) => [query, valueOf(query)]));
  return queries.sort((p, q) => byNumber(values.get(p), values.get(q), sign) || p - q);
}

function byNumber(p, q, sign) {
  if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q);
  return sign * (p - q);
}

/** A number with all the digits it has: of exact values all, of rounded ones those that hold. */
function exactText(page, measure, value) {
  if (Number.isNaN(value)) return "";
  const { table, step } = page.values[measure];
  return table === null ? String(Number(value.toFixed(Math.max(0, Math.ceil(-Math.log10(step)))))) : String(value);
}

/** Lines of CSV: query, text, slices, and every measure of every run. */
function csvOf(page, queries) {
  const columns = page.measures.flatMap((measure, m) => page.runs.map((run, r) => [`${measure.text} ${run}`, m, r]));
  const head = ["query", "text", "slices", ...columns.map(([title]) => title)];
  const lines = queries.map((query) => [
    page.queries[query], page.text(query), page.slicesOf(query).join("; "),
    ...columns.map(([, m, r]) => exactText(page, m, page.value(m, r, query))),
  ]);
  return [head, ...lines].map((cells) => cells.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

/** The same as JSON, with what made the page: programs read it without knowing the page. */
function jsonOf(page, queries) {
  const byName = (names, valueAt) => Object.fromEntries(names.map((name, at) => [name, valueAt(at)]));
  const valueOf = (query) => (m) => (r) => {
    const text = exactText(page, m, page.value(m, r, query));
    return text === "" ? null : Number(text);
  };
  const records = queries.map((query) => ({
    query: page.queries[query], text: page.text(query) || null, slices: page.slicesOf(query),
    values: byName(page.measures.map((measure) => measure.text), (m) => byName(page.runs, valueOf(query)(m))),
  }));
  return `${JSON.stringify({ made: page.made, runs: page.runs, measures: page.measures, queries: records }, null, 1)}\n`;
}

/** One cell: an apostrophe stands before what a spreadsheet would take for a formula, and run; numbers are none. */
function csvCell(text) {
  const held = /^(?!-$|[+-](\d+(\.\d*)?(e[+-]?\d+)?|inf|nan)$)[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]/i.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(held) ? `"${held.replaceAll('"', '""')}"` : held;
}

function plainCell(text) {
  return text.replace(/[\t\r\n]+/g, " ");
}

/** The same for a spreadsheet's clipboard. */
function tabsOf(page, queries) {
  const columns = page.measures.flatMap((measure, m) => page.runs.map((run, r) => [`${measure.text} ${run}`, m, r]));
  const head = ["query", "text", ...columns.map(([title]) => plainCell(title))];
  const lines = queries.map((query) => [
    plainCell(page.queries[query]), plainCell(page.text(query)), ...columns.map(([, m, r]) => exactText(page, m, page.value(m, r, query))),
  ]);
  return [head, ...lines].map((cells) => cells.join("\t")).join("\n") + "\n";
}
