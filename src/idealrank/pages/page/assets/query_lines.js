// Moves between neighbouring rankings as lines, and the document that the reader points at, marked in every ranking.

const QUERY_SVG = "http://www.w3.org/2000/svg";

/** An element of SVG. */
function querySvg(tag, attributes) {
  const node = document.createElementNS(QUERY_SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** Where a row's line begins or ends, relative to the container: at the height of its id. */
function queryAnchor(row, edge, origin) {
  const cells = [...row.cells].filter((cell) => !cell.matches(".query-was, .query-now"));
  const box = (edge === "right" ? cells.at(-1) : cells[0]).getBoundingClientRect();
  const mark = row.querySelector(".query-grade").getBoundingClientRect();
  return { x: (edge === "right" ? box.right : box.left) - origin.left, y: mark.top + mark.height / 2 - origin.top };
}

/** The line of one document that stands in two neighbouring rankings. */
function queryLine(left, right, origin) {
  const from = queryAnchor(left, "right", origin);
  const to = queryAnchor(right, "left", origin);
  const bend = (to.x - from.x) * 0.5;
  const [first, second] = [Number(left.dataset.rank), Number(right.dataset.rank)];
  const move = second < first ? "up" : second > first ? "down" : "same";
  const shape = `M${from.x + 4} ${from.y} C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x - 4} ${to.y}`;
  const isRelevant = Number(left.querySelector(".query-grade").textContent) > 0;
  const isPointed = left.classList.contains("query-pointed"); // drawn anew, it stays marked
  const path = querySvg("path", { d: shape, class: `query-line query-${move}${isRelevant ? " query-relevant" : ""}${isPointed ? " query-pointed" : ""}` });
  path.dataset.document = left.dataset.document;
  return path;
}

/** Lines between all neighbouring rankings that stand side by side; none where they are stacked. */
function drawQueryLines(rankings) {
  const svg = rankings.querySelector(".query-lines");
  const tables = [...rankings.querySelectorAll(".query-ranking")];
  const origin = rankings.getBoundingClientRect();
  const paths = [];
  tables.slice(1).forEach((table, at) => {
    const [left, right] = [tables[at].getBoundingClientRect(), table.getBoundingClientRect()];
    if (right.left < left.right) return;
    for (const row of queryRows(tables[at])) {
      const other = row.dataset.document < 0 ? null : table.querySelector(`tr[data-document="${row.dataset.document}"]`);
      if (other) paths.push(queryLine(row, other, origin));
    }
  });
  // What matters is drawn last, above the rest.
  const weight = (path) => Number(path.classList.contains("query-relevant")) * 2 - Number(path.classList.contains("query-same"));
  svg.replaceChildren(...paths.sort((one, other) => weight(one) - weight(other)));
  svg.setAttribute("width", rankings.scrollWidth);
  svg.setAttribute("height", rankings.scrollHeight);
}

/** Rows of documents of a ranking, or of all. */
function queryRows(within) {
  return [...within.querySelectorAll("tbody tr[data-document]")];
}

/** Marks a document in every ranking, list and line of the view; none with null. */
function queryPoint(view, document) {
  for (const node of view.querySelectorAll("[data-document]")) {
    node.classList.toggle("query-pointed", document !== null && document >= 0 && node.dataset.document === String(document));
  }
}

/** The document that an event is about; null where it is about none. */
function queryPointed(event) {
  const node = event.target instanceof Element ? event.target.closest("[data-document]") : null;
  return node ? Number(node.dataset.document) : null;
}

/** The row that an arrow key leads to: up and down in a ranking, left and right to the same document, else to the same rank. */
function queryNeighbour(rankings, row, key) {
  const tables = [...rankings.querySelectorAll(".query-ranking")];
  const own = queryRows(row.closest("table"));
  const at = own.indexOf(row);
  if (key === "ArrowDown") return own[at + 1];
  if (key === "ArrowUp") return own[at - 1];
  if (key === "Home") return own[0];
  if (key === "End") return own.at(-1);
  const side = { ArrowLeft: -1, ArrowRight: 1 }[key];
  const table = side && tables[tables.indexOf(row.closest("table")) + side];
  if (!table) return undefined;
  const rows = queryRows(table);
  const same = row.dataset.document >= 0 ? rows.find((each) => each.dataset.document === row.dataset.document) : undefined;
  return same ?? rows[Math.min(at, rows.length - 1)];
}

/** One row takes part in the order of Tab; arrows move within. */
function queryRove(rankings, row) {
  for (const each of queryRows(rankings)) each.tabIndex = each === row ? 0 : -1;
}

/** Keys of a focused row: arrows move, Enter shows its whole text, copying copies its id. */
function queryKeys(event, rankings) {
  const row = event.target.closest("tr[data-document]");
  if (!row || event.target !== row || event.altKey || event.metaKey) return;
  if (event.key === "Enter" && !event.ctrlKey) {
    row.classList.toggle("query-open");
    event.preventDefault();
    return;
  }
  const next = event.ctrlKey ? undefined : queryNeighbour(rankings, row, event.key);
  if (!next) return;
  queryRove(rankings, next);
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest", inline: "nearest" });
  event.preventDefault();
}

/** Keys and redrawing for a container of rankings. */
function wireQueryRankings(rankings) {
  queryRove(rankings, queryRows(rankings)[0]);
  rankings.addEventListener("keydown", (event) => queryKeys(event, rankings));
  rankings.addEventListener("focusin", (event) => {
    const row = event.target.closest("tr[data-document]");
    if (row) queryRove(rankings, row);
  });
  rankings.addEventListener("click", (event) => {
    const text = event.target.closest(".query-text");
    if (text && getSelection().isCollapsed) text.closest("[data-document]").classList.toggle("query-open");
  });
  const observer = new ResizeObserver(() => drawQueryLines(rankings));
  for (const each of [rankings, ...rankings.querySelectorAll("table")]) observer.observe(each);
}

/** Pointing with the mouse or by focus, wherever a document is mentioned; an element is wired once. */
function wireQueryPointing(view) {
  if (view.dataset.wired) return;
  view.dataset.wired = "true";
  view.addEventListener("mouseover", (event) => queryPoint(view, queryPointed(event) ?? queryFocused(view)));
  view.addEventListener("mouseleave", () => queryPoint(view, queryFocused(view)));
  view.addEventListener("focusin", (event) => queryPoint(view, queryPointed(event)));
}

/** The document of the focused row, which stays marked when the mouse leaves. */
function queryFocused(view) {
  const row = view.contains(document.activeElement) ? document.activeElement.closest("[data-document]") : null;
  return row ? Number(row.dataset.document) : null;
}
