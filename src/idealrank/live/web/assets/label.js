// The page works without scripts. With them a key grades, the next pair comes without a new page, and a grade that could not be
// sent is kept and sent again until the server has it.

const PAUSE = 1000; // milliseconds between two attempts
const part = document.getElementById("label");
const unsaved = document.getElementById("unsaved");
const told = document.getElementById("told");
const MARKS = "idealrank-marks";

let looked = 0; // milliseconds that this pair was in sight
let since = performance.now();
let isSending = false;

function count() {
  const now = performance.now();
  if (!document.hidden) looked += now - since;
  since = now;
}

function nonce() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (one) => one.toString(16)).join("-");
}

const form = () => document.getElementById("answer");
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

function showMarks() {
  part.toggleAttribute("data-plain", localStorage.getItem(MARKS) === "off");
}

function show(text) {
  part.innerHTML = text; // of this server, which escapes every text
  looked = 0;
  since = performance.now();
  const query = document.getElementById("query");
  document.title = `${query?.textContent ?? "Label"} · idealrank`;
  told.textContent = part.querySelector(".last")?.textContent ?? query?.textContent ?? "";
  scrollTo({ top: 0, behavior: "instant" });
  query?.focus({ preventScroll: true });
}

async function send(fields) {
  for (;;) {
    let answer = null;
    try {
      answer = await fetch("/label", { method: "POST", body: fields, headers: { "x-idealrank-part": "1" } });
    } catch {
      unsaved.textContent = "Not saved: the server does not answer. Your grade is kept here and sent again until it is saved.";
      unsaved.hidden = false;
      await wait(PAUSE);
      continue;
    }
    const text = await answer.text();
    if (answer.ok) {
      unsaved.hidden = true;
      return text;
    }
    const said = new DOMParser().parseFromString(text, "text/html").querySelector(".lead")?.textContent ?? answer.statusText;
    throw new Error(said);
  }
}

async function submit(event) {
  if (event.target.id !== "answer") return;
  event.preventDefault();
  if (isSending) return;
  isSending = true;
  count();
  const fields = new URLSearchParams(new FormData(event.target, event.submitter));
  fields.set("seconds", (looked / 1000).toFixed(2));
  fields.set("nonce", nonce());
  event.submitter?.toggleAttribute("data-sent", true);
  try {
    show(await send(fields));
    if (location.search) history.replaceState(null, "", "/label");
  } catch (error) {
    unsaved.textContent = `Not saved: ${error.message}`;
    unsaved.hidden = false;
    event.submitter?.toggleAttribute("data-sent", false);
  } finally {
    isSending = false;
  }
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const target = event.target;
  if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) {
    if (event.key === "Escape") target.blur();
    else if (event.key === "Enter" && form()?.contains(target)) {
      event.preventDefault(); // which of the grades it would be is for the person to say
      target.blur();
    }
    return;
  }
  const key = event.key.toLowerCase();
  if (key === "h") {
    localStorage.setItem(MARKS, localStorage.getItem(MARKS) === "off" ? "on" : "off");
    showMarks();
    return;
  }
  const found = [...part.querySelectorAll("[data-key], [data-focus-key]")].find(
    (one) => one.dataset.key === key || one.dataset.focusKey === key,
  );
  if (!found) return;
  event.preventDefault();
  if (found.dataset.focusKey) found.focus();
  else found.click();
}

showMarks();
document.addEventListener("visibilitychange", () => {
  const now = performance.now();
  if (document.hidden) looked += now - since;
  since = now;
});
document.addEventListener("submit", submit);
document.addEventListener("keydown", press);
