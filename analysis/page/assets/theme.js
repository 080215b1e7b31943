/* The theme somebody chose, before anything is drawn. */
"use strict";
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // No storage, as in some private windows: the system's theme.
}
