// The packed parts of the page become one object, `page`, which everything else asks.

const NOT_COUNTED = 65535;
const EQUAL = 1e-12; // of the largest value: a difference that is no larger is rounding, and none, as in comparisons

/** The bytes behind an inert element: base64, deflated. */
async function unpack(id) {
  const bytes = fromBase64(document.getElementById(id).textContent.trim());
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fromBase64(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

async function unpackJson(id) {
  return JSON.parse(new TextDecoder().decode(await unpack(id)));
}

/** Everything the page holds:
 *  runs, measures, pairs, queries, shortened, slices, documents, lists, specs, rows, made as in the payload, and
 *  value(measure, run, query): a number, NaN where it does not count;
 *  difference(measure, a, b, query): b - a, 0 where they differ by rounding alone; gain(...): the same, above 0 where b is better;
 *  text(query), documentText(document): "" where there is none; number(query id): its number or null. */
async function loadPage() {
  const [data, lists] = await Promise.all([unpackJson("page-data"), unpackJson("page-lists")]);
  const page = { ...data, ...lists };
  const size = page.queries.length;
  const decoders = page.values.map(decoder);
  const numbers = new Map(page.queries.map((query, place) => [wellFormed(query), place]));
  page.value = (measure, run, query) => decoders[measure](run * size + query);
  const largest = page.values.map((_, measure) => largestOf(page, measure));
  page.difference = (measure, a, b, query) => {
    const difference = page.value(measure, b, query) - page.value(measure, a, query);
    return Math.abs(difference) <= EQUAL * largest[measure] ? 0 : difference;
  };
  page.gain = (measure, a, b, query) => page.difference(measure, a, b, query) * (page.measures[measure].direction || 1);
  page.text = (query) => page.texts[query] ?? "";
  page.documentText = (document) => page.documentTexts[document] ?? "";
  page.number = (query) => numbers.get(query) ?? null;
  page.slicesOf = slicesByQuery(page);
  return page;
}

function largestOf(page, measure) {
  let largest = 0;
  for (let run = 0; run < page.runs.length; run += 1) {
    for (let query = 0; query < page.queries.length; query += 1) {
      const value = Math.abs(page.value(measure, run, query));
      if (value > largest) largest = value;
    }
  }
  return largest;
}

/** From the place of a value to the value. */
function decoder(values) {
  const bytes = fromBase64(values.codes);
  const codes = new DataView(bytes.buffer);
  const table = values.table === null ? null : new DataView(fromBase64(values.table).buffer);
  return (place) => {
    const code = codes.getUint16(2 * place, true);
    if (code === NOT_COUNTED) return NaN;
    return table ? table.getFloat64(8 * code, true) : values.low + values.step * code;
  };
}

function slicesByQuery(page) {
  const found = new Map();
  for (const [name, queries] of Object.entries(page.slices)) {
    for (const query of queries) found.set(query, [...(found.get(query) ?? []), name]);
  }
  return (query) => found.get(query) ?? [];
}

/** An id as an address can hold it: bytes that are no UTF-8 stand as escapes. */
function wellFormed(text) {
  return text.replace(/\p{Cs}/gu, escaped);
}

function escaped(letter) {
  return [...Array(letter.length).keys()].map((i) => `\\u${letter.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");
}
