/**
 * The line between the picture and the area under it: dragged, or moved with the arrow keys. The
 * height is part of the link.
 */

const STEP = 5;
const LEAST = 1;
const MOST = 90;

/**
 * A height within bounds; a sliver is closed.
 * @param {number} percent
 * @returns {number} from 1 (closed) to 90
 */
export function within(percent) {
  const whole = Math.round(percent);
  return whole < STEP ? LEAST : Math.min(MOST, whole);
}

/**
 * @param {HTMLElement} bar
 * @param {HTMLElement} below
 * @param {(percent: number) => void} onMove called once the line is let go; 0: as it comes
 */
export function createDivider(bar, below, onMove) {
  const room = () => below.parentElement?.clientHeight || 1;
  const now = () => within((below.offsetHeight / room()) * 100);

  function show(percent) {
    below.style.height = percent ? `${percent}%` : '';
    below.style.maxHeight = percent ? 'none' : '';
    below.classList.toggle('closed', percent === LEAST);
    bar.setAttribute('aria-valuenow', String(percent || now()));
  }

  function move(percent) {
    show(percent);
    onMove(percent);
  }

  bar.addEventListener('keydown', (event) => {
    const to = { ArrowUp: now() + STEP, ArrowDown: now() - STEP, Home: MOST, End: LEAST, Enter: 0 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(to && within(to));
  });
  bar.addEventListener('dblclick', () => move(0));
  bar.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    bar.setPointerCapture(event.pointerId);
    bar.classList.add('held');
  });
  bar.addEventListener('pointermove', (event) => {
    if (!bar.hasPointerCapture(event.pointerId)) return;
    const bottom = below.parentElement?.getBoundingClientRect().bottom ?? 0;
    show(within(((bottom - event.clientY) / room()) * 100));
  });
  bar.addEventListener('pointerup', (event) => {
    if (!bar.hasPointerCapture(event.pointerId)) return;
    bar.releasePointerCapture(event.pointerId);
    bar.classList.remove('held');
    const percent = Number(bar.getAttribute('aria-valuenow'));
    if (below.style.height) onMove(percent);
  });
  return { show };
}
