// One menu for everything that can be taken along: values of queries, tables, plots. Each part of the page offers what it has.

const offered = new Map(); // by group: what it offers, by its heading
const DOWNLOAD_GROUPS = ["Queries", "Plots", "Tables"];

/** Offer files of one thing: `kinds` is a list of names, as "CSV", each with what makes that file. */
function offerDownload(group, heading, kinds) {
  if (!offered.has(group)) offered.set(group, []);
  offered.get(group).push({ heading, kinds });
}

function startDownloads() {
  const button = document.getElementById("download");
  const dialog = document.getElementById("downloads");
  button.hidden = false;
  button.addEventListener("click", () => openDownloads());
  document.getElementById("downloads-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}

/** Open the menu, at the files of one thing where it is named. */
function openDownloads(heading = null) {
  const dialog = document.getElementById("downloads");
  const groups = DOWNLOAD_GROUPS.filter((name) => offered.has(name));
  document.getElementById("downloads-list").replaceChildren(...groups.map(downloadGroup));
  dialog.showModal();
  const wanted = [...dialog.querySelectorAll("li")].find((line) => line.dataset.heading === heading);
  wanted?.scrollIntoView({ block: "center" });
  (wanted?.querySelector("button") ?? document.getElementById("downloads-title")).focus({ preventScroll: true });
}

function downloadGroup(name) {
  return make("section", {}, make("h3", {}, name), make("ul", {}, ...offered.get(name).map(downloadLine)));
}

function downloadLine({ heading, kinds }) {
  const buttons = kinds.map(([kind, take]) => {
    const label = `Download ${heading} as ${kind}`;
    const pressed = () => {
      announce(`${kind} of ${heading} is on its way`);
      take();
    };
    return make("button", { type: "button", "aria-label": label, onclick: pressed }, kind);
  });
  return make("li", { "data-heading": heading }, make("span", {}, isolated(heading)), make("span", { class: "kinds" }, ...buttons));
}
