// Comforts alone: every page works without scripts.

const THEMES = ["auto", "dark", "light"];
const KEY = "idealrank-theme";

function startTheme() {
  const button = document.getElementById("theme");
  const set = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  const kept = localStorage.getItem(KEY);
  set(THEMES.includes(kept) ? kept : "auto");
  button.hidden = false;
  button.addEventListener("click", () => {
    const now = document.documentElement.dataset.theme ?? "auto";
    const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
    localStorage.setItem(KEY, next);
    set(next);
  });
}

function startCopies() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    });
  }
}

startTheme();
startCopies();
