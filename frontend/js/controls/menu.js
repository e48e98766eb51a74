/**
 * A menu closes when the keyboard or the pointer leaves it, with Escape, and with a choice in it.
 */

/**
 * @param {HTMLElement} menu a details element
 * @returns {void}
 */
export function closeWhenLeft(menu) {
  const close = () => menu.removeAttribute('open');
  /** @param {PointerEvent} event */
  const leave = ({ target }) => {
    if (!(target instanceof Node && menu.contains(target))) close();
  };
  menu.addEventListener('toggle', () => {
    // only while it is open: a document that listened for ever would hold the menus of all views
    if (menu.hasAttribute('open')) document.addEventListener('pointerdown', leave);
    else document.removeEventListener('pointerdown', leave);
  });
  menu.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !menu.contains(relatedTarget)) close();
  });
  menu.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a')) close();
  });
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.hasAttribute('open')) return;
    event.stopPropagation();
    close();
    menu.querySelector('summary')?.focus();
  });
}
