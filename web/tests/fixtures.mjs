// The shards below `fixtures/`, published by `dyno publish` as a submitter's would be, and put in place of the site's
// data.
//
//   const data = published();
//   await open(t, { answers: data.answers() });
//
// raw          every run, two of them failed, one an outlier; effective configuration other than requested
// transcribed  stated figures: an interval, a range without a point, a metric of the source's own
// hostile      markup and scripts in every text
// truncated    cut off in the middle
// missing      the engine's figure only, where all others have the client's
// absurd       0, negative, 1e300 and 1e-300
// unknown      an engine, a model and a machine never seen before, in three scripts, with a label of 200 characters
// outlier      a hundred times what the others reach

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const FIXTURES = fileURLToPath(new URL('fixtures', import.meta.url));

/** The shards of a real sweep and of a real run. */
export const REAL = fileURLToPath(new URL('../../results/llama.cpp/2026-11-30', import.meta.url));

/** The collector. */
export function collector() {
  const dyno = process.env.DYNO_BIN;
  if (!dyno) {
    throw new Error('DYNO_BIN is not set (the collector): run these tests with `cargo xtask test --stage browser`');
  }
  return dyno;
}

// What `dyno validate` refuses, the page may meet all the same: in data that something else published. It stands in the
// fixtures as what is taken, and is put in its place on the way.
const EVIL_DATE = 'date <img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
const asFound = (text) => text.replaceAll('44.125', '-4').replaceAll('"1999-12-31"', JSON.stringify(EVIL_DATE));

/** Publishes the fixtures, or another folder of shards, for the tests of a file. */
export function published(shards = FIXTURES) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dyno-fixtures-'));
  after(() => fs.rmSync(folder, { recursive: true }));
  execFileSync(collector(), ['publish', shards, '--out', folder], { stdio: ['ignore', 'ignore', 'ignore'] });
  const read = (name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
  const latest = read('latest.json');
  const entries = latest.index.flatMap((file) => read(file.path).entries);

  return {
    latest,
    /** The id of the submission of an engine whose name begins so. */
    id(engine) {
      return entries.find((entry) => entry.engine.startsWith(engine)).id;
    },
    /** The id of the submission of this label. */
    labelled(label) {
      return entries.find((entry) => entry.label === label).id;
    },
    /** Answers for the harness: the published files below `/data/`, `more` before them. */
    answers(more = {}) {
      return new Proxy(more, {
        get(given, asked) {
          if (asked in given || !String(asked).startsWith('/data/')) {
            return given[asked];
          }
          const file = path.join(folder, path.normalize(asked.slice('/data'.length)));
          return fs.existsSync(file) ? asFound(fs.readFileSync(file, 'utf8')) : { status: 404 };
        },
      });
    },
  };
}
