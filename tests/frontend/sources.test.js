/** Rules that hold for every file of the page. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const FRONTEND = new URL('../../frontend/', import.meta.url);
const read = (path) => readFileSync(new URL(path, FRONTEND), 'utf8');
const scripts = readdirSync(new URL('js/', FRONTEND), { recursive: true })
  .filter((name) => name.endsWith('.js'))
  .map((name) => `js/${name}`);
const styles = readdirSync(new URL('css/', FRONTEND)).map((name) => `css/${name}`);
const page = read('index.html');

test('there are scripts to look at', () => assert.ok(scripts.length > 15));

test('no script makes markup or code out of text', () => {
  const forbidden =
    /\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|DOMParser|createContextualFragment|srcdoc)\b|new Function|set(Timeout|Interval)\(\s*['"`]/;
  for (const path of scripts) assert.doesNotMatch(read(path), forbidden, path);
});

test('nothing is loaded from elsewhere', () => {
  // The last two stand in an event to copy: nothing asks them.
  const allowed = ['http://www.w3.org/2000/svg', 'https://openlineage.io/spec/', 'https://example.org/by-hand'];
  for (const path of [...scripts, ...styles, 'index.html']) {
    const found = [...read(path).matchAll(/https?:\/\/[^\s'"`)]+/g)]
      .map(([address]) => address)
      .filter((address) => !allowed.some((one) => address.startsWith(one)));
    assert.deepEqual(found, [], path);
  }
});

test('the page has no inline script and no inline handler: the policy would refuse them', () => {
  assert.doesNotMatch(page, /<script(?![^>]*\bsrc=)[^>]*>/);
  assert.doesNotMatch(page, /\son[a-z]+=/);
});

test('only graph.js names vis-network', () => {
  const naming = scripts.filter((path) => /from '[^']*vis-network[^']*'/.test(read(path)));
  assert.deepEqual(naming, ['js/drawing/graph.js']);
});

test('every import leads to a file or to the one vendored name', () => {
  for (const path of scripts) {
    for (const [, target] of read(path).matchAll(/(?:^import .*from |\bimport\()'([^']+)'\)?/gm)) {
      if (target === '/vendor/vis-network/vis-network.min.js') continue;
      assert.ok(
        scripts.includes(new URL(target, new URL(path, 'http://page/')).pathname.slice(1)),
        `${path} imports ${target}`,
      );
    }
  }
});

test('every style sheet is on the page, the palette first and narrow screens last', () => {
  const linked = [...page.matchAll(/href="\/(css\/[a-z]+\.css)"/g)].map(([, name]) => name);
  assert.deepEqual([...linked].sort(), [...styles].sort());
  assert.deepEqual([linked[0], linked.at(-1)], ['css/palette.css', 'css/narrow.css']);
});

test('a folder holds a dozen modules at most, the views apart', () => {
  const sizes = new Map();
  for (const path of scripts) {
    const folder = path.slice(0, path.lastIndexOf('/'));
    sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
  }
  assert.deepEqual([...sizes.keys()].sort(), ['js', 'js/controls', 'js/data', 'js/drawing', 'js/estate', 'js/export', 'js/items', 'js/page', 'js/panel', 'js/runs', 'js/shell', 'js/start', 'js/views']);
  for (const [folder, number] of sizes) assert.ok(folder === 'js/views' || number <= 12, `${folder}: ${number}`);
});

test('every element that the shell asks for is on the page', () => {
  const asked = [...read('js/shell/places.js').matchAll(/\b(?:at|byId)\('([a-z-]+)'/g)].map(([, id]) => id);
  assert.ok(asked.length > 20);
  for (const id of asked) assert.match(page, new RegExp(`id="${id}"`), id);
});

test('the types of every script are checked: none is left out', () => {
  for (const path of scripts) assert.doesNotMatch(read(path), /@ts-(nocheck|ignore|expect-error)/, path);
});

test('the lock file pins the required packages, with checksums and without the address of a registry', () => {
  const lock = read('package-lock.json');
  const { packages } = JSON.parse(lock);
  const { dependencies, devDependencies } = JSON.parse(read('package.json'));
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    assert.match(version, /^\d+\.\d+\.\d+$/, name);
    assert.equal(packages[`node_modules/${name}`].version, version);
  }
  assert.deepEqual(Object.keys(dependencies), ['vis-network']);
  for (const [name, entry] of Object.entries(packages)) {
    assert.equal(entry.resolved, undefined, name);
    if (name) assert.match(entry.integrity, /^sha512-/, name);
  }
  assert.doesNotMatch(lock, /registry/);
});
