// A static server for tests: serves one folder on a free port of 127.0.0.1, and lets a test replace single answers.

import { createReadStream, promises as fs } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/**
 * Starts a server.
 *
 * `answers` maps a path such as `/data/latest.json` to what is sent in place of the file: a string or Buffer, an object
 * (sent as JSON), `{ status, body, delayMs }` for anything else, or a function of the path that gives one of these
 * (`undefined`: the file after all). It may be changed while the server runs.
 *
 * Gives `{ url, answers, requests, close }`; `requests` lists the paths asked for, in order.
 */
export async function serve(root, answers = {}) {
  const requests = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    requests.push(pathname);
    reply(root, answers, pathname, request, response).catch((error) => {
      response.destroy(error);
    });
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const close = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${server.address().port}/`, answers, requests, close };
}

async function reply(root, answers, pathname, request, response) {
  const given = typeof answers[pathname] === 'function' ? answers[pathname](pathname) : answers[pathname];
  if (given !== undefined) {
    return replyWith(given, pathname, response);
  }
  const file = await locate(root, pathname);
  if (file === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('not found');
    return undefined;
  }
  response.writeHead(200, { 'content-type': typeOf(file), 'cache-control': 'no-store' });
  if (request.method === 'HEAD') {
    response.end();
    return undefined;
  }
  return createReadStream(file).pipe(response);
}

async function replyWith(given, pathname, response) {
  const full = typeof given === 'object' && !Buffer.isBuffer(given) && ('status' in given || 'delayMs' in given);
  const { status = 200, body = '', delayMs = 0 } = full ? given : { body: given };
  if (delayMs > 0) {
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
  response.writeHead(status, { 'content-type': typeOf(pathname), 'cache-control': 'no-store' });
  response.end(isRaw ? body : JSON.stringify(body));
}

async function locate(root, pathname) {
  let file = path.join(root, path.normalize(decodeURIComponent(pathname)));
  if (file !== root && !file.startsWith(root + path.sep)) {
    return undefined;
  }
  let stat = await fs.stat(file).catch(() => undefined);
  if (stat?.isDirectory()) {
    file = path.join(file, 'index.html');
    stat = await fs.stat(file).catch(() => undefined);
  }
  return stat?.isFile() ? file : undefined;
}

function typeOf(file) {
  return TYPES[path.extname(file)] ?? 'application/octet-stream';
}
