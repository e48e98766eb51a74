/**
 * The API key that the reader has typed: kept for this tab alone, sent as a header, never in a link.
 */
const KEPT = 'headwater-key';

/**
 * @param {Storage|null} storage sessionStorage; null where the browser refuses it
 * @returns {{get: () => string, set: (text: string) => void}}
 */
export function createApiKey(storage) {
  let kept = read(storage);

  function set(text) {
    kept = text.trim();
    try {
      if (kept) storage?.setItem(KEPT, kept);
      else storage?.removeItem(KEPT);
    } catch {
      /* storage refused: the key lasts until the page is left */
    }
  }

  return { get: () => kept, set };
}

function read(storage) {
  try {
    return storage?.getItem(KEPT) ?? '';
  } catch {
    return '';
  }
}

/** @returns {Storage|null} */
export function sessionStore() {
  try {
    return window.sessionStorage;
  } catch {
    return null;
  }
}

/**
 * The header for a key; a text that no header can carry (a pasted line break, an umlaut) is no key.
 * @param {string} key
 * @returns {Record<string, string>}
 */
export function apiKeyHeader(key) {
  return /^[\x21-\x7e]+$/.test(key) ? { 'X-API-Key': key } : {};
}
