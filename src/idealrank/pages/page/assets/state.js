// What the reader has chosen. It stands behind the # of the address, so that a link shows the same and the back button works.
//
// measure, a, b: numbers of a measure and of two runs; query: number of the query that is open, or null;
// only: "", "changed", "wins", "losses", "ties", "rankings"; slice: name or ""; find: text or ""; from, to: ends of the
// difference (of the value where there is one run), or null; sort: column, with "-" before it when it falls; sheet: of the table, from 0.

const DEFAULTS = { query: null, measure: 0, a: 0, b: 0, only: "", slice: "", find: "", from: null, to: null, sort: "", sheet: 0 };
const state = { ...DEFAULTS };
const listeners = [];
let statePage = null;

/** Change something; `quietly` replaces the entry of the history, as for every letter that is typed. */
function setState(change, quietly = false) {
  const before = { ...state };
  Object.assign(state, change);
  const address = `#${hashOf(state)}`;
  if (quietly) history.replaceState(null, "", address);
  else if (address !== location.hash && !(address === "#" && !location.hash)) history.pushState(null, "", address);
  tell(before);
}

/** Called with the state and the one before, now and after every change. */
function onState(listener) {
  listeners.push(listener);
  listener(state, { ...state });
}

function tell(before) {
  if (Object.keys(DEFAULTS).some((key) => state[key] !== before[key])) for (const listener of listeners) listener(state, before);
}

/** The address of a state; with `change` of one that differs from the present. */
function hashOf(chosen) {
  const usual = usualState();
  const parts = Object.keys(DEFAULTS).filter((key) => chosen[key] !== usual[key]).map((key) => {
    const value = key === "query" ? wellFormed(statePage.queries[chosen.query]) : chosen[key];
    return `${key}=${encodeURIComponent(value)}`;
  });
  return parts.join("&");
}

function usualState() {
  const [a, b] = statePage.pairs[0] ?? [0, 0];
  return { ...DEFAULTS, a, b };
}

/** Begin: read the address, and follow it from now on. */
function startState(page) {
  statePage = page;
  Object.assign(state, usualState(), readHash());
  const follow = () => {
    if (location.hash && !location.hash.includes("=")) return; // a part of the page, not a state
    const before = { ...state };
    Object.assign(state, usualState(), readHash());
    tell(before);
  };
  addEventListener("popstate", follow);
  addEventListener("hashchange", follow);
}

function readHash() {
  const found = {};
  for (const part of location.hash.slice(1).split("&")) {
    const [key, value] = [part.slice(0, part.indexOf("=")), decoded(part.slice(part.indexOf("=") + 1))];
    if (!(key in DEFAULTS)) continue;
    const read = key === "query" ? statePage.number(value) : readValue(key, value);
    if (read !== undefined) found[key] = read;
  }
  return found;
}

/** What an address says of one key; undefined where this page has no such thing: then the usual stays. */
function readValue(key, value) {
  if (key === "find") return value;
  if (key === "only") return Object.hasOwn(ONLY, value) ? value : undefined;
  if (key === "slice") return Object.hasOwn(statePage.slices, value) ? value : undefined;
  if (key === "sort") return isColumn(value.replace(/^-/, "")) ? value : undefined;
  const number = Number(value);
  if (key === "from" || key === "to") return value !== "" && Number.isFinite(number) ? number : null;
  const most = { measure: statePage.measures.length, a: statePage.runs.length, b: statePage.runs.length, sheet: Infinity }[key];
  return Number.isInteger(number) && number >= 0 && number < most ? number : undefined;
}

/** Whether the table of all queries has a column of this name: a run stands there by its number. */
function isColumn(name) {
  return ["query", "difference", "slice"].includes(name) || statePage.runs.some((_, run) => String(run) === name);
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
