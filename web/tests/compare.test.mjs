// Submissions against each other: the page's figures are those of `dyno compare`, to the last digit.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';

import { REAL, collector, published } from './fixtures.mjs';
import { explorer } from './harness.mjs';

const { open } = explorer();
const real = published(REAL);

const FILES = Object.fromEntries(
  fs.readdirSync(REAL).map((name) => {
    const file = path.join(REAL, name);
    return [JSON.parse(fs.readFileSync(file, 'utf8')).label, file];
  }),
);
const ONE = 'threads=1';
const TWO = 'threads=2';
const NONE = 'spec-type=none';
const NGRAM = 'spec-type=ngram-simple';
const RUN = 't1-c4096';

/** The address that compares these labels. */
function address(labels, more = '') {
  const sides = labels.map((label, i) => `${String.fromCharCode(97 + i)}=${real.labelled(label)}`);
  return `#/compare?${sides.join('&')}${more}`;
}

async function compared(t, hash, options = {}) {
  const opened = await open(t, { hash, answers: real.answers(), ...options });
  await opened.page.locator('.compared').waitFor();
  return opened;
}

/** What `dyno compare --json` says of these files. */
function command(files, flags = []) {
  const { stdout } = spawnSync(collector(), ['compare', '--json', ...flags, ...files], { encoding: 'utf8', maxBuffer: 1e8 });
  return JSON.parse(stdout);
}

const KEYS = ['metric', 'ratio', 'low', 'high', 'holm_p', 'verdict'];

/** Every ratio of the page, in order, as the command writes them. */
async function figures(page) {
  const groups = await page.locator('.ratios tbody[data-case]').evaluateAll((bodies) =>
    bodies.map(({ dataset, children }) => ({
      case: dataset.case,
      side: dataset.side,
      found: dataset.found,
      ratios: [...children].filter((row) => row.dataset.metric).map((row) => ({ ...row.dataset })),
    })),
  );
  const number = (text) => (text === undefined ? null : Number(text));
  return groups.map((group) => ({
    ...group,
    ratios: group.ratios.map((of) => {
      assert.deepEqual([of.case, of.side], [group.case, group.side]);
      const { metric, ratio, low, high, p, verdict = null } = of;
      return { metric, ratio: number(ratio), low: number(low), high: number(high), holm_p: number(p), verdict };
    }),
  }));
}

function of(json) {
  const only = (ratio) => Object.fromEntries(KEYS.map((key) => [key, ratio[key]]));
  return json.cases.flatMap((one) =>
    one.against.map(({ side, found, ratios }) => ({ case: one.case, side, found, ratios: ratios.map(only) })),
  );
}

const COMPARISONS = [
  ['threads of a real sweep', [ONE, TWO], '', []],
  ['speculation of a real sweep', [NONE, NGRAM], '', []],
  ['another margin', [NGRAM, NONE], '&margin=1.05', ['--margin', '5%']],
  ['three sides, one of another series', [NONE, NGRAM, ONE], '', []],
  ['the same, unpaired', [NONE, NGRAM, ONE], '&mismatch=1', ['--allow-mismatch']],
  ['cases that only one side has', [RUN, ONE], '', []],
];

for (const [name, labels, more, flags] of COMPARISONS) {
  test(`page and command say the same: ${name}`, async (t) => {
    const json = command(labels.map((label) => FILES[label]), flags);
    const { page } = await compared(t, address(labels, more));
    const shown = await figures(page);
    const byCase = (a, b) => a.case.localeCompare(b.case) || a.side.localeCompare(b.side);
    assert.deepEqual(shown.sort(byCase), of(json).sort(byCase));
    assert.ok(shown.length >= labels.length - 1);
    assert.deepEqual(await page.locator('.said .lead').allTextContents(), json.sides.slice(1).map((side) => side.sentence));
    const differences = await page.locator('.differences tbody th').evaluateAll((heads) => heads.map((head) => head.firstChild.data));
    assert.deepEqual(differences, json.differences.map((fact) => fact.name));
    const made = await page.locator('.method-lines li').allTextContents();
    assert.deepEqual(made.slice(0, json.method.length), json.method);
  });
}

test('what differs is on top, a real difference has a winner in words, and the arrow keys read the figure', async (t) => {
  const { page } = await compared(t, address([ONE, TWO]));
  assert.match(await page.locator('.differences tbody').innerText(), /^threads\s+requested\s+1\s+2$/);
  assert.match(await page.locator('.said').innerText(), /^B decodes faster on code_q128 \(\+\d+ %\)/);
  assert.match(await page.locator('.headline .verdict-word').innerText(), /^▲ faster$/);
  await page.locator('.plot').focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('.reading').innerText(), /^code_q128, decode rate: 1\.\d+ \(1\.\d+–1\.\d+\), 3 cycles, ▲ faster · p 0\.\d+$/);
});

test('two starts of one configuration are not called different, and the noise between them is drawn', async (t) => {
  const shard = JSON.parse(fs.readFileSync(FILES[ONE], 'utf8'));
  let i = 0;
  for (const run of shard.cases[0].runs) {
    for (const request of run.requests) {
      i += 1;
      request.t_last_s *= 1 + 0.0004 * ((i * 7) % 5 - 2);
    }
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dyno-again-'));
  after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'again.json');
  fs.writeFileSync(file, JSON.stringify(shard));
  const { page } = await compared(t, `#/compare?a=${real.labelled(ONE)}&b=again`, {
    answers: real.answers({ '/data/shards/again.json': fs.readFileSync(file) }),
  });
  assert.deepEqual(await figures(page), of(command([FILES[ONE], file])));
  assert.match(await page.locator('.said').innerText(), /same configuration as A: what is shown is the noise between two starts/);
  assert.doesNotMatch(await page.locator('.said .lead').innerText(), /faster|slower|earlier|later/);
  assert.ok(await page.getByText('Grey: how far two starts').isVisible());
  assert.ok((await page.locator('.plot svg.chart rect').count()) > 0, 'a band');
});

test('where a decode rate comes from is drawn below it: tokens per step, and time per step', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dyno-split-'));
  after(() => fs.rmSync(folder, { recursive: true }));
  const [plain, drafted] = [[ONE, 120, 8], [TWO, 64, 64]].map(([label, steps, accepted]) => {
    const shard = JSON.parse(fs.readFileSync(FILES[label], 'utf8'));
    shard.cases[0].runs.forEach(({ counters }, i) => {
      Object.assign(counters, { verify_steps: steps + (i % 5), accepted_tokens: accepted, draft_tokens: 128 });
    });
    const file = path.join(folder, `${steps}.json`);
    fs.writeFileSync(file, JSON.stringify(shard));
    return file;
  });
  const { page } = await compared(t, '#/compare?a=plain&b=drafted', {
    answers: real.answers({ '/data/shards/plain.json': fs.readFileSync(plain), '/data/shards/drafted.json': fs.readFileSync(drafted) }),
  });
  const shown = await figures(page);
  assert.deepEqual(shown, of(command([plain, drafted])));
  const ratio = (metric) => shown[0].ratios.find((of) => of.metric === metric).ratio;
  const product = ratio('tokens_per_step') / ratio('time_per_step_s');
  assert.ok(Math.abs(product / ratio('client_wall_decode_tok_s') - 1) < 0.02, `${product}`);
  await page.locator('.plot').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.match(await page.locator('.reading').innerText(), /^code_q128, decode rate, tokens per step: 1\.\d+ \(/);
});

test('several starts are taken together as one side', async (t) => {
  const { page } = await compared(t, `#/compare?a=${real.labelled(ONE)},${real.labelled(NONE)}&b=${real.labelled(TWO)}`);
  assert.match(await page.locator('.side').first().innerText(), /Taken together: 2 boots/);
  assert.equal(await page.locator('.side').first().locator('.boot').count(), 2);
});

test('swapping, dropping and going back', async (t) => {
  const { page } = await compared(t, address([ONE, TWO]));
  const ratio = async () => Number(await page.locator('.headline').getAttribute('data-ratio'));
  const before = await ratio();
  await page.getByRole('link', { name: 'B: Swap with A' }).click();
  await page.locator('.headline[data-verdict=slower]').waitFor();
  assert.ok(Math.abs((await ratio()) * before - 1) < 1e-12);
  await page.goBack();
  await page.locator('.headline[data-verdict=faster]').waitFor();
  assert.equal(await ratio(), before);
  await page.getByLabel('equivalent within').selectOption('±5 %');
  await page.waitForFunction(() => location.hash.endsWith('&margin=1.05'));
  await page.getByRole('link', { name: 'Drop B' }).click();
  await page.getByText('Only one submission').waitFor();
  await page.getByRole('link', { name: 'Pick on the leaderboard' }).click();
  await page.locator('.picked').waitFor();
  assert.ok(page.url().endsWith(`pick=${real.labelled(ONE)}`));
});

test('what was not asked the same is refused with its reasons, and compared unpaired when a reader says so', async (t) => {
  const { page } = await compared(t, address([NONE, ONE]));
  assert.match(await page.locator('.said').innerText(), /Not comparable: the series differs; the prompts differ/);
  assert.equal(await page.locator('[data-ratio]').count(), 0);
  await page.getByLabel('compare what was not asked the same').check();
  await page.locator('.headline[data-ratio]').waitFor();
  assert.ok(page.url().endsWith('&mismatch=1'));
  assert.match(await page.locator('.method-lines').innerText(), /Unpaired/);
});

test('run by run on demand, at an address of its own', async (t) => {
  const { page } = await compared(t, address([ONE, TWO]));
  assert.equal(await page.locator('.pairs').count(), 0);
  await page.getByRole('link', { name: 'Run by run' }).click();
  await page.locator('.pairs').waitFor();
  assert.ok(page.url().endsWith('&pairs=code_q128'));
  const json = command([FILES[ONE], FILES[TWO]]);
  const pairs = json.cases[0].against[0].ratios[0].pairs;
  assert.equal(await page.locator('.pairs tbody tr').count(), pairs.length);
  const first = await page.locator('.pairs tbody tr').first().locator('th, td').allTextContents();
  assert.deepEqual(first.slice(0, 2), [String(pairs[0].run), String(pairs[0].cycle)]);
  assert.equal(first[4], (pairs[0].this / pairs[0].first).toFixed(3));
  await page.reload();
  await page.locator('.pairs').waitFor();
});

test('a shard that does not come is said where it stands, and can be tried again', async (t) => {
  const gone = `/data/shards/${real.labelled(TWO)}.json`;
  const answers = { [gone]: { status: 503 } };
  const { page, server } = await open(t, { hash: address([ONE, TWO]), answers: real.answers(answers), allowErrors: /503/ });
  const side = page.locator('.side').nth(1);
  await side.getByText('HTTP 503').waitFor();
  await page.getByText('This cannot be compared yet').waitFor();
  assert.match(await page.locator('.side').first().innerText(), /threads=1/);
  delete answers[gone];
  await side.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.compared').waitFor();
  assert.equal(server.requests.filter((asked) => asked === gone).length, 2);
});

test('ids that are none, one id and no id are answered in words', async (t) => {
  const { page } = await open(t, {
    hash: `#/compare?a=${real.labelled(ONE)}&b=nobody&c=%2e%2e%2fx`,
    answers: real.answers(),
    allowErrors: /404/,
  });
  await page.locator('.side').nth(1).getByText('There is no submission of this name').waitFor();
  assert.match(await page.locator('.side').nth(2).innerText(), /\.\.\/x\s+This is no id/);
  await page.getByRole('link', { name: 'Drop C' }).click();
  await page.getByRole('link', { name: 'Drop B' }).click();
  await page.getByText('Only one submission').waitFor();
  await page.getByRole('link', { name: 'Drop A' }).click();
  await page.getByText('Nothing to compare yet').waitFor();
});

test('the same submission twice is no comparison', async (t) => {
  const { page } = await compared(t, address([ONE, ONE]));
  assert.match(await page.locator('.said').innerText(), /both sides hold the same runs: measure twice/);
  assert.equal(await page.locator('[data-verdict=faster], [data-verdict=slower], [data-verdict=equivalent]').count(), 0);
});

test('a case that only one side has is named, and the rest compares', async (t) => {
  const shard = JSON.parse(fs.readFileSync(FILES[TWO], 'utf8'));
  shard.cases.push({ ...shard.cases[0], id: 'extra' });
  const { page } = await compared(t, `#/compare?a=more&b=${real.labelled(ONE)}`, {
    answers: real.answers({ '/data/shards/more.json': shard }),
  });
  assert.match(await page.locator('tbody[data-case=extra]').innerText(), /only in A/);
  assert.match(await page.locator('.plot svg.chart').first().innerHTML(), /only in A/);
  assert.equal(await page.locator('.headline').getAttribute('data-verdict'), 'slower');
});

test('submissions are picked by keyboard, up to eight, and carried along', async (t) => {
  const { page } = await open(t, { hash: '#/?case=all', answers: real.answers() });
  await page.locator('.rows tbody tr').first().waitFor();
  const box = (label) => page.getByRole('checkbox', { name: new RegExp(`^Compare .*· ${label}$`) }).first();
  await box(TWO).focus();
  await page.keyboard.press('Space');
  await page.getByText('Pick another to compare it with').waitFor();
  await box(ONE).check();
  await page.getByRole('link', { name: 'Compare 2' }).waitFor();
  assert.ok(await box(ONE).isChecked());
  await page.goBack();
  await page.getByText('1 picked').waitFor();
  assert.ok(!(await box(ONE).isChecked()));
  await page.goForward();
  await page.getByRole('link', { name: 'Compare (2)' }).click();
  await page.locator('.compared').waitFor();
  const [a, b] = await page.locator('.side .muted').allTextContents();
  assert.match(a, /^threads=2/);
  assert.match(b, /^threads=1/);
  assert.equal(await page.title(), 'Compare · Dyno');
  await page.locator('.side a', { hasText: 'llama.cpp' }).first().click();
  await page.getByRole('link', { name: 'Compare with 1 submission picked' }).waitFor();
  await page.evaluate((ids) => (location.hash = `#/?case=all&pick=${ids}`), 'a,b,c,d,e,f,g,h,i');
  await page.getByText('8 picked').waitFor();
  assert.ok(await box(ONE).isDisabled());
});

/** Shards that `dyno publish` might refuse, and the page has to bear all the same. */
function unpublished(...names) {
  const read = (name) => fs.readFileSync(new URL(`fixtures/${name}.json`, import.meta.url));
  return real.answers(Object.fromEntries(names.map((name) => [`/data/shards/${name}.json`, read(name)])));
}

test('markup in every name of what is compared is text', async (t) => {
  const { page } = await open(t, {
    hash: '#/compare?a=hostile&b=raw&pairs=%3Cimg%3E',
    answers: unpublished('hostile', 'raw'),
  });
  await page.locator('.compared').waitFor();
  for (const summary of await page.locator('details > summary').all()) {
    await summary.click();
  }
  const text = await page.locator('main').innerText();
  for (const field of ['engine', 'model', 'hardware', 'label', 'quantisation', 'case']) {
    assert.ok(text.includes(`${field} <img src=x onerror="window.pwned=1">`), field);
  }
  assert.equal(await page.evaluate(() => window.pwned), undefined, 'no script ran');
  assert.equal(await page.locator('#app img, #app script').count(), 0, 'no markup');
});

test('figures beyond belief do not stop the page', async (t) => {
  const { page } = await open(t, {
    hash: '#/compare?a=absurd&b=transcribed&c=raw',
    answers: unpublished('absurd', 'transcribed', 'raw'),
  });
  await page.locator('.compared').waitFor();
  assert.doesNotMatch(await page.locator('main').innerText(), /NaN|inf\b/);
});

for (const width of [320, 768]) {
  test(`nothing scrolls sideways at ${width} pixels`, async (t) => {
    const { page } = await compared(t, address([NONE, NGRAM, ONE], '&mismatch=1&pairs=code_q128'), {
      viewport: { width, height: 640 },
      context: { hasTouch: true, isMobile: true },
    });
    for (const summary of await page.locator('details > summary').all()) {
      await summary.click();
    }
    const fits = () => page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    let [scroll, client] = await fits();
    assert.ok(scroll <= client, `${scroll} px in ${client} px`);
    await page.evaluate((ids) => (location.hash = `#/?case=all&pick=${ids}`), [ONE, TWO].map((label) => real.labelled(label)).join(','));
    await page.locator('.picked').waitFor();
    [scroll, client] = await fits();
    assert.ok(scroll <= client, `${scroll} px in ${client} px`);
  });
}
