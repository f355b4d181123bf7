// One query in words: which documents changed the value, and how. Pure functions of numbers; nothing here touches the page.
//
// A sentence is a list of pieces: a string, {document: index} where a document's id belongs, or {amount: number} where a difference does.

const QUERY_NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
const QUERY_NAMED = 3; // documents named in a sentence; the others are counted
const QUERY_ENOUGH = 0.8; // of a change explains it

/** A number as a word up to twelve. */
function queryCount(number) {
  return QUERY_NUMBERS[number] ?? number.toLocaleString("en");
}

/** A value with four decimals, as the command line prints it; the sign of minus is as wide as plus. */
function queryNumber(value, signed = false) {
  const text = Math.abs(value).toFixed(4);
  const isZero = Number(text) === 0;
  const sign = isZero ? "" : value < 0 ? "\u2212" : signed ? "+" : "";
  return sign + text;
}

/** A value that may not count. */
function queryValue(value) {
  return Number.isNaN(value) ? "not counted" : queryNumber(value);
}

/** "the first ten", or "the list" where the measure has no cutoff. */
function queryFirst(cutoff) {
  return cutoff === null ? "the list" : cutoff === 1 ? "the first rank" : `the first ${queryCount(cutoff)}`;
}

/** Rank, grade and contribution of each known document of a listing; of one that stands twice, the better rank and both contributions. */
function queryPlaces(listing) {
  const places = new Map();
  if (!listing) return places;
  listing.d.forEach((document, at) => {
    if (document < 0) return;
    const adds = listing.a ? listing.a[at] : null;
    const known = places.get(document);
    if (known) known.adds = known.adds === null ? adds : known.adds + (adds ?? 0);
    else places.set(document, { rank: at + 1, grade: listing.g[at], adds });
  });
  for (const [document, rank, grade, adds] of listing.b ?? []) {
    if (!places.has(document)) places.set(document, { rank, grade, adds });
  }
  return places;
}

/** Which way a document went, as `idealrank why` says it: by the cutoff, and below it by the ranks. */
function queryMove(from, to, cutoff) {
  const isWithin = [from, to].map((rank) => rank !== null && rank <= (cutoff ?? Infinity));
  const [isSeenBefore, isSeenAfter] = isWithin.includes(true) ? isWithin : [from !== null, to !== null];
  if (!isSeenBefore) return "entered";
  if (!isSeenAfter) return "left";
  if (to < from) return "moved up";
  return to > from ? "moved down" : "stayed";
}

/** Every document of two listings: its ranks, what it adds to each value, and its move; those judged know their grade. */
function queryChanges(listingA, listingB, relevant, cutoff) {
  const sides = [queryPlaces(listingA), queryPlaces(listingB)];
  const grades = new Map(relevant);
  const documents = new Set([...sides[0].keys(), ...sides[1].keys()]);
  return [...documents].map((document) => {
    const [a, b] = sides.map((side) => side.get(document));
    const from = a?.rank ?? null;
    const to = b?.rank ?? null;
    const grade = a?.grade ?? b?.grade ?? grades.get(document) ?? null;
    const before = a?.adds ?? 0;
    const after = b?.adds ?? 0;
    return { document, grade, from, to, before, after, difference: after - before, move: queryMove(from, to, cutoff) };
  });
}

/** Unjudged documents of a listing down to the cutoff. */
function queryUnjudged(listing, cutoff) {
  return listing ? listing.g.slice(0, cutoff ?? undefined).filter((grade) => grade === null).length : 0;
}

/** Where a document stands that is neither listed nor, where it is relevant, known to stand further down. */
function queryOutside(listing, grade) {
  const isKnown = !listing || listing.n <= listing.d.length || (grade > 0 && listing.b);
  return isKnown ? "not returned" : `below rank ${listing.d.length}`;
}

/** "rank 2 \u2192 14", in one piece where a line ends. */
function queryRanks(change, lists) {
  if (change.from === change.to) return `rank\u00a0${change.from}`;
  const ranks = [change.from, change.to].map((rank, side) => rank ?? queryOutside(lists[side], change.grade));
  return `${change.from === null ? "" : "rank "}${ranks.join(" \u2192 ")}`.replaceAll(" ", "\u00a0");
}

/** What changes the value in one direction, the largest first: as many as explain most of it; the rest is counted. */
function queryCauses(changes, sign) {
  const all = changes.filter((change) => change.difference * sign > 1e-9);
  all.sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference) || one.document - other.document);
  const total = all.reduce((sum, change) => sum + change.difference, 0);
  let covered = 0;
  const named = all.filter((change, place) => {
    const isNamed = place < QUERY_NAMED && Math.abs(covered) < QUERY_ENOUGH * Math.abs(total) - 1e-9;
    if (isNamed) covered += change.difference;
    return isNamed;
  });
  return { named, total, others: all.length - named.length, rest: total - covered };
}

const QUERY_VERBS = {
  entered: (first) => `entered ${first}`,
  left: (first) => `left ${first}`,
  "moved up": () => "moved up",
  "moved down": () => "moved down",
  stayed: () => "stayed where",
};

/** "Two documents of grade 3 left the first ten: X (rank 2 \u2192 14) and Y (rank 7 \u2192 20)", one clause a move. */
function queryClause(group, names) {
  const grades = new Set(group.map((change) => change.grade));
  const verb = QUERY_VERBS[group[0].move](queryFirst(names.cutoff)) + (group[0].move !== "stayed" ? "" : group.length > 1 ? " they were" : " it was");
  const amount = { amount: group.reduce((sum, change) => sum + change.difference, 0) };
  const about = (change) => (grades.size > 1 ? `grade ${change.grade}, ` : "") + queryRanks(change, names.lists);
  if (group.length === 1) {
    const [change] = group;
    return [{ document: change.document }, ` (grade ${change.grade}) ${verb}, ${queryRanks(change, names.lists)}: `, amount];
  }
  const kind = grades.size > 1 ? "relevant documents" : `documents of grade ${group[0].grade}`;
  const pieces = [`${queryCount(group.length)} ${kind} ${verb}: `];
  group.forEach((change, place) => {
    if (place) pieces.push(place === group.length - 1 ? " and " : ", ");
    pieces.push({ document: change.document }, ` (${about(change)})`);
  });
  return [...pieces, ", together ", amount];
}

/** One sentence about the changes in one direction; empty where nothing changed that way. */
function queryDirection(opening, causes, names) {
  const groups = new Map();
  for (const change of causes.named) groups.set(change.move, [...(groups.get(change.move) ?? []), change]);
  const pieces = [];
  for (const group of groups.values()) pieces.push(pieces.length ? "; " : opening, ...queryClause(group, names));
  if (!pieces.length) return [];
  const others = causes.others ? [`; ${queryCount(causes.others)} more: `, { amount: causes.rest }] : [];
  return querySentence([...pieces, ...others, "."]);
}

/** Neighbouring strings joined, and the first letter a capital. */
function querySentence(pieces) {
  const joined = [];
  for (const piece of pieces) {
    if (typeof piece === "string" && typeof joined.at(-1) === "string") joined[joined.length - 1] += piece;
    else joined.push(piece);
  }
  if (typeof joined[0] === "string") joined[0] = joined[0].charAt(0).toUpperCase() + joined[0].slice(1);
  return joined;
}

/** Moves of relevant documents without amounts, for a measure whose contributions the page does not have. */
function queryMovesOnly(changes, names) {
  const clauses = [];
  const [losses, gains] = [["left", "moved down"], ["entered", "moved up"]];
  const isLoss = names.values[1] < names.values[0];
  for (const move of isLoss ? [...losses, ...gains] : [...gains, ...losses]) {
    const group = changes.filter((change) => change.move === move && change.grade > 0 && queryIsWithin(change, names.cutoff));
    group.sort((one, other) => other.grade - one.grade || (one.from ?? one.to) - (other.from ?? other.to));
    if (!group.length) continue;
    const pieces = group.slice(0, QUERY_NAMED).flatMap((change, place) => [
      place ? ", " : "",
      { document: change.document },
      ` (grade ${change.grade}, ${queryRanks(change, names.lists)})`,
    ]);
    const more = group.length > QUERY_NAMED ? ` and ${queryCount(group.length - QUERY_NAMED)} more` : "";
    clauses.push(clauses.length ? "; " : "", `${QUERY_VERBS[move](queryFirst(names.cutoff))}: `, ...pieces, more);
  }
  return clauses.length ? [querySentence([...clauses, "."])] : [];
}

/** Whether a document stands within the cutoff in either list. */
function queryIsWithin(change, cutoff) {
  return Math.min(change.from ?? Infinity, change.to ?? Infinity) <= (cutoff ?? Infinity);
}

/** Number of unjudged documents, if any: they may explain a loss. */
function queryUnjudgedSentence(names) {
  const [a, b] = names.lists.map((listing) => queryUnjudged(listing, names.cutoff));
  if (!a && !b) return [];
  const [many, few] = [a, b].map((count) => (count ? queryCount(count) : "none"));
  const first = queryFirst(names.cutoff);
  return [[`Of ${first}, ${names.runs[0]} has ${many} and ${names.runs[1]} ${few} without a judgment; they count as not relevant.`]];
}

/** What is said instead of causes where there are none to find; null elsewhere. */
function querySpecial(names, changes) {
  const [a, b] = names.lists;
  const absent = names.runs.filter((_, side) => !names.lists[side]);
  if (absent.length) return `${absent.join(" and ")} ${absent.length > 1 ? "return" : "returns"} nothing for this query.`;
  if (!names.relevant.length) return "No judged document is relevant for this query, so no ranking can do better.";
  const depth = Math.min(names.cutoff ?? Infinity, Math.max(a.d.length, b.d.length));
  const isSame = a.d.slice(0, depth).every((document, at) => document >= 0 && document === b.d[at]);
  if (isSame && a.d.length >= depth && b.d.length >= depth) return `Both runs show the same documents in the same order in ${queryFirst(names.cutoff)}.`;
  if (names.values[0] !== names.values[1]) return null;
  const isSettled = changes.every((change) => Math.abs(change.difference) < 1e-9);
  return isSettled ? `No relevant document entered, left or moved within ${queryFirst(names.cutoff)}.` : null;
}

/**
 * Why the value of a query changed from run a to run b, in a few sentences.
 *
 * names: {runs: [a, b], values: [a, b], lists: [listing or null, ...], relevant: [[document, grade]...], cutoff: number or null,
 * hasAdds: whether contributions belong to the measure shown}.
 */
function queryWords(names) {
  const changes = queryChanges(names.lists[0], names.lists[1], names.relevant, names.cutoff);
  const special = querySpecial(names, changes);
  const unjudged = names.lists[0] && names.lists[1] ? queryUnjudgedSentence(names) : [];
  if (special) return [[special], ...unjudged];
  if (!names.hasAdds) return [...queryMovesOnly(changes, names), ...unjudged];
  const sign = names.values[1] < names.values[0] ? -1 : 1;
  const main = queryDirection("", queryCauses(changes, sign), names);
  const against = queryDirection(main.length ? "against that, " : "", queryCauses(changes, -sign), names);
  const known = changes.reduce((sum, change) => sum + change.difference, 0);
  const rest = names.values[1] - names.values[0] - known;
  const deeper = Math.abs(rest) < 5e-5 ? [] : ["Documents further down make up the rest, ", { amount: rest }, "."];
  return [main, against, deeper, ...unjudged].filter((sentence) => sentence.length);
}
