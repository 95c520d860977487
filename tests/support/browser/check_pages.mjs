// Opens pages in Chromium, as readers do, and prints what is wrong with each as a line of JSON.
//
//     node check_pages.mjs CHROMIUM AXE < JOBS
//
// JOBS is a line of JSON for each page: {"file":"…","checks":["axe","keyboard","print","phone"]}. What
// a page must not do is looked at always. A line of the output has `problems`, a list of sentences, and
// what there is to compare: title, heading, nodes.
import { readFileSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';

import { Chromium } from './chromium.mjs';

const [program, axe] = process.argv.slice(2);

/// In the page, before anything of it runs.
const WATCH = `
  window.seen = { violations: [], printed: 0 };
  addEventListener('securitypolicyviolation', (event) =>
    seen.violations.push(event.effectiveDirective + ' ' + event.blockedURI));`;

/// In the page: what no text of a run may add to it.
function foreign() {
  const found = [];
  const known = new Set(['A', 'B', 'BDI', 'BODY', 'BUTTON', 'CODE', 'DD', 'DETAILS', 'DIV', 'DL', 'DT',
    'FIGCAPTION', 'FIGURE', 'FOOTER', 'G', 'H1', 'H2', 'H3', 'HEAD', 'HEADER', 'HTML', 'I', 'LI', 'MAIN',
    'META', 'NAV', 'OL', 'P', 'PATH', 'PRE', 'RECT', 'SCRIPT', 'SECTION', 'SMALL', 'SPAN', 'STRONG', 'STYLE',
    'SUMMARY', 'SVG', 'TABLE', 'TBODY', 'TD', 'TEXT', 'TH', 'THEAD', 'TITLE', 'TR', 'UL']);
  const names = new Set(['aria-hidden', 'aria-label', 'aria-live', 'aria-pressed', 'charset', 'class', 'content', 'd',
    'data-a', 'data-b', 'data-copy', 'data-folds', 'height', 'hidden', 'href', 'http-equiv', 'id', 'lang',
    'name', 'open', 'preserveAspectRatio', 'role', 'scope', 'tabindex', 'type', 'viewBox', 'width', 'x', 'y']);
  for (const each of document.querySelectorAll('*')) {
    if (!known.has(each.tagName.toUpperCase())) found.push(`an element ${each.tagName}`);
    for (const { name, value } of each.attributes) {
      if (!names.has(name)) found.push(`an attribute ${name}`);
      if (name === 'href' && !/^#[a-z0-9-]+$/.test(value)) found.push(`a link to ${value.slice(0, 100)}`);
      if (name === 'class' && !/^[a-z0-9 -]*$/.test(value)) found.push(`a class ${value.slice(0, 100)}`);
    }
  }
  const counts = { script: 1, style: 1, title: 1, h1: 1, main: 1, 'meta[http-equiv]': 1 };
  for (const [what, count] of Object.entries(counts)) {
    const there = document.querySelectorAll(what).length - (what === 'title' ? document.querySelectorAll('svg title').length : 0);
    if (there !== count) found.push(`${there} × ${what}`);
  }
  if (document.styleSheets.length !== 1) found.push(`${document.styleSheets.length} style sheets`);
  if (!document.title.endsWith('– sortie')) found.push(`the title ${document.title.slice(0, 100)}`);
  if ('owned' in window) found.push('a script of the page ran');
  return [...new Set(found)];
}

/// In the page.
function state() {
  const heading = document.querySelector('h1');
  const box = heading?.getBoundingClientRect();
  return {
    title: document.title, heading: heading?.textContent ?? '', nodes: document.querySelectorAll('*').length,
    seen: Boolean(box && box.width > 40 && box.height > 10 && box.top < innerHeight &&
      heading.contains(document.elementFromPoint(box.left + 10, box.top + box.height / 2))),
  };
}

/// What happened to a page that nothing may happen to.
function happened(page, file) {
  const own = (url) => url.startsWith('file:') && decodeURI(url).endsWith(file);
  return [
    ...page.of('Runtime.exceptionThrown').map((each) => `an exception: ${each.exceptionDetails.exception?.description ?? each.exceptionDetails.text}`),
    ...page.of('Log.entryAdded').map((each) => `a log entry: ${each.entry.text}`),
    ...page.of('Runtime.consoleAPICalled').map((each) => `a console entry: ${each.type}`),
    ...page.of('Page.javascriptDialogOpening').map((each) => `a dialog: ${each.message}`),
    ...page.of('Page.windowOpen').map((each) => `a window: ${each.url}`),
    ...page.of('Page.downloadWillBegin').map((each) => `a download: ${each.url}`),
    ...page.of('Page.frameRequestedNavigation').map((each) => `a navigation to ${each.url}`),
    ...page.of('Page.frameAttached').map(() => 'a frame'),
    ...page.of('Page.frameNavigated').filter(({ frame }) => !own(frame.url)).map(({ frame }) => `it went to ${frame.url}`),
    ...page.of('Network.requestWillBeSent').filter(({ request }) => !own(request.url)).map(({ request }) => `a request of ${request.url.slice(0, 200)}`),
  ];
}

const unfold = () => document.querySelectorAll('details').forEach((each) => { each.open = true; });

const checks = {
  async phone(page) {
    const problems = [];
    for (const width of [320, 390, 1100]) {
      await page.size(width, 800, width < 1000);
      await page.evaluate(unfold);
      await page.painted();
      const wide = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
      if (wide > 0) problems.push(`it scrolls sideways by ${wide} px at a width of ${width}`);
    }
    return problems;
  },

  /// With nothing but Tab and Enter every fold is reached and opened.
  async keyboard(page) {
    const problems = [];
    const folds = await page.evaluate(() => document.querySelectorAll('details').length);
    await page.evaluate(() => { document.querySelectorAll('details').forEach((each) => { each.open = false; }); window.reached = new Set(); });
    for (let steps = 0; ; ++steps) {
      if (steps > 20 * folds + 200) return [...problems, 'Tab never comes round'];
      await page.tab();
      const at = await page.evaluate(() => {
        const here = document.activeElement;
        if (here === document.body || !document.hasFocus()) return { end: true };
        const style = getComputedStyle(here);
        const again = reached.has(here);
        reached.add(here);
        const box = here.getBoundingClientRect();
        return {
          again, what: here.outerHTML.slice(0, 80), fold: here.tagName === 'SUMMARY',
          open: here.parentElement.open === true,
          ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
          inView: box.bottom > 0 && box.top < innerHeight && box.width > 0,
        };
      });
      if (at.end || at.again) break;
      if (!at.ring) problems.push(`no ring around ${at.what}`);
      if (!at.inView) problems.push(`out of view: ${at.what}`);
      if (!at.fold || at.open) continue;
      await page.enter();
      if (!await page.evaluate(() => document.activeElement.parentElement.open)) problems.push(`Enter does not open ${at.what}`);
    }
    const missed = await page.evaluate(() => [...document.querySelectorAll('summary, a, button')]
      .filter((each) => !each.hidden && !reached.has(each)).map((each) => each.outerHTML.slice(0, 80)));
    return [...problems, ...missed.map((what) => `Tab does not reach ${what}`)];
  },

  /// On paper stands what a reader of the report needs, whatever is folded on the screen.
  async print(page) {
    const problems = [];
    await page.evaluate(() => {
      document.querySelectorAll('details').forEach((each) => { each.open = false; });
      addEventListener('beforeprint', () => { ++seen.printed; });
    });
    const { data } = await page.send('Page.printToPDF', { printBackground: false });
    if (data.length < 10_000) problems.push('the print is empty');
    if (await page.evaluate('seen.printed') !== 1) problems.push('printing is not heard of');
    if (await page.evaluate(() => document.querySelectorAll('details[open]').length)) problems.push('folds stay open after the print');
    await page.look('light', 'print');
    problems.push(...await page.evaluate(() => {
      // Style alone: a browser that runs no script prints the same.
      const found = [];
      const visible = (each) => each.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true });
      for (const what of ['h1', '.cause', '#verification .output', '#denials .output', '#changes .diff', '#message .message', '.chart svg', '.turn > summary', '#setting table']) {
        const there = [...document.querySelectorAll(what)];
        if (there.some((each) => !visible(each))) found.push(`not printed: ${what}`);
      }
      for (const what of ['nav', '.tools', '.turn .output']) {
        if ([...document.querySelectorAll(what)].some(visible)) found.push(`printed: ${what}`);
      }
      if (getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)') found.push('the paper is not white');
      return found;
    }));
    await page.look('light');
    return problems;
  },

  async axe(page) {
    const problems = [];
    await page.evaluate(`${readFileSync(axe, 'utf8')};0`);
    for (const scheme of ['light', 'dark']) {
      await page.look(scheme);
      await page.evaluate(unfold);
      await page.painted();
      problems.push(...await page.evaluate((name) => axe.run().then(({ violations }) => violations.map((each) =>
        `axe, ${name}: ${each.id} (${each.nodes.length}): ${each.nodes[0].html.slice(0, 120)}: ${each.nodes[0].failureSummary}`)), scheme));
    }
    return problems;
  },
};

async function look(browser, page, job) {
  const problems = [];
  await page.send('Page.addScriptToEvaluateOnNewDocument', { source: WATCH });
  await page.size(1100, 900);
  await page.look('light');
  await page.open(job.file);
  const first = await page.evaluate(state);
  if (!first.seen) problems.push('the headline is not to be seen');
  problems.push(...await page.evaluate(foreign));
  for (const name of job.checks ?? []) problems.push(...await checks[name](page));
  if (job.unfold) await page.evaluate(unfold);
  await page.painted();
  // What runs late has run by now, or never does: the page is idle. Without a frame, which a busy
  // machine may owe it, a page is never told so: hence the limit.
  await page.evaluate('new Promise((done) => requestIdleCallback(done, { timeout: 20_000 }))');
  problems.push(...(await page.evaluate('seen.violations')).map((each) => `against its content policy: ${each}`));
  if (!job.checks?.includes('axe')) problems.push(...await page.evaluate(foreign));
  return { ...first, problems };
}

async function check(browser, job) {
  const page = await browser.page();
  const hits = browser.beacon.ofTests().length;
  const windows = browser.targets;
  const seen = await look(browser, page, job).catch((error) => ({ problems: [error.message] }));
  const problems = [...seen.problems, ...happened(page, job.file)];
  problems.push(...browser.beacon.ofTests().slice(hits).map((hit) => `a connection: ${hit.slice(0, 100)}`));
  if (browser.targets > windows) problems.push('a window was opened');
  await page.close();
  return { file: job.file, bytes: statSync(job.file).size, ...seen, problems: [...new Set(problems)] };
}

const browser = await Chromium.start(program);
try {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await check(browser, JSON.parse(line))));
  }
} finally {
  await browser.close();
}
process.exit(0);
