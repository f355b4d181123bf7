// Plots: Vega-Lite templates of the page with the rows of the measure and pair that are chosen. Each is drawn when it comes near the
// window, the others when there is time, so that the page opens fast and prints whole. Colours come from the page's style.

const PLOT_WIDEST = 860;
const PLOT_NARROW = 520; // below, intervals are drawn but not written
const PLOT_POINTS = 2000; // more of them are drawn on a canvas
const PLOT_INK = ["ink", "quiet", "axis", "line", "paper", "accent", "worse", "run", "other", "wash"];
let plotVega = null;

/** Vega, from the packed part of the page; run once. Its text is one that the page's policy knows by its hash. */
function loadVega() {
  plotVega ??= unpack("page-vega").then((bytes) => {
    document.head.append(make("script", {}, new TextDecoder().decode(bytes)));
    return globalThis.vegaEmbed;
  });
  return plotVega;
}

/** Draw all plots of the page, and draw them anew when something changes that they show. */
async function drawPlots(page, now) {
  const plots = [];
  for (const figure of document.querySelectorAll("figure[data-plot]")) {
    if (figure.dataset.plot in page.specs) plots.push(startPlot(page, figure));
  }
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const plot = plots.find((one) => one.figure === entry.target);
      plot.near = entry.isIntersecting;
      if (plot.near) plot.refresh();
    }
  }, { rootMargin: "200px" });
  const again = (needed) => {
    for (const plot of plots) {
      if (needed(plot)) plot.stale = true;
      if (plot.near) plot.refresh();
    }
    plotsInTime(plots);
  };
  watchPlots(again);
  onState((after, before) => again(() => ["measure", "a", "b"].some((key) => after[key] !== before[key])));
  for (const plot of plots) near.observe(plot.figure);
  plotsInTime(plots);
}

/** Other widths; other colours, which only a canvas does not take from the page's style by itself. */
function watchPlots(again) {
  const onCanvas = (plot) => plot.renderer === "canvas";
  document.addEventListener("themechange", () => again(onCanvas));
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", () => again(onCanvas));
  addEventListener("beforeprint", () => again(() => false));
  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => again((plot) => plotWidth(plot.figure) !== plot.width), 150);
  });
}

/** One after the other, when nothing else is to be done; `data-plots` stands at the page while all are drawn. */
function plotsInTime(plots) {
  document.documentElement.toggleAttribute("data-plots", plots.every((one) => !one.stale && !one.busy));
  const idle = globalThis.requestIdleCallback ?? ((work) => setTimeout(work, 50));
  idle(async () => {
    const plot = plots.find((one) => one.stale || one.busy);
    if (!plot) return;
    await plot.refresh();
    plotsInTime(plots);
  }, { timeout: 2000 });
}

/** One plot: what it draws now, and a way to draw it anew. */
function startPlot(page, figure) {
  const name = figure.dataset.plot;
  const place = make("div", { class: "plot-place" });
  figure.replaceChildren(place);
  figure.setAttribute("role", "img");
  figure.setAttribute("aria-label", figure.parentElement.querySelector("h2, h3")?.textContent ?? name); // until it is drawn
  figure.tabIndex = 0;
  const plot = { page, name, figure, place, stale: true, near: false, width: 0, renderer: "svg", view: null, busy: false, drawing: Promise.resolve() };
  plot.refresh = () => {
    plot.drawing = plot.drawing.then(() => (plot.stale ? drawPlot(plot) : null)).finally(() => { plot.busy = false; });
    return plot.drawing;
  };
  startPlotTools(plot);
  return plot;
}

function plotWidth(figure) {
  return Math.min(Math.floor(figure.clientWidth), PLOT_WIDEST);
}

/** Rows and words of a plot for what is chosen now. */
function plotContent(page, name, now) {
  const rows = PLOTS[name].rows(page, now);
  return { rows, words: { ...plotPairWords(page, now), ...PLOTS[name].words(page, now, rows) } };
}

async function drawPlot(plot) {
  const { page, name, figure, place } = plot;
  plot.stale = false;
  plot.busy = true;
  plot.width = plotWidth(figure);
  plot.content = plotContent(page, name, state);
  const { rows, words } = plot.content;
  const empty = rows.length === 0;
  figure.parentElement.classList.toggle("plot-empty", empty);
  plot.view?.finalize();
  plot.view = null;
  if (empty) {
    figure.setAttribute("aria-label", "Nothing to draw");
    place.replaceChildren(make("p", { class: "quiet" }, "Nothing to draw for this pair and measure: these runs were not compared in this way."));
    return;
  }
  plot.renderer = name === "scatter" && rows.length > PLOT_POINTS ? "canvas" : "svg"; // a line is one mark, however many rows it has
  const colours = plot.renderer === "canvas" ? plotColours((value) => value) : plotVariables();
  const spec = plotSpec(page.specs[name], rows, { ...words, ...colours }, plot.width);
  await showPlot(plot, spec);
  figure.setAttribute("aria-label", spec.description);
  figure.dispatchEvent(new CustomEvent("plotdrawn"));
}

async function showPlot(plot, spec) {
  const embed = await loadVega();
  const options = { renderer: plot.renderer, ast: true, actions: false, defaultStyle: false, mode: "vega-lite" };
  const result = await embed(plot.place, spec, { ...options, tooltip: plotTip(plot) });
  plot.place.firstElementChild?.setAttribute("aria-hidden", "true"); // the figure says it in words
  plot.view = result.view;
  plot.view.addEventListener("click", (event, item) => {
    const query = item?.datum?.query;
    if (Number.isInteger(query)) setState({ query });
  });
}

/** Colours as variables of the style: they follow the theme, and paper, without being drawn anew. */
function plotVariables() {
  return Object.fromEntries(PLOT_INK.map((name) => [name, `var(--plot-${name})`]));
}

/** Colours as they are now. */
function plotColours() {
  const probe = make("span", { hidden: true });
  document.body.append(probe);
  const found = PLOT_INK.map((name) => {
    probe.style.color = `var(--plot-${name})`;
    return [name, plotPlainColour(getComputedStyle(probe).color)];
  });
  probe.remove();
  return Object.fromEntries(found);
}

/** A colour that Vega reads, from any that a browser says. */
function plotPlainColour(colour) {
  const dot = make("canvas", { width: 1, height: 1 }).getContext("2d");
  dot.fillStyle = colour;
  dot.fillRect(0, 0, 1, 1);
  const [red, green, blue] = dot.getImageData(0, 0, 1, 1).data;
  return `rgb(${red}, ${green}, ${blue})`;
}

/** A template with rows and words, laid out for a width; as `dressed` and `in_print` in theme.py. */
function plotSpec(template, rows, words, width) {
  const layout = template.usermeta ?? {};
  const named = Object.entries(words).map(([name, value]) => [name, name.endsWith("colour") ? words[value] : value]);
  const all = { font: getComputedStyle(document.body).fontFamily, ...plotRoom(width, layout.letters ?? 0), ...Object.fromEntries(named) };
  const spec = { ...plotFilled(template, all), datasets: { rows: rows.map((row) => ({ ...row })) } };
  if (layout.square) {
    const side = Math.min(width, layout.widest) - layout.square;
    return { ...spec, width: side, height: side };
  }
  return { ...spec, height: layout.height.step ? layout.height.step * rows.length : layout.height, width, autosize: { type: "fit-x", contains: "padding" } };
}

/** Where labels at the left begin, and which numbers stand at the right; as `room_words` in theme.py. */
function plotRoom(width, letters) {
  const narrow = width < PLOT_NARROW;
  const room = Math.round(6.1 * Math.min(letters, narrow ? 19 : letters)) + 16;
  return { numbers: narrow ? "brief" : "text", names: narrow ? "short" : "label", left: -room, indented: 12 - room, room: room - 4, below: narrow ? 50 : 32 };
}

/** A text that is one word becomes its value; in a longer one words become text. Values are not looked at again. */
function plotFilled(part, words) {
  if (Array.isArray(part)) return part.map((one) => plotFilled(one, words));
  if (part !== null && typeof part === "object") return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, plotFilled(one, words)]));
  if (typeof part !== "string" || !part.includes("@")) return part;
  const alone = /^@([a-z]+)$/.exec(part);
  if (alone && alone[1] in words) return words[alone[1]];
  return part.replace(/@([a-z]+)\b/g, (whole, name) => (name in words ? String(words[name]) : whole));
}
