// What a comparison costs in the browser: two submissions, compared again and again at another margin.
//
// `cargo xtask bench compare` runs it, with the variables that the browser tests have; the site has these two. Prints one JSON object. The time is from
// the new address to the changed page: the comparison and its figures and tables together.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { serve } from '../tests/static-server.mjs';

const ROUNDS = 41;

const read = (name) => fs.readFileSync(path.join(process.env.DYNO_SITE, 'data', name), 'utf8');
const latest = JSON.parse(read('latest.json'));
const ids = latest.index.flatMap((file) => JSON.parse(read(file.path)).entries.map((entry) => entry.id));
const { chromium } = createRequire(path.resolve(process.env.DYNO_NPM, 'package.json'))('playwright-core');
const browser = await chromium.launch({ executablePath: process.env.DYNO_CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const server = await serve(process.env.DYNO_SITE);
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const address = `#/compare?a=${ids[0]}&b=${ids[1]}`;
await page.goto(server.url + address);
await page.waitForSelector('[data-verdict]');

const times = await page.evaluate(
  async ({ address, rounds }) => {
    const changed = () =>
      new Promise((resolve) => {
        const observer = new MutationObserver(() => {
          observer.disconnect();
          resolve(performance.now());
        });
        observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
      });
    const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
    const times = [];
    for (let round = 0; round < rounds; round += 1) {
      await pause();
      const done = changed();
      const start = performance.now();
      location.hash = `${address}&margin=${round % 2 ? 1.05 : 1.03}`;
      times.push((await done) - start);
    }
    return times;
  },
  { address, rounds: ROUNDS },
);
await browser.close();
await server.close();
times.sort((a, b) => a - b);
console.log(JSON.stringify({ median_ms: times[20], p95_ms: times[38] }));
