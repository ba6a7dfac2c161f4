// Starts the explorer. A file of its own, so that the page needs no inline script and its policy can forbid them.

const RELOADED = 'dyno-reloaded';

function say(text) {
  const root = document.getElementById('app');
  const notice = document.createElement('p');
  notice.className = 'notice';
  notice.textContent = text;
  root.replaceChildren(notice);
}

// A page from a cache may name files that a newer version has replaced: one reload fetches the new page.
function reloadOnce() {
  try {
    if (sessionStorage.getItem(RELOADED)) {
      return false;
    }
    sessionStorage.setItem(RELOADED, 'yes');
  } catch {
    return false;
  }
  location.reload();
  return true;
}

// A classic script; it gives the global `wasm_bindgen`.
function load(url) {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = url;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${url} cannot be loaded`));
    document.head.append(script);
  });
}

async function start() {
  if (typeof WebAssembly !== 'object') {
    say('This page needs WebAssembly, which this browser lacks or forbids. The data are plain JSON: see data/latest.json.');
    return;
  }
  const [js, wasm] = document.querySelector('meta[name="dyno-app"]').content.split(' ');
  const base = new URL('.', document.baseURI);
  try {
    await load(new URL(js, base));
    await wasm_bindgen({ module_or_path: new URL(wasm, base) });
    sessionStorage.removeItem(RELOADED);
  } catch (error) {
    console.error(error);
    if (!reloadOnce()) {
      say(`The explorer could not be started: ${error.message}. Reload the page; if that does not help, the site may be half uploaded.`);
    }
  }
}

start();
