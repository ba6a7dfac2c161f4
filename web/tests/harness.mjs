// What every browser test needs: the built site on a server, and a page in Chromium that reports its errors.
//
//   import { explorer } from './harness.mjs';
//   const { open } = explorer();                      // once per file: one browser for all its tests
//   test('…', async (t) => {
//     const { page } = await open(t, { hash: '#/', answers: { '/data/latest.json': { status: 404 } } });
//     …
//   });
//
// `cargo xtask test --stage browser` sets DYNO_SITE (the built site), DYNO_NPM (where playwright-core is installed) and
// DYNO_CHROMIUM.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before } from 'node:test';

import { serve } from './static-server.mjs';

const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const WIDE = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

function setting(name, meaning) {
  const value = process.env[name];
  if (!value) {
    throw new Error(`${name} is not set (${meaning}): run these tests with \`cargo xtask test --stage browser\``);
  }
  return path.resolve(value);
}

/** Folder of the built site. */
export function site() {
  return setting('DYNO_SITE', 'the built site');
}

/** One browser for the tests of a file, and `open` to get a page in it. */
export function explorer() {
  let browser;

  before(async () => {
    const npm = setting('DYNO_NPM', 'where playwright-core is installed');
    const { chromium } = createRequire(path.join(npm, 'package.json'))('playwright-core');
    browser = await chromium.launch({
      executablePath: setting('DYNO_CHROMIUM', 'the browser'),
      args: CHROMIUM_FLAGS,
    });
  });
  after(async () => browser?.close());

  /**
   * Serves the site and opens it in a page of its own; both end with the test.
   *
   * Options: `hash` (route), `answers` (see static-server.mjs), `viewport`, `colorScheme` ('light' | 'dark'), `context` (further options of
   * Playwright's `newContext`), `allowErrors` (a RegExp of console errors that the test expects). The test fails at its end on any
   * other console error and on any uncaught exception: a panic in WebAssembly shows up as one.
   */
  async function open(t, options = {}) {
    const { hash = '', answers = {}, viewport = WIDE, colorScheme = 'light', context: more = {} } = options;
    const server = await serve(site(), answers);
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce', ...more });
    const page = await context.newPage();
    const errors = [];
    page.on('pageerror', (error) => errors.push(`uncaught: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') {
        errors.push(`${message.text()} (${message.location().url})`);
      }
    });
    t.after(async () => {
      await context.close();
      await server.close();
      const unexpected = errors.filter((text) => !options.allowErrors?.test(text));
      assert.deepEqual(unexpected, [], 'errors in the page');
    });
    await page.goto(server.url + hash);
    return { page, context, server, errors };
  }

  return { open };
}
