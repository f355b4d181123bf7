// The theme's arrows that fold the sidebar have no text.
for (const arrow of document.querySelectorAll("summary:has(.toctree-toggle)")) {
  const link = arrow.closest("li")?.querySelector("a");
  arrow.setAttribute("aria-label", `Pages of ${link ? link.textContent.trim() : "this section"}`);
}
