// Takes the pictures of report.html: node take_pictures.mjs CHROMIUM FAILED SUCCESS FOLDER
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';

import { Chromium } from '../../tests/support/browser/chromium.mjs';

const [program, failed, success, folder] = process.argv.slice(2);
const browser = await Chromium.start(program);
const page = await browser.page();

/// Parts that are out of view are not painted: in a picture of the whole page they have to be.
const paintAll = () => {
  for (const each of document.querySelectorAll('.turn')) each.style.contentVisibility = 'visible';
};

/// The four colours' bytes of each pixel of a PNG as Chromium writes it (8 bits, no interlace).
function pixels(png) {
  const parts = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const [width, height, channels] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25] === 6 ? 4 : 3];
  const raw = inflateSync(Buffer.concat(parts));
  const row = width * channels;
  const data = Buffer.alloc(row * height);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (row + 1)];
    for (let x = 0; x < row; ++x) {
      const left = x >= channels ? data[y * row + x - channels] : 0;
      const up = y > 0 ? data[(y - 1) * row + x] : 0;
      const corner = x >= channels && y > 0 ? data[(y - 1) * row + x - channels] : 0;
      const guess = left + up - corner;
      const near = [left, up, corner].reduce((best, each) => (Math.abs(guess - each) < Math.abs(guess - best) ? each : best));
      const add = [0, left, up, (left + up) >> 1, near][filter];
      data[y * row + x] = (raw[y * (row + 1) + 1 + x] + add) & 255;
    }
  }
  return { width, height, channels, data };
}

/// The same picture with its 64 most frequent colours, which makes a page a third as large.
function withPalette(png) {
  const { width, height, channels, data } = pixels(png);
  const counts = new Map();
  const colour = (at) => ((data[at] & 0xfc) << 16) | ((data[at + 1] & 0xfc) << 8) | (data[at + 2] & 0xfc);
  for (let at = 0; at < data.length; at += channels) counts.set(colour(at), (counts.get(colour(at)) ?? 0) + 1);
  const palette = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 64).map(([each]) => each);
  const index = new Map(palette.map((each, i) => [each, i]));
  const parts = (each) => [each >> 16, (each >> 8) & 255, each & 255];
  const nearest = (each) => {
    let best = 0, least = Infinity;
    for (const [i, one] of palette.entries()) {
      const far = parts(each).reduce((sum, part, k) => sum + (part - parts(one)[k]) ** 2, 0);
      if (far < least) [best, least] = [i, far];
    }
    index.set(each, best);
    return best;
  };
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) {
      const each = colour((y * width + x) * channels);
      rows[y * (width + 1) + 1 + x] = index.get(each) ?? nearest(each);
    }
  }
  const chunk = (name, bytes) => {
    const body = Buffer.concat([Buffer.from(name), bytes]);
    const whole = Buffer.alloc(body.length + 8);
    whole.writeUInt32BE(bytes.length, 0);
    body.copy(whole, 4);
    whole.writeUInt32BE(crc(body), body.length + 4);
    return whole;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const white = (each) => parts(each).map((part) => (part === 0xfc ? 255 : part));
  return Buffer.concat([png.subarray(0, 8), chunk('IHDR', head), chunk('PLTE', Buffer.from(palette.flatMap(white))),
    chunk('IDAT', deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
}

/// CRC-32 of a chunk (PNG, annex D).
function crc(bytes) {
  let value = ~0;
  for (const byte of bytes) {
    value ^= byte;
    for (let k = 0; k < 8; ++k) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  }
  return ~value >>> 0;
}

/// @param from  what the picture begins with; undefined: the page's top
async function take(name, height, from) {
  await page.evaluate(paintAll);
  await page.painted();
  const width = await page.evaluate('innerWidth');
  const whole = await page.evaluate('document.documentElement.scrollHeight');
  const top = from ? await page.evaluate((what) => document.querySelector(what).getBoundingClientRect().top + scrollY - 16, from) : 0;
  const { data } = await page.send('Page.captureScreenshot', {
    format: 'png', captureBeyondViewport: true,
    clip: { x: 0, y: top, width, height: Math.min(height, whole - top), scale: 1 },
  });
  writeFileSync(join(folder, `${name}.png`), withPalette(Buffer.from(data, 'base64')));
}

await page.size(1000, 900);
await page.look('light');
await page.open(failed);
await take('report', 2350);
await page.look('dark');
await page.open(success);
await take('report-dark', 2350);
await page.look('light');
await page.evaluate("document.querySelectorAll('#turn-4, #turn-4 .call').forEach((each) => { each.open = true; })");
await take('report-timeline', 1500, '#timeline');
await page.size(390, 844, true);
await page.open(failed);
await take('report-phone', 1450);
// As on paper: the width of a sheet, and what is unfolded there.
await page.size(720, 1000);
await page.open(success);
await page.look('light', 'print');
await page.evaluate("dispatchEvent(new Event('beforeprint')); document.body.style.padding = '2.5rem'");
await take('report-printed', 2000);
await browser.close();
process.exit(0);
