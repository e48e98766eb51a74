/* Runs before the first paint, so that a chosen theme does not flash. */
(function chooseTheme() {
  try {
    const chosen = window.localStorage.getItem('headwater-theme');
    if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen;
  } catch {
    /* storage refused: the system's preference stands */
  }
})();
