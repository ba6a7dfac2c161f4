// The site as it was built: does it start at all, and is everything it names there?

import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { explorer, site } from './harness.mjs';
import { serve } from './static-server.mjs';

const { open } = explorer();

test('the explorer starts from its own files alone', async (t) => {
  const { page, server } = await open(t);
  assert.match(await page.title(), /Dyno/);
  await page.locator('nav a').first().waitFor();
  const wasm = server.requests.filter((path) => path.endsWith('.wasm'));
  assert.equal(new Set(wasm).size, 1, `one WebAssembly module, not ${wasm}`);
  const elsewhere = await page.evaluate(() =>
    performance.getEntriesByType('resource').map((entry) => entry.name).filter((name) => !name.startsWith(location.origin)),
  );
  assert.deepEqual(elsewhere, [], 'nothing is loaded from another host');
});

test('the test server sends files with their type, replaces answers, and keeps to its folder', async (t) => {
  const server = await serve(site(), { '/data/broken.json': '{"cut', '/data/gone.json': { status: 410 } });
  t.after(server.close);
  const get = async (path) => fetch(new URL(path, server.url));
  const index = await get('/');
  assert.equal(index.status, 200);
  assert.match(index.headers.get('content-type'), /^text\/html/);
  assert.equal(await (await get('/data/broken.json')).text(), '{"cut');
  assert.equal((await get('/data/gone.json')).status, 410);
  assert.equal((await get('/%2e%2e%2fCargo.toml')).status, 404);
  assert.equal((await get('/absent')).status, 404);
});

test('the built files do not say whose machine built them', async () => {
  const named = (await readdir(site())).filter((name) => /\.(wasm|js|css|html)$/.test(name));
  assert.ok(named.some((name) => name.endsWith('.wasm')), 'there is a module to look into');
  for (const name of named) {
    const text = await readFile(path.join(site(), name), 'latin1');
    for (const folder of [os.homedir() + '/', '/.cargo/']) {
      assert.ok(!text.includes(folder), `${name} holds ${folder}`);
    }
  }
});
