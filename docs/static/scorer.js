// The order of search results: pages whose title has the words of the query come first, and guides
// before entries of the reference. Sphinx alone counts a word in a text as much as one in a title.
var Scorer = (() => {
  const SMALL_WORDS = new Set(
    "a an and by do does for how i in is my of on the to with".split(" "),
  );

  const wordsOf = (text) =>
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}_]+/u)
      .filter((word) => word && !SMALL_WORDS.has(word));

  // "compares", "compared" and "compare" are one word.
  const stemOf = (word) => {
    const ending = word.length > 4 ? /(?:ings?|ed|es|s|e)$/ : /s$/;
    return word.replace(ending, "");
  };

  const stemsOf = (text) => wordsOf(text).map(stemOf);
  const query = new URLSearchParams(window.location.search).get("q") || "";

  // Guides answer questions; lists of pages and entries of the reference only name things.
  const placeOf = (page) => {
    if (page === "index" || page.endsWith("/index")) return -20;
    if (page.startsWith("reference/api/")) return -4;
    if (page.startsWith("reference/commands/")) return -6;
    if (page.startsWith("reference/") || page.startsWith("concepts/")) return 0;
    return 4;
  };

  return {
    score: ([page, title, anchor, , score, , kind]) => {
      const stems = stemsOf(query);
      const titleStems = new Set(stemsOf(title));
      // "Compare two runs" of "Compare two runs: is B better than A?"
      const nameStems = stemsOf(title.split(/: | > /)[0]);
      const matches = stems.filter((stem) => titleStems.has(stem)).length;
      const share = stems.length ? matches / stems.length : 0;
      const isNamed = nameStems.length && nameStems.every((stem) => stems.includes(stem));
      const ofName = isNamed ? 12 * share : 0;
      // Sphinx finds an object by any of the words, so it often answers another question
      const ofObject = kind === "object" && stems.length > 1 ? -40 : 0;
      const ofSection = anchor && kind === "title" ? -1 : 0;
      const ofTitle = 40 * share * share + ofName + ofSection;
      // The cap keeps a long page that repeats a word from passing one whose title has it
      return Math.min(score, 20) + ofTitle + ofObject + placeOf(page);
    },
    objNameMatch: 11,
    objPartialMatch: 1,
    objPrio: { 0: 5, 1: 0, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
  };
})();
