// The leaderboard: what stands in it, and what a reader can ask of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { published } from './fixtures.mjs';
import { explorer } from './harness.mjs';

const { open } = explorer();
const data = published();

/** Opens the leaderboard and waits for its rows. */
async function board(t, hash = '', options = {}) {
  const opened = await open(t, { hash, answers: data.answers(), ...options });
  await opened.page.locator('.rows tbody tr').first().waitFor();
  return opened;
}

const names = (page) => page.locator('.rows tbody .name a').allTextContents();
const engines = async (page) => (await names(page)).map((name) => name.split(' ')[0]);
const head = (page, column) => page.locator(`.rows thead .${column}`).textContent();
const row = (page, engine) => page.locator('.rows tbody tr', { has: page.locator('.name a', { hasText: engine }) });
const address = (page) => decodeURIComponent(new URL(page.url()).hash);

test('the first visit shows the commonest case, best first, with interval, runs and evidence', async (t) => {
  const { page } = await board(t);
  assert.deepEqual(await engines(page), ['Turbo', 'vLLM', '千问引擎', 'engine', 'llama.cpp', 'Absurd', 'Ollama']);
  const vllm = row(page, 'vLLM');
  assert.equal(await vllm.locator('.value').innerText(), '117');
  assert.equal(await vllm.locator('.behind').innerText(), '(112–124)');
  assert.equal(await vllm.locator('.badges').innerText(), 'transcribed summary');
  const raw = row(page, 'llama.cpp');
  assert.equal(await raw.locator('.runs').innerText(), '8 of 10');
  assert.match(await raw.locator('.badges').innerText(), /raw[^]*2 failed[^]*outliers/);
  assert.match(await raw.locator('.ttft').innerText(), /^0\.20\d$/);
});

test('a head orders the rows, once more the other way, by keyboard too, and says so', async (t) => {
  const { page } = await board(t);
  const name = page.locator('.rows thead .name');
  assert.equal(await name.getAttribute('aria-sort'), 'none');
  await name.locator('button').focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('.rows thead .name').ariaSort === 'ascending');
  const ascending = await names(page);
  assert.equal(ascending[0], 'Absurd · SmolLM2-135M-Instruct');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('.rows thead .name').ariaSort === 'descending');
  assert.deepEqual(await names(page), ascending.reverse());
  assert.match(address(page), /sort=-name/);
});

test('times are ordered with the shortest first, and what nobody measured comes last both ways', async (t) => {
  const { page } = await board(t, '#/?metric=engine_decode_tok_s');
  assert.deepEqual((await engines(page)).slice(0, 2), ['llama.cpp', 'Ollama']);
  await page.locator('.rows thead .value button').click();
  await page.waitForFunction(() => document.querySelector('.rows thead .value').ariaSort === 'ascending');
  assert.deepEqual((await engines(page)).slice(0, 2), ['Ollama', 'llama.cpp']);
});

test('facets narrow the rows, count what is left, and stand in the address', async (t) => {
  const { page } = await board(t);
  const facet = (name) => page.locator('.facet label', { hasText: name });
  assert.equal(await facet('vLLM').locator('.facet-count').innerText(), '1');
  await facet('vLLM').click();
  await page.locator('.chip').waitFor();
  assert.deepEqual(await engines(page), ['vLLM']);
  await facet('llama.cpp').click();
  await page.waitForFunction(() => document.querySelectorAll('.rows tbody tr').length === 2);
  assert.match(address(page), /engine=llama\.cpp&engine=vLLM/);
  assert.equal(await page.locator('.summary').innerText().then((text) => text.split(' · ')[0]), '2 of 7 rows');
});

test('a filter in the address is applied, and shown as applied', async (t) => {
  const { page } = await board(t, '#/?engine=vLLM&search=tp%3D4&case=all');
  assert.deepEqual(await engines(page), ['vLLM', 'vLLM', 'vLLM']);
  assert.ok(await page.locator('.facet label', { hasText: 'vLLM' }).locator('input').isChecked());
  assert.deepEqual(await page.locator('.chip-text').allTextContents(), ['engine: vLLM', 'search: tp=4']);
  assert.equal(await page.locator('input[type=search]').inputValue(), 'tp=4');
  assert.match(await page.locator('select').first().evaluate((list) => list.selectedOptions[0].text), /^all cases/);
});

test('a filter that nothing passes is shown with a way out', async (t) => {
  const { page } = await open(t, { hash: '#/?engine=Never&model=Seen', answers: data.answers() });
  await page.getByText('No row passes these filters').waitFor();
  assert.deepEqual(await page.locator('.chip-text').allTextContents(), ['model: Seen', 'engine: Never']);
  await page.getByRole('button', { name: 'Remove the filters' }).click();
  await page.locator('.rows tbody tr').first().waitFor();
  assert.equal((await names(page)).length, 7);
});

test('back and forward go through what was asked, and typing is one step', async (t) => {
  const { page } = await board(t);
  await page.locator('.facet label', { hasText: 'Ollama' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.rows tbody tr').length === 1);
  await page.locator('input[type=search]').pressSequentially('quadro');
  await page.waitForFunction(() => location.hash.includes('search=quadro'));
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll('.rows tbody tr').length === 7);
  assert.equal(await page.locator('.chip').count(), 0);
  await page.goForward();
  await page.waitForFunction(() => document.querySelectorAll('.rows tbody tr').length === 1);
  assert.equal(await page.locator('input[type=search]').inputValue(), 'quadro');
});

test('another regime, case and figure are one choice away, and models stay chosen', async (t) => {
  const { page } = await board(t, '#/?model=SmolLM2-135M-Instruct');
  await page.getByRole('link', { name: /^cold prefill/ }).click();
  await page.locator('.rows thead .prompt').waitFor();
  assert.deepEqual(await engines(page), ['llama.cpp']);
  assert.equal(await page.locator('.rows tbody .prompt').innerText(), '2,048');
  assert.match(address(page), /regime=cold_prefill&model=SmolLM2/);
  await page.getByLabel('figure').selectOption('time to first token');
  await page.locator('.rows thead .value', { hasText: 's▲' }).waitFor();
  assert.equal(await page.locator('.rows thead .ttft').count(), 0, 'no second column of the same figure');
});

test('a broken shard is listed with its reason and blocks nothing', async (t) => {
  const { page } = await board(t);
  const rejected = page.locator('.rejected li');
  assert.equal(await rejected.count(), 1);
  assert.match(await rejected.innerText(), /truncated\.json\s+not JSON at line 1, column 76.*cut off/s);
  assert.equal(data.latest.submissions, 7);
});

test('a figure that nobody measured is a dash with its reason, in its own row', async (t) => {
  const { page } = await board(t);
  const ollama = row(page, 'Ollama');
  const dash = ollama.locator('.value .unknown');
  assert.equal(await dash.innerText(), '–');
  assert.equal(
    await dash.getAttribute('aria-label'),
    'not measured; this submission has: decode rate, by the engine',
  );
  assert.equal(await ollama.locator('circle, polygon').count(), 0, 'no mark');
  await dash.focus();
  assert.match(await dash.evaluate((e) => getComputedStyle(e, '::after').content), /not measured/);
});

test('zero, negative and absurd numbers neither hang the page nor stand at the floor', async (t) => {
  const { page } = await board(t, '#/?case=all&engine=Absurd&engine=vLLM&engine=Turbo');
  const of = (name) => page.locator('.rows tbody tr', { has: page.locator('td.case', { hasText: name }) });
  assert.equal(await of('absurd_zero').locator('.value').innerText(), '0');
  assert.equal(await of('absurd_negative').locator('.value').innerText(), '-4.00');
  const marks = (of) => of.locator('.chart svg circle').count();
  assert.ok((await marks(of('absurd_zero'))) > 0, 'a linear axis has a zero');
  for (const name of ['absurd_small']) {
    assert.equal(await marks(of(name)), 0);
    assert.match(await of(name).locator('.left-out').innerText(), /not drawn: outside of/);
  }
  await page.goto(page.url().replace(/#.*/, '#/?engine=Absurd&engine=vLLM&engine=Turbo'));
  const absurd = row(page, 'Absurd');
  await absurd.locator('.left-out').waitFor();
  assert.equal(await absurd.locator('.value').innerText(), '1.00e300');
  assert.equal((await engines(page)).at(-1), 'Absurd', 'a number beyond belief is not the best');
});

test('one outlier leaves the rest readable and is marked', async (t) => {
  const { page } = await board(t, '#/?case=all');
  const x = async (engine) => {
    const mark = row(page, engine).first().locator('.chart svg circle').first();
    return Number(await mark.getAttribute('cx'));
  };
  const width = await page.locator('.rows tbody .chart svg').first().evaluate((svg) => svg.viewBox.baseVal.width);
  assert.ok((await x('vLLM')) - (await x('llama.cpp')) > width / 4, 'the rest is apart');
  const turbo = row(page, 'Turbo').locator('.mark');
  assert.match(await turbo.getAttribute('aria-label'), /12,000 tok\/s.*beyond the end of the axis/);
  assert.equal(await turbo.locator('svg polygon').count(), 1, 'an arrow');
});

test('engines, models and machines never seen before are shown as they are', async (t) => {
  const { page } = await board(t);
  const unknown = row(page, '千问引擎');
  assert.equal(await unknown.locator('.name a').innerText(), '千问引擎 · نموذج عربي');
  assert.match(await unknown.locator('.subtitle').innerText(), /^🚀 Raketenrechner · a label/);
  assert.ok(await page.locator('.facet label', { hasText: 'نموذج عربي' }).isVisible());
  await page.getByRole('link', { name: /^another regime/ }).click();
  await page.waitForFunction(() => document.querySelectorAll('.rows tbody tr').length === 1);
  assert.equal(await head(page, 'value'), 's▲');
});

test('a column and its axis have one unit', async (t) => {
  const { page } = await board(t, '#/?case=all');
  assert.match(await page.locator('.axis-title').innerText(), /^decode rate, tok\/s/);
  assert.equal(await head(page, 'value'), 'tok/s▼');
  for (const value of await page.locator('.rows tbody .value').allInnerTexts()) {
    assert.match(value, /^(-?[\d.,]+(e-?\d+)?(–[\d.,]+)?|–)$/, value);
  }
  for (const value of await page.locator('.rows tbody .ttft').allInnerTexts()) {
    assert.match(value, /^([\d.]+|–)$/, value);
  }
});

test('a range without a point is written as one, and has no mark', async (t) => {
  const { page } = await board(t, '#/?case=prose%2C1');
  assert.equal(await page.locator('.rows tbody .value').innerText(), '24.5–24.7');
  assert.equal(await page.locator('.rows tbody .behind').innerText(), '(range)');
  assert.equal(await page.locator('.rows tbody .chart circle').count(), 0);
});

test('a long label is cut, and whole on hover and focus', async (t) => {
  const { page } = await board(t);
  const name = row(page, '千问引擎').locator('.name');
  const whole = 'a label that goes on and on, '.repeat(7).slice(0, 200);
  assert.ok((await name.locator('a').getAttribute('title')).includes(whole));
  const height = () => name.evaluate((cell) => cell.getBoundingClientRect().height);
  const cut = await height();
  assert.ok(cut <= 40, `one line each: ${cut} px`);
  await page.keyboard.press('Tab');
  await name.locator('a').focus();
  assert.ok((await height()) > cut, 'the whole label is shown on focus');
});

test('a piece of the index that fails is said so, and comes on another try', async (t) => {
  const answers = data.answers({ [`/data/${data.latest.index[0].path}`]: { status: 503 } });
  const { page, server } = await open(t, { answers, allowErrors: /503/ });
  await page.getByText('Some rows are missing').waitFor();
  assert.match(await page.locator('.notice').innerText(), /HTTP 503/);
  delete server.answers[`/data/${data.latest.index[0].path}`];
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.rows tbody tr').first().waitFor();
});

test('a site without data says what to do', async (t) => {
  const { page } = await open(t, { answers: { '/data/latest.json': { status: 404 } }, allowErrors: /404/ });
  await page.getByText('The data cannot be shown').waitFor();
  assert.match(await page.locator('.notice').innerText(), /dyno publish/);
});

test('an index without rows says what to do', async (t) => {
  const empty = { ...data.latest, index: [], submissions: 0, rejected: [] };
  const { page } = await open(t, { answers: { '/data/latest.json': empty } });
  await page.getByText('Nothing is published yet').waitFor();
});

test('an address that is no page says so', async (t) => {
  const { page } = await open(t, { hash: '#/no/such', answers: data.answers() });
  await page.getByRole('heading', { name: 'No such page' }).waitFor();
  await page.getByRole('link', { name: 'Go to the leaderboard' }).click();
  await page.locator('.rows tbody tr').first().waitFor();
});
