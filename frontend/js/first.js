/**
 * What runs before the modules of the page: a chosen theme, so that the first paint does not flash, and the
 * answer to modules that do not come.
 */
(function chooseTheme() {
  try {
    const chosen = window.localStorage.getItem('headwater-theme');
    if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen;
  } catch {
    /* storage refused: the system's preference stands */
  }
})();

/**
 * A connection was cut, or the server was upgraded between the page and its modules: nothing of the page
 * would ever run. It is loaded again once, by itself; what is missing then is said.
 */
(function loadAgain() {
  function say() {
    const notice = document.createElement('div');
    notice.className = 'notice error';
    notice.setAttribute('role', 'alert');
    const words = document.createElement('p');
    words.textContent = 'A part of the page did not come from the server.';
    const again = document.createElement('a');
    again.href = window.location.href;
    again.textContent = 'Load it again';
    notice.append(words, again);
    document.body.dataset.state = 'error';
    document.body.dataset.form = 'notice';
    document.getElementById('heading')?.replaceChildren('The page did not load');
    document.getElementById('notice')?.replaceChildren(notice);
  }

  function look({ target }) {
    if (!(target instanceof HTMLScriptElement)) return;
    const [visit] = window.performance.getEntriesByType('navigation');
    if (visit instanceof PerformanceNavigationTiming && visit.type === 'reload') say();
    else window.location.reload();
  }

  window.addEventListener('error', look, true); // errors of elements do not rise
})();
