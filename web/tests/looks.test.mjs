// Phone width, light and dark, keyboard, and the same figures as the native build.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { published } from './fixtures.mjs';
import { PHONE, explorer } from './harness.mjs';

const { open } = explorer();
const data = published();
const NARROW = { width: 320, height: 640 };
const TABLET = { width: 768, height: 1024 };
const TOUCH = { hasTouch: true, isMobile: true };

const PAGES = {
  leaderboard: ['#/', '.rows tbody tr'],
  'all cases': ['#/?case=all', '.rows tbody tr'],
  'raw submission': [`#/submission/${data.id('llama.cpp')}`, '.submission h1'],
  'hostile submission': [`#/submission/${data.id('engine <img')}`, '.submission h1'],
  method: ['#/method', '.method h1'],
};

for (const [name, [hash, there]] of Object.entries(PAGES)) {
  for (const [device, viewport] of [['phone', NARROW], ['tablet', TABLET]]) {
    test(`nothing scrolls sideways on a ${device}: ${name}`, async (t) => {
      const { page } = await open(t, { hash, answers: data.answers(), viewport, context: TOUCH });
      await page.locator(there).first().waitFor();
      for (const summary of await page.locator('details > summary').all()) {
        await summary.click();
      }
      const { scroll, client } = await page.evaluate(() => ({
        scroll: document.documentElement.scrollWidth,
        client: document.documentElement.clientWidth,
      }));
      assert.ok(scroll <= client, `${scroll} px in ${client} px`);
    });
  }
}

test('on a phone the facets fold into one button and what is pressed is large enough', async (t) => {
  const { page } = await open(t, { answers: data.answers(), viewport: PHONE, context: TOUCH });
  await page.locator('.rows tbody tr').first().waitFor();
  assert.equal(await page.locator('.facet').count(), 0);
  const button = page.getByRole('button', { name: 'Filters' });
  assert.equal(await button.getAttribute('aria-expanded'), 'false');
  await button.tap();
  await page.locator('.facet label').first().waitFor();
  await page.locator('.facet label', { hasText: 'vLLM' }).tap();
  await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
  for (const control of await page.locator('button:visible, select:visible, .facet label:visible, .chip:visible').all()) {
    const box = await control.boundingBox();
    const skip = await control.evaluate((element) => element.classList.contains('skip'));
    assert.ok(skip || box.height >= 44, `${await control.innerText()}: ${box.height} px`);
  }
});

test('the theme follows the system, can be switched, and is remembered', async (t) => {
  const { page } = await open(t, { answers: data.answers(), colorScheme: 'dark' });
  await page.locator('.rows tbody tr').first().waitFor();
  const surface = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  assert.equal(await surface(), 'rgb(22, 24, 27)');
  await page.getByRole('button', { name: 'Show in light' }).click();
  assert.equal(await surface(), 'rgb(255, 255, 255)');
  await page.reload();
  await page.locator('.rows tbody tr').first().waitFor();
  assert.equal(await surface(), 'rgb(255, 255, 255)');
  await page.getByRole('button', { name: 'Show in dark' }).click();
  assert.equal(await page.evaluate(() => localStorage.getItem('dyno-theme')), null, 'the system’s own choice is followed again');
});

for (const colorScheme of ['light', 'dark']) {
  test(`text has contrast: ${colorScheme}`, async (t) => {
    const { page } = await open(t, { answers: data.answers(), colorScheme });
    await page.locator('.rows tbody tr').first().waitFor();
    const worst = await page.evaluate(() => {
      const channel = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
      const parse = (colour) => colour.match(/[\d.]+/g).map(Number);
      const luminance = ([r, g, b]) =>
        0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
      const ground = (element) => {
        for (let at = element; at; at = at.parentElement) {
          const colour = parse(getComputedStyle(at).backgroundColor);
          if (colour.length < 4 || colour[3] > 0) {
            return colour;
          }
        }
        return [255, 255, 255];
      };
      let least = { ratio: 21 };
      const walker = document.createTreeWalker(document.getElementById('app'), NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || element.closest('svg, option, .hidden, .skip')) {
          continue;
        }
        const pair = [luminance(parse(getComputedStyle(element).color)), luminance(ground(element))];
        const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
        if (ratio < least.ratio) {
          least = { ratio, text: walker.currentNode.data };
        }
      }
      return least;
    });
    assert.ok(worst.ratio >= 4.5, `${worst.text}: ${worst.ratio}`);
  });
}

test('every control and mark of the leaderboard is reached by the tab key, and shows that it is', async (t) => {
  const { page } = await open(t, { hash: '#/?engine=vLLM', answers: data.answers() });
  await page.locator('.rows tbody tr').first().waitFor();
  const reached = [];
  for (let i = 0; i < 60; i += 1) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const element = document.activeElement;
      if (element === document.body) {
        return undefined;
      }
      const style = getComputedStyle(element);
      return { what: element.className || element.tagName, outlined: style.outlineStyle !== 'none' && style.outlineWidth !== '0px' };
    });
    if (at === undefined) {
      break;
    }
    assert.ok(at.outlined, `${at.what} shows its focus`);
    reached.push(at.what);
  }
  for (const what of ['skip', 'brand', 'theme', 'SELECT', 'INPUT', 'chip', 'mark tip', 'unknown tip']) {
    assert.ok(reached.includes(what), `${what} is reached: ${reached}`);
  }
});

test('figures are the same as the native build’s, byte by byte', async (t) => {
  const { page } = await open(t, { hash: '#/debug/chart', answers: data.answers() });
  await page.locator('#reference').waitFor();
  const browser = await page.locator('#reference').evaluate((element) => element.textContent);
  const native = fs.readFileSync(new URL('reference-chart.svg', import.meta.url), 'utf8');
  assert.ok(native.length > 10_000, 'a drawing');
  assert.ok(browser === native, 'the browser draws other bytes than the native build');
});
