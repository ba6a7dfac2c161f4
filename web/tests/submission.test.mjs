// The page of one submission: everything that its shard holds.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { published } from './fixtures.mjs';
import { explorer } from './harness.mjs';

const { open } = explorer();
const data = published();

async function submission(t, engine, options = {}) {
  const opened = await open(t, { hash: `#/submission/${data.id(engine)}`, answers: data.answers(), ...options });
  await opened.page.locator('.submission h1').waitFor();
  return opened;
}

const quantity = (page, name) =>
  page.locator('.case').first().locator('> .estimates tr', { has: page.locator('th', { hasText: name }) });

test('a row of the leaderboard leads to its submission', async (t) => {
  const { page } = await open(t, { answers: data.answers() });
  await page.getByRole('link', { name: 'llama.cpp b11434' }).click();
  await page.getByRole('heading', { name: 'llama.cpp b11434 · SmolLM2-135M-Instruct Q4_1' }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'content');
  assert.equal(await page.title(), 'llama.cpp b11434 · SmolLM2-135M-Instruct Q4_1 · Dyno');
});

test('a submission begins at its top, and going back leads to where the leaderboard was left', async (t) => {
  const { page } = await open(t, { hash: '#/?case=all', answers: data.answers(), viewport: { width: 1280, height: 400 } });
  await page.locator('.rows tbody tr').first().waitFor();
  const y = () => page.evaluate(() => scrollY);
  await page.mouse.wheel(0, 300);
  await page.waitForFunction(() => scrollY === 300);
  await page.locator('.rows .name a', { hasText: 'llama.cpp' }).click();
  await page.locator('.submission h1').waitFor();
  await page.waitForFunction(() => scrollY === 0);
  await page.goBack();
  await page.locator('.rows tbody tr').first().waitFor();
  await page.waitForFunction(() => scrollY > 0);
  assert.equal(await y(), 300);
});

test('client and engine stand side by side, with their ratio, runs, spread and statistic', async (t) => {
  const { page } = await submission(t, 'llama.cpp');
  const cells = await quantity(page, 'decode rate').locator('td').allInnerTexts();
  const [client, engine, ratio, n, spread, detects] = cells.map((text) => text.trim());
  assert.match(client, /^34\.9 \(25\.\d–40\.\d\)$/);
  assert.match(engine, /^36\.2 \(/);
  assert.match(ratio, /^0\.965 \(/);
  assert.equal(n, '8');
  assert.match(spread, /^\d+ %$/);
  assert.match(detects, /^\d+ %$/);
  assert.match(await quantity(page, 'decode rate').locator('th').innerText(), /decode rate\s*tok\/s\s*ratio of totals/);
  assert.equal(
    await quantity(page, 'time to first token').locator('.unknown').getAttribute('aria-label'),
    'not reported by the engine',
  );
});

test('every run is drawn in order: failed ones crossed and listed, outliers ringed, all read out by the arrow keys', async (t) => {
  const { page } = await submission(t, 'llama.cpp');
  const first = page.locator('.case').first();
  assert.deepEqual(await first.locator('.failures li').allInnerTexts(), [
    'run 3: no_replacement_character: U+FFFD at character 17',
    'run 9: the connection ended after 12 events',
  ]);
  assert.match(await first.locator('.warnings').innerText(), /8 of 10 passed[^]*run 6/);
  assert.equal(await first.locator('.target').count(), 10);
  await first.locator('.plot').focus();
  const read = [];
  for (let i = 0; i < 10; i += 1) {
    await page.keyboard.press('ArrowRight');
    read.push(await first.locator('.reading').innerText());
  }
  assert.match(read[0], /^run 1: \d/);
  assert.match(read[2], /failed: no_replacement_character/);
  assert.match(read[5], /outlier/);
  assert.match(read[8], /^run 9: no value, failed: the connection/);
  await first.locator('.target').nth(3).click();
  assert.match(await first.locator('.reading').innerText(), /^run 4:/);
});

test('every figure, check and run is behind one fold', async (t) => {
  const { page } = await submission(t, 'llama.cpp');
  const details = page.locator('.case details').first();
  await details.locator('summary').click();
  assert.ok(await details.getByText('client_wall_gap_s').isVisible());
  assert.match(await details.innerText(), /Checks passed: not empty 9\/9, no replacement character 8\/9/);
  assert.match(await details.innerText(), /sent 3 times, gave the same answer every time/);
  const rows = details.locator('table').last().locator('tbody tr');
  assert.equal(await rows.count(), 11);
  assert.match(await rows.first().innerText(), /^warm-up 1.*not recorded/s);
  assert.match(await rows.nth(9).innerText(), /failed: the connection ended/);
});

test('what was asked for stands beside what is in effect, and a difference is said in words', async (t) => {
  const { page } = await submission(t, 'llama.cpp');
  const setting = (key) => page.locator('.configuration tr', { has: page.locator('th', { hasText: key }) });
  assert.match(await setting('context_limit_tokens').innerText(), /8192\s+4096 differs\s+says \/props/);
  assert.doesNotMatch(await setting('threads').innerText(), /differs/);
  assert.equal(await setting('threads').locator('.unknown').getAttribute('aria-label'), 'the engine does not say');
  assert.match(await page.locator('aside').innerText(), /Calibration of the client\s+The client was not calibrated/);
  assert.match(await page.locator('aside').innerText(), /accelerator\s+none/);
});

test('what the client adds, what the machine did, and how requests came stand beside the figures', async (t) => {
  const shard = JSON.parse(data.answers()[`/data/shards/${data.id('llama.cpp')}.json`].toString());
  shard.provenance.calibration = {
    streams: 8, rate_tok_s: 50, ttft_error_median_s: 0.00012, ttft_error_p99_s: 0.0021, gap_error_p99_s: 0.0009, lost_tokens: 0,
    client_cpu_s: 1.25, client_cpu_share: 0.031,
  };
  const [code] = shard.cases;
  Object.assign(code, { concurrency: 8, turns: 3, arrival: { kind: 'poisson', per_s: 2 } });
  code.runs.forEach((run, i) => {
    run.cycle = 1 + Math.floor(i / 5);
    run.telemetry = {
      gpus: 2, gpu_energy_j: 130, energy_source: 'NVML energy counter', window_s: 1.8, gpu_power_mean_w: 213 + i, gpu_power_max_w: 250,
      gpu_memory_bytes: 8589934592, throttle_reasons: i === 4 ? ['sw_power_cap'] : [], gpu_throttled_share: i === 4 ? 0.12 : 0,
      host_load: 3.25, host_cores: 16,
    };
  });
  const answers = data.answers({ '/data/shards/measured.json': shard });
  const { page } = await open(t, { hash: '#/submission/measured', answers });
  await page.locator('.submission h1').waitFor();
  const aside = await page.locator('aside').innerText();
  assert.match(aside, /Calibration of the client\s+streams\s+8\s+rate of each\s+50\.0 tok\/s\s+TTFT error, median\s+0\.120 ms/);
  assert.match(aside, /lost tokens\s+0\s+own CPU time\s+1\.25 s\s+of one core\s+3\.1 %/);

  const [first, second] = [page.locator('.case').first(), page.locator('.case').nth(1)];
  assert.equal(await first.locator('h3').innerText(), 'code · 8 streams · 3 turns · open loop, Poisson 2/s');
  assert.match(await quantity(page, 'energy per token').innerText(), /2\.00/);
  await first.locator('summary').click();
  const machine = await first.locator('.facts').innerText();
  assert.match(machine, /accelerators\s+2\s+their power\s+21\d W, at most 250 W\s+their memory\s+8\.00 GiB/);
  assert.match(machine, /held back by\s+sw_power_cap, in up to 12 % of the samples/);
  assert.match(machine, /energy from\s+NVML energy counter\s+load of the host\s+3\.25 on 16 cores/);
  const table = first.locator('table', { has: page.locator('th', { hasText: 'cycle' }) });
  assert.deepEqual(await table.locator('tbody tr td:nth-child(2)').allInnerTexts(), ['', ...'1111122222']);

  await second.locator('summary').click();
  assert.match(await second.locator('.facts').innerText(), /power, memory, load\s+not measured/);
  assert.doesNotMatch(await second.innerText(), /cycle/);
});

test('a transcription names its source, and states no more than the source does', async (t) => {
  const { page } = await submission(t, 'vLLM');
  const aside = page.locator('aside');
  assert.match(await aside.innerText(), /A page about speed/);
  assert.doesNotMatch(await aside.innerText(), /Calibration/);
  assert.equal(await aside.getByRole('link').getAttribute('href'), 'https://example.org/speed');
  const cells = await quantity(page, 'decode rate').locator('td').allInnerTexts();
  assert.deepEqual(
    cells.map((text) => text.trim()),
    ['117 (112–124)', '–', '', '32', '–', '–'],
  );
  assert.ok(await page.getByText('24.5–24.7').isVisible());
  assert.match(await page.locator('.case').nth(2).innerText(), /expert cache hits, %[^]*93\.4/);
  assert.match(await page.locator('.figures').innerText(), /TP=4\s+TP=2\s+1\.772 \(1\.701–1\.845\)/);
  assert.equal(await page.locator('.run-figure').count(), 0, 'no runs, no figure of them');
});

test('the raw JSON can be read and downloaded', async (t) => {
  const { page } = await submission(t, 'llama.cpp');
  const id = data.id('llama.cpp');
  const link = page.getByRole('link', { name: 'Download the shard' });
  assert.equal(await link.getAttribute('href'), `data/shards/${id}.json`);
  await page.getByRole('button', { name: 'Show the text' }).click();
  const text = await page.locator('.raw pre').innerText();
  const published = JSON.parse(data.answers()[`/data/shards/${id}.json`].toString());
  assert.deepEqual(JSON.parse(text), published);
});

test('a submission that is not there, or cannot be read, says why and can be tried again', async (t) => {
  const answers = data.answers({ '/data/shards/cut.json': '{"schema":"dyno/1.0","label":"cu', '/data/shards/new.json': { schema: 'dyno/2.0' } });
  const { page } = await open(t, { hash: '#/submission/0000', answers, allowErrors: /404/ });
  await page.getByText('This submission cannot be shown').waitFor();
  assert.match(await page.locator('.notice').innerText(), /no submission of this name/);
  await page.evaluate(() => (location.hash = '#/submission/cut'));
  await page.getByText(/The file is cut off/).waitFor();
  await page.evaluate(() => (location.hash = '#/submission/new'));
  await page.getByText(/written by a newer dyno: 2\.0/).waitFor();
  assert.ok(await page.getByRole('button', { name: 'Try again' }).isVisible());
});

test('the method page explains every metric, and a figure leads to its own', async (t) => {
  const { page } = await submission(t, 'llama.cpp');
  await quantity(page, 'decode rate').getByRole('link').click();
  await page.getByRole('heading', { name: 'Method', exact: true }).waitFor();
  const decode = page.locator('#client_wall_decode_tok_s');
  assert.match(await decode.innerText(), /\(output_tokens − first_event_tokens\) \/ \(t_last − t_first\)/);
  await page.waitForFunction(() => {
    const box = document.getElementById('client_wall_decode_tok_s').getBoundingClientRect();
    return box.top >= 0 && box.top < innerHeight;
  });
  assert.ok((await page.locator('.method dl > div[id]').count()) >= 20);
});
