// Chromium without a window, spoken to over a pipe by its DevTools protocol. It reaches no network:
// every host and port is a server of this process, which notes who connects.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const FLAGS = [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
  '--remote-debugging-pipe', '--hide-scrollbars', '--no-first-run', '--no-default-browser-check',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-pings',
  '--disable-default-apps', '--disable-extensions', '--disable-domain-reliability',
  // A page that another one covers would not be painted.
  '--disable-backgrounding-occluded-windows', '--disable-renderer-backgrounding',
  '--font-render-hinting=none', '--force-color-profile=srgb',
];
// Of an answer, and of a page's load. A busy machine may take a minute over a page of 10 MB.
const LIMIT_MS = 180_000;

const limited = (promise, what) => {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`no ${what} in ${LIMIT_MS / 1000} s`)), LIMIT_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

/// The server that stands for every host of the world.
class Beacon {
  hits = []; // the beginning of what each connection sent

  async start() {
    this.server = createServer((socket) => {
      const at = this.hits.push('') - 1;
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        this.hits[at] += bytes.toString('latin1').slice(0, 2000);
        socket.end('HTTP/1.1 200 OK\r\naccess-control-allow-origin: *\r\nconnection: close\r\n\r\n');
      });
    });
    await new Promise((done) => this.server.listen(0, '127.0.0.1', done));
    return this.server.address().port;
  }
  /// Connections to hosts of the tests: a browser may ask its maker for updates by itself.
  ofTests() { return this.hits.filter((hit) => /\.test\b/.test(hit)); }
}

export class Chromium {
  #waiting = new Map();
  #last = 0;
  #pages = new Map();
  targets = 0; // that pages opened

  static async start(program) {
    const browser = new Chromium();
    const port = await browser.#listen();
    browser.profile = mkdtempSync(join(tmpdir(), 'sortie-chromium-'));
    browser.process = spawn(program, [
      ...FLAGS, `--user-data-dir=${browser.profile}`,
      `--host-resolver-rules=MAP * 127.0.0.1:${port}`, 'about:blank',
    ], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      detached: true, // a group, to be ended as a whole
      env: { ...process.env, HOME: browser.profile, XDG_CONFIG_HOME: browser.profile,
        XDG_CACHE_HOME: browser.profile, TZ: 'UTC', LANG: 'C.UTF-8' },
    });
    process.once('exit', () => browser.#remove()); // also where a script fails
    browser.ended = new Promise((done) => browser.process.once('exit', done));
    browser.process.once('error', (error) => browser.#fail(error));
    browser.ended.then(() => browser.#fail(new Error('Chromium ended')));
    browser.process.stdio[3].on('error', () => {});
    browser.#read(browser.process.stdio[4]);
    await browser.send('Target.setDiscoverTargets', { discover: true });
    return browser;
  }

  async #listen() {
    this.beacon = new Beacon();
    return this.beacon.start();
  }

  #read(stream) {
    let rest = [];
    stream.on('data', (bytes) => {
      for (let end; (end = bytes.indexOf(0)) >= 0; bytes = bytes.subarray(end + 1)) {
        const text = Buffer.concat([...rest, bytes.subarray(0, end)]).toString();
        rest = [];
        this.#take(JSON.parse(text));
      }
      rest.push(bytes);
    });
  }
  #take(message) {
    const waiting = this.#waiting.get(message.id);
    if (waiting) {
      this.#waiting.delete(message.id);
      if (message.error) waiting.fail(new Error(`${waiting.method}: ${message.error.message}`));
      else waiting.done(message.result);
    } else if (message.sessionId) {
      this.#pages.get(message.sessionId)?.take(message);
    } else if (message.method === 'Target.targetCreated' && message.params.targetInfo.openerId) {
      ++this.targets;
    }
  }
  #fail(error) {
    for (const waiting of this.#waiting.values()) waiting.fail(error);
    this.#waiting.clear();
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#last;
    const answer = new Promise((done, fail) => this.#waiting.set(id, { done, fail, method }));
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return limited(answer, `answer to ${method}`);
  }

  async page() {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    this.#pages.set(sessionId, page);
    for (const domain of ['Page', 'Network', 'Log', 'Runtime']) await page.send(`${domain}.enable`);
    await page.send('Page.bringToFront');
    return page;
  }

  async close() {
    this.send('Browser.close').catch(() => {});
    const late = setTimeout(() => this.#remove(), 10_000);
    await this.ended;
    clearTimeout(late);
    this.#remove();
    this.beacon.server.close();
  }
  /// Ends what is left of it, and removes its files.
  #remove() {
    try { process.kill(-this.process.pid, 'SIGKILL'); } catch { /* gone */ }
    try {
      rmSync(this.profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    } catch { /* a helper of the browser still writes there; it is below the folder of temporary files */ }
  }
}

class Page {
  events = [];
  #listeners = new Set();

  constructor(browser, session, target) { Object.assign(this, { browser, session, target }); }
  take(message) {
    this.events.push(message);
    if (message.method === 'Page.javascriptDialogOpening') {
      this.send('Page.handleJavaScriptDialog', { accept: false }).catch(() => {});
    }
    for (const listener of this.#listeners) listener(message);
  }
  send(method, params) { return this.browser.send(method, params, this.session); }
  /// The parameters of all events with this name.
  of(method) { return this.events.filter((each) => each.method === method).map((each) => each.params); }

  next(method) {
    let listener;
    const came = new Promise((done) => {
      listener = (message) => { if (message.method === method) done(message.params); };
      this.#listeners.add(listener);
    });
    return limited(came, method).finally(() => this.#listeners.delete(listener));
  }
  /// Opens a file; returns once it is loaded and painted.
  async open(file) {
    const loaded = this.next('Page.loadEventFired');
    const { errorText } = await this.send('Page.navigate', { url: pathToFileURL(file).href });
    if (errorText) throw new Error(`${file}: ${errorText}`);
    await loaded;
    await this.painted();
  }
  /// A browser without a window may owe a page its next frame, on a busy machine for good: a picture
  /// makes it draw one. After 20 s the page is taken as it is: what tests ask of it needs no frame.
  painted() {
    const drawn = this.evaluate(`new Promise((done) => {
      requestAnimationFrame(() => requestAnimationFrame(done));
      setTimeout(done, 20_000);
    })`);
    const dot = { x: 0, y: 0, width: 1, height: 1, scale: 1 };
    const asking = setInterval(() => this.send('Page.captureScreenshot', { clip: dot }).catch(() => {}), 5000);
    return drawn.finally(() => clearInterval(asking));
  }
  /// @param what  an expression, or a function that is called in the page
  async evaluate(what, ...values) {
    const expression = typeof what === 'function'
      ? `(${what})(${values.map((value) => JSON.stringify(value)).join(', ')})` : what;
    const answer = await this.send('Runtime.evaluate',
      { expression, awaitPromise: true, returnByValue: true });
    if (answer.exceptionDetails) {
      throw new Error(answer.exceptionDetails.exception?.description ?? answer.exceptionDetails.text);
    }
    return answer.result.value;
  }
  /// @param scheme  light or dark  @param medium  "" or print
  look(scheme, medium = '') {
    return this.send('Emulation.setEmulatedMedia',
      { media: medium, features: [{ name: 'prefers-color-scheme', value: scheme }] });
  }
  size(width, height, phone = false) {
    return this.send('Emulation.setDeviceMetricsOverride',
      { width, height, deviceScaleFactor: phone ? 2 : 1, mobile: phone });
  }
  async key(name, code, text = undefined) {
    const which = { key: name, code: name, windowsVirtualKeyCode: code };
    await this.send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', ...which, text });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...which });
  }
  tab() { return this.key('Tab', 9); }
  enter() { return this.key('Enter', 13, '\r'); }
  close() { return this.browser.send('Target.closeTarget', { targetId: this.target }); }
}
