// What each plot draws, from the values of the page: the same rows and words as in the Python modules specs_*, for any measure and pair.

const PLOT_STEPS = 300; // corners of a line of shares
const PLOT_COLUMNS = 400; // bars of wins and losses
const PLOT_SIDES = { 1: "better", 0: "equal", [-1]: "worse" };

const plotRound = (value) => Math.round(value * 1e6) / 1e6;
const plotCount = (count) => count.toLocaleString("en");

const PLOT_DASHES = 4; // patterns of the lines of other runs

function plotRole(now, run) {
  return run === now.b ? "b" : run === now.a ? "a" : "other";
}

/** What tells a line from others: words that no name can be. */
function plotLine(role, place) {
  return role === "other" ? { role, line: `r${place}`, dash: String(place % PLOT_DASHES) } : { role, line: role, dash: role };
}

/** Name, role and number of each run; the pair last, so that it is drawn over the others. */
function plotRoles(page, now) {
  const order = ["other", "a", "b"];
  const runs = page.runs.map((name, run) => ({ run: shown(name), number: run, role: plotRole(now, run) }));
  return runs.sort((p, q) => order.indexOf(p.role) - order.indexOf(q.role)).map((one, place) => ({ ...one, ...plotLine(one.role, place) }));
}

/** Rows of runs, with roles, and names that cannot turn the direction of reading; lines of other runs stay what they are. */
function plotOfRuns(page, now, rows) {
  const number = new Map(page.runs.map((run, place) => [run, place]));
  return rows.map((row) => {
    const role = plotRole(now, number.get(row.run));
    const line = role === "other" ? { role } : plotLine(role);
    return { ...row, ...line, run: shown(row.run), label: shown(row.label), short: shown(row.short) };
  });
}

/** Queries that count in both runs, with b - a. */
function plotPaired(page, now) {
  const found = [];
  for (let query = 0; query < page.queries.length; query += 1) {
    const a = page.value(now.measure, now.a, query);
    const b = page.value(now.measure, now.b, query);
    if (Number.isNaN(a) || Number.isNaN(b)) continue;
    found.push({ query, a, b, difference: page.difference(now.measure, now.a, now.b, query) });
  }
  return found;
}

function plotSide(page, now, difference) {
  return PLOT_SIDES[Math.sign(difference * (page.measures[now.measure].direction || 1))];
}

function plotWhich(page, query, count) {
  const id = shown(page.queries[query]);
  return count === 1 ? id : `${id} and ${plotCount(count - 1)} more`;
}

function plotDistributionRows(page, now) {
  const size = page.queries.length;
  const runs = plotRoles(page, now).map((one) => {
    const values = Float64Array.from({ length: size }, (_, query) => page.value(now.measure, one.number, query)).filter((value) => !Number.isNaN(value));
    return { ...one, values: values.sort() };
  });
  const { low } = page.measures[now.measure]; // lines begin where the measure does
  const steps = plotDistinct([low === null ? [] : [low], ...runs.map((one) => one.values)]);
  return runs.flatMap(({ run, role, line, dash, values }) => {
    let below = 0;
    return steps.map((value) => {
      while (below < values.length && values[below] < value) below += 1;
      return { run, role, line, dash, value: plotRound(value), share: plotRound((values.length - below) / Math.max(values.length, 1)) };
    });
  });
}

/** All values that occur, in order; of very many, some, evenly by their number. */
function plotDistinct(columns) {
  const every = [...new Set(columns.flatMap((values) => [...values]))].sort((p, q) => p - q);
  if (every.length <= PLOT_STEPS) return every;
  const places = Array.from({ length: PLOT_STEPS }, (_, step) => Math.round((step * (every.length - 1)) / (PLOT_STEPS - 1)));
  return [...new Set(places)].map((place) => every[place]);
}

/** The highest value that half of the queries reach, in words. */
function plotHalf(rows) {
  const reached = new Map(rows.filter((row) => row.share >= 0.5).map((row) => [row.role, row]));
  const found = ["b", "a"].map((role) => reached.get(role)).filter(Boolean);
  return found.map((row) => `${numberText(row.value)} by ${row.run}`).join(" and ");
}

function plotScatterRows(page, now) {
  const points = new Map();
  for (const { query, a, b, difference } of plotPaired(page, now)) {
    const key = `${plotRound(a)} ${plotRound(b)}`;
    const found = points.get(key);
    if (found) found.count += 1;
    else points.set(key, { a: plotRound(a), b: plotRound(b), count: 1, query, side: plotSide(page, now, difference) });
  }
  const rows = [...points.values()].map((row) => ({ ...row, which: plotWhich(page, row.query, row.count) }));
  return rows.sort((p, q) => q.count - p.count);
}

function plotWinlossRows(page, now) {
  const order = plotPaired(page, now).sort((p, q) => q.difference - p.difference);
  const bars = Math.min(order.length, PLOT_COLUMNS);
  const edges = [...new Set(Array.from({ length: bars + 1 }, (_, bar) => Math.round((bar * order.length) / Math.max(bars, 1))))];
  return edges.slice(1).map((last, bar) => {
    const group = order.slice(edges[bar], last);
    const far = group.reduce((best, one) => (Math.abs(one.difference) > Math.abs(best.difference) ? one : best));
    return {
      first: edges[bar], last, count: group.length, query: far.query, side: plotSide(page, now, far.difference),
      difference: plotRound(far.difference), a: plotRound(far.a), b: plotRound(far.b), which: plotWhich(page, far.query, group.length),
    };
  });
}

/** Words of the plots of values by query. */
function plotPairWords(page, now) {
  const paired = plotPaired(page, now);
  const { text, direction } = page.measures[now.measure];
  const [a, b] = [shown(page.runs[now.a]), shown(page.runs[now.b])];
  const [shorta, shortb] = [shown(page.labels[now.a]), shown(page.labels[now.b])];
  const higher = paired.filter((one) => one.difference > 0).length;
  const lower = paired.filter((one) => one.difference < 0).length;
  const ties = paired.length - higher - lower;
  const sides = [["better", "accent"], ["worse", "worse"]];
  const [up, down] = direction < 0 ? sides.reverse() : sides;
  const mean = paired.length ? paired.reduce((sum, one) => sum + one.difference, 0) / paired.length : 0;
  const reach = (paired.reduce((most, one) => Math.max(most, Math.abs(one.difference)), 0) || 1) * 1.04; // where nothing differs, any axis will do
  const [wins, losses] = direction < 0 ? [lower, higher] : [higher, lower];
  const equal = ties ? `, equal on ${plotCount(ties)}` : "";
  return {
    a, b, shorta, shortb, measure: shown(text), n: paired.length, wins: plotCount(wins), losses: plotCount(losses), ties: plotCount(ties),
    upper: `${shortb} ${up[0]} on ${plotCount(higher)}`, uppercolour: up[1],
    lower: `${shortb} ${down[0]} on ${plotCount(lower)}${equal}`, lowercolour: down[1], lost: plotCount(losses) + equal,
    mean, meantext: signedText(mean), ...(mean >= 0 ? { meanx: "width", meanalign: "right", meanside: -7 } : { meanx: 2, meanalign: "left", meanside: 9 }),
    spread: [lower ? -reach : -0.3 * reach, higher ? reach : 0.3 * reach],
    apart: String(paired.length <= 120), ...(paired.length <= 300 ? { opacity: 0.8, outline: 0.5 } : { opacity: 0.5, outline: 0 }),
  };
}

/** Limits of an axis of values: the bounds of the measure where it has them, else what is seen. */
function plotDomain(page, now, values) {
  const { low, high } = page.measures[now.measure];
  const least = low ?? values.reduce((found, value) => Math.min(found, value), 0);
  const most = high ?? values.reduce((found, value) => Math.max(found, value), least);
  return [least, most > least ? most : least + 1];
}

function plotSizeWords(rows) {
  const most = rows.reduce((found, row) => Math.max(found, row.count), 1);
  const least = rows.length <= 150 ? 44 : rows.length <= 1500 ? 26 : 16;
  return { most: Math.max(most, 2), sizes: [least, Math.min(least * Math.max(most, 2), 1100)] };
}

function plotMeansRows(page, now) {
  const measure = page.measures[now.measure].text;
  return plotOfRuns(page, now, (page.rows.means ?? []).filter((row) => row.measure === measure));
}

/** The curve of the measure without its cutoff; where there is none, the first. */
function plotCurve(page, now) {
  const curves = page.words.cutoffs ?? {};
  const stem = page.measures[now.measure].text.split("@")[0];
  return Object.hasOwn(curves, stem) ? stem : Object.keys(curves)[0];
}

function plotCutoffRows(page, now) {
  const curve = plotCurve(page, now);
  return plotOfRuns(page, now, (page.rows.cutoffs ?? []).filter((row) => row.measure === curve));
}

/** Of a pair that was compared the other way round, everything with the other sign. */
function plotSliceRows(page, now) {
  const measure = page.measures[now.measure].text;
  const [a, b] = [page.runs[now.a], page.runs[now.b]];
  const rows = (page.rows.slices ?? []).filter((row) => row.measure === measure);
  const asked = rows.filter((row) => row.a === a && row.b === b);
  const turned = rows.filter((row) => row.a === b && row.b === a).map(plotTurned);
  return (asked.length ? asked : turned).map((row) => ({ ...row, slice: shown(row.slice) }));
}

function plotTurned(row) {
  const minus = (value) => (value === null ? null : -value);
  const [difference, low, high] = [minus(row.difference), minus(row.high), minus(row.low)];
  const ends = low === null || high === null ? "" : `  [${signedText(low)}, ${signedText(high)}]`;
  const turn = (word) => ({ better: "worse", worse: "better" })[word] ?? word;
  const [side, verdict] = [turn(row.side), turn(row.verdict)];
  return { ...row, difference, low, high, side, verdict, brief: signedText(difference), text: signedText(difference) + ends };
}

function plotRobustRows(page) {
  return (page.rows.robust ?? []).map((row) => ({ ...row, label: shown(row.label) }));
}

const plotSay = (rows, sentence) => `${rows.map(sentence).join("; ")}.`;

/** By plot: its rows, its words beyond a pair's, and columns of its table. */
const PLOTS = {
  means: {
    rows: plotMeansRows,
    words: (page, now, rows) => ({ said: plotSay(rows, (row) => `${row.run} ${row.text.replace(/\s+/g, " ")}`) }),
    columns: { run: "run", mean: "mean", low: "interval from", high: "to", n: "queries" },
  },
  distribution: {
    rows: plotDistributionRows,
    words: (page, now, rows) => ({ domain: plotDomain(page, now, rows.map((row) => row.value)), half: plotHalf(rows) }),
    columns: { run: "run", value: "value", share: "share of queries that reach it" },
  },
  scatter: {
    rows: plotScatterRows,
    words: (page, now, rows) => ({ domain: plotDomain(page, now, rows.flatMap((row) => [row.a, row.b])), ...plotSizeWords(rows) }),
    columns: { which: "query", a: "@a", b: "@b", count: "queries" },
  },
  winloss: {
    rows: plotWinlossRows,
    words: () => ({}),
    columns: { which: "query", a: "@a", b: "@b", difference: "difference" },
  },
  cutoffs: {
    rows: plotCutoffRows,
    words: (page, now) => page.words.cutoffs[plotCurve(page, now)],
    columns: { run: "run", cutoff: "cutoff", mean: "mean", low: "interval from", high: "to" },
  },
  slices: {
    rows: plotSliceRows,
    words: (page, now, rows) => ({ said: plotSay(rows, (row) => `${row.slice} ${row.text.replace(/\s+/g, " ")} on ${plotCount(row.n)} queries, ${row.verdict}`) }),
    columns: { slice: "slice", n: "queries", difference: "difference", low: "interval from", high: "to", p: "p, corrected", verdict: "verdict" },
  },
  robust: {
    rows: plotRobustRows,
    words: (page) => Object.fromEntries(Object.entries(page.words.robust).map(([name, said]) => [name, shown(said)])),
    columns: { group: "changed", change: "to", difference: "difference", low: "interval from", high: "to", verdict: "verdict" },
  },
};
