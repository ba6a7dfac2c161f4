// Text from strangers: shown as text wherever it appears.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { published } from './fixtures.mjs';
import { explorer } from './harness.mjs';

const { open } = explorer();
const data = published();
const EVIL = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';

/** Fails if anything of the text became markup or ran. */
async function untouched(page) {
  assert.equal(await page.evaluate(() => window.pwned), undefined, 'no script ran');
  assert.equal(await page.locator('#app img, #app script, #app a[href^="javascript:"]').count(), 0, 'no markup');
}

test('markup in the names of a leaderboard row is text', async (t) => {
  const { page } = await open(t, { hash: '#/?case=all', answers: data.answers() });
  const row = page.locator('.rows tbody tr', { has: page.locator('.name a', { hasText: 'engine <img' }) }).first();
  await row.waitFor();
  assert.equal(await row.locator('.name a').innerText(), `engine ${EVIL} version ${EVIL} · model ${EVIL} quantisation ${EVIL}`);
  assert.match(await row.locator('.mark').getAttribute('aria-label'), /<img src=x/);
  await row.locator('.mark').focus();
  await page.locator('.facet label', { hasText: 'engine <img' }).click();
  await page.locator('.chip').waitFor();
  assert.equal(await page.locator('.chip-text').innerText(), `engine: engine ${EVIL}`);
  await untouched(page);
});

test('markup in every field of a submission is text', async (t) => {
  const { page } = await open(t, { hash: `#/submission/${data.id('engine <img')}`, answers: data.answers() });
  await page.locator('.submission h1').waitFor();
  await page.getByRole('button', { name: 'Show the text' }).click();
  const text = await page.locator('main').innerText();
  const fields = [
    'label', 'engine', 'model', 'hardware', 'source', 'author', 'date', 'series', 'submitter', 'command', 'partial', 'version', 'commit',
    'quantisation', 'revision', 'format', 'cpu', 'link', 'driver', 'os', 'accelerator', 'architecture', 'flag', 'value', 'key',
    'description', 'statistic', 'note', 'metric', 'unit', 'case', 'workload', 'b', 'a', 'p',
  ];
  for (const field of fields) {
    assert.ok(text.includes(`${field} ${EVIL}`), `${field} is shown as it is`);
  }
  assert.match(text, /javascript:window\.pwned=1/);
  await untouched(page);
});

test('markup in the reason of a rejected file and in an address is text', async (t) => {
  const latest = { ...data.latest, rejected: [{ path: `results/${EVIL}.json`, reason: EVIL }] };
  const { page } = await open(t, { answers: data.answers({ '/data/latest.json': latest }) });
  await page.locator('.rejected li').waitFor();
  assert.equal(await page.locator('.rejected li span').innerText(), EVIL);
  await page.evaluate((evil) => (location.hash = `#/${evil}`), EVIL);
  await page.getByText('No such page').waitFor();
  await page.evaluate((evil) => (location.hash = `#/?search=${encodeURIComponent(evil)}&case=${evil}&metric=${evil}`), EVIL);
  await page.locator('.chip').waitFor();
  await untouched(page);
});

test('the page forbids scripts that are not its own', async (t) => {
  const { page } = await open(t, { answers: data.answers(), allowErrors: /Content Security Policy/ });
  await page.locator('.rows').waitFor();
  const ran = await page.evaluate(async () => {
    const script = document.createElement('script');
    script.textContent = 'window.pwned = 1';
    document.body.append(script);
    await new Promise((resolve) => setTimeout(resolve, 50));
    return window.pwned;
  });
  assert.equal(ran, undefined);
});
