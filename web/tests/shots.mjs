// Screenshots of the page, for a look at it: node tests/shots.mjs FOLDER
import { chromium } from "playwright-core";
import { serve } from "./server.mjs";

const folder = process.argv[2] ?? "../target/web/shots";
const server = await serve(new URL("../dist", import.meta.url).pathname);
const address = `http://127.0.0.1:${server.address().port}/`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const LOOKS = [
  ["light", { viewport: { width: 1280, height: 1000 }, colorScheme: "light" }],
  ["dark", { viewport: { width: 1280, height: 1000 }, colorScheme: "dark" }],
  ["phone", { viewport: { width: 390, height: 1600 }, colorScheme: "light" }],
];
for (const [name, options] of LOOKS) {
  const page = await browser.newPage(options);
  await page.goto(address);
  await page.selectOption("#preset", "cubic-bbr");
  await page.selectOption("#speed", "1000000000");
  await page.waitForFunction(() => window.cwnd.measured.finished);
  await page.locator("#charts .u-over").first().hover({ position: { x: 150, y: 60 } });
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${folder}/${name}.png` });
  await page.close();
}
await browser.close();
server.close();
