// Opens files in Chromium, each in a new tab, and prints how many ms each took until it was painted.
//
//     node open_page.mjs CHROMIUM REPETITIONS FILE…
import { Chromium } from '../tests/support/browser/chromium.mjs';

const [program, repetitions, ...files] = process.argv.slice(2);
const browser = await Chromium.start(program);
const times = files.map(() => []);
for (let i = 0; i < Number(repetitions); ++i) {
  for (const [at, file] of files.entries()) {
    const page = await browser.page();
    await page.size(1100, 900);
    const began = performance.now();
    await page.open(file);
    times[at].push(performance.now() - began);
    await page.close();
  }
}
console.log(JSON.stringify(times));
await browser.close();
process.exit(0);
