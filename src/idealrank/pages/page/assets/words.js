// Small things that every part uses: elements, numbers in words, names that cannot turn the direction of reading.

const UNFIT = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]/gu;

/** An element with attributes and children; texts are texts, never HTML. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

/** A name, id or text as it is shown: characters that show nothing, or turn what follows, stand as escapes. */
function shown(text) {
  return text.replace(UNFIT, escaped);
}

/** A text isolated from its neighbours, whatever its direction of reading. */
function isolated(text) {
  return make("bdi", {}, shown(text));
}

function numberText(value) {
  return Number.isFinite(value) ? value.toFixed(4) : "–";
}

function signedText(value) {
  if (!Number.isFinite(value)) return "–";
  return (value < 0 ? "−" : "+") + Math.abs(value).toFixed(4);
}

function countText(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** For screen readers only. */
function announce(text) {
  const place = document.querySelector("dialog[open] [role=status]") ?? document.getElementById("said"); // behind a dialog nothing is heard
  place.textContent = text;
}

async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyBySelection(text); // a page opened from a file may have no clipboard of its own
  }
  const label = [...button.childNodes];
  announce("Copied");
  if (button.dataset.copied !== undefined) return; // pressed again while it still says so
  button.dataset.copied = "";
  button.replaceChildren("Copied");
  setTimeout(() => {
    delete button.dataset.copied;
    button.replaceChildren(...label);
  }, 1500);
}

function copyBySelection(text) {
  const area = make("textarea", { class: "unseen", "aria-hidden": "true" });
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

function download(name, text, type) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
