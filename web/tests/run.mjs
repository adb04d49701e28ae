// The stories of the page in a real browser. `cargo xtask web --test` builds the page and calls this.
// The last line counts tests as cargo does.
import { LOOKS, violations } from "./axe.mjs";
import * as copied from "./copied.mjs";
import * as matrix from "./matrix.mjs";
import * as own from "./own.mjs";
import * as playground from "./playground.mjs";
import { chromium } from "playwright-core";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import assert from "node:assert/strict";
import { serve } from "./server.mjs";
import * as traces from "./traces.mjs";

const dist = new URL("../dist", import.meta.url).pathname;
const server = await serve(dist);
const address = `http://127.0.0.1:${server.address().port}/`;
const names = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = process.env.CHROMIUM ?? names.find(existsSync);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

const FAST = "1000000000";

const stories = {
  async "a preset draws until its end"(page) {
    await page.selectOption("#speed", "1000000000");
    await finished(page);
    assert.match(await page.textContent("#status"), /^60\.00 s of 60 s; [\d,]+ packets/);
    const rows = await page.locator("#state tbody tr").count();
    assert.equal(rows, 1);
    assert.ok(await inked(page, "#charts canvas"), "the first chart is empty");
    assert.ok(await inked(page, "#path"), "the path is empty");
  },

  async "every preset runs without a problem"(page) {
    const presets = await page.locator("#preset option").evaluateAll((all) => all.map((one) => one.value).filter(Boolean));
    assert.ok(presets.length >= 10);
    await page.selectOption("#speed", "1000000000");
    for (const preset of presets) {
      await page.selectOption("#preset", preset);
      await page.waitForFunction(() => window.cwnd.measured.now > 0.5 || window.cwnd.measured.finished);
      assert.equal(await page.isVisible("#problems"), false, `${preset}: ${await page.textContent("#problems")}`);
    }
  },

  async "pause and step by one round trip"(page) {
    await moving(page, 0.3);
    await page.click("#play");
    await page.waitForTimeout(150);
    const before = await now(page);
    await page.waitForTimeout(150);
    assert.equal(await now(page), before);
    await page.click("#step");
    await page.waitForFunction((before) => window.cwnd.measured.now > before, before);
    const stepped = (await now(page)) - before;
    assert.ok(Math.abs(stepped - 0.08) < 1e-6, `it stepped ${stepped} s; the RTT is 80 ms`);
  },

  async "a slider changes the path while it runs, and the URL repeats it to the bit"(page) {
    await moving(page, 1);
    await page.click("#play");
    await page.focus("#rate");
    await page.keyboard.press("PageDown");
    await page.waitForFunction(() => location.hash.includes("rate=") && location.hash.includes("@"));
    const hash = await page.evaluate(() => location.hash);
    assert.match(decodeURIComponent(hash).replaceAll("+", " "), /^#rate=10 Mbit\/s.*&@[\d.]+ s rate=\d/);
    await page.selectOption("#speed", "1000000000");
    await repeats(page);
  },

  async "a change that overtakes a step is noted when it takes effect"(page) {
    await moving(page, 1);
    await page.click("#play");
    await page.waitForTimeout(150);
    const before = await now(page);
    await page.evaluate(() => {
      // Within one task, so that the worker has not answered the step when the slider moves.
      document.querySelector("#step").click();
      const slider = document.querySelector("#rate");
      slider.stepDown(10);
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await page.waitForFunction((before) => window.cwnd.measured.now > before, before);
    await page.waitForFunction(() => location.hash.includes("@"));
    const noted = decodeURIComponent(await page.evaluate(() => location.hash)).match(/@([\d.]+)/)[1];
    assert.equal(Number(noted), await now(page));
    await page.selectOption("#speed", "1000000000");
    await repeats(page);
  },

  async "a run that is played again repeats its changes, and the sliders follow; another change goes another way"(page) {
    await moving(page, 1);
    await page.click("#play");
    await page.focus("#rate");
    await page.keyboard.press("PageDown");
    await page.waitForFunction(() => location.hash.includes("@"));
    const rate = await page.textContent("output[for=rate]");
    await page.selectOption("#speed", FAST);
    await page.click("#play");
    await finished(page);
    const [hash, table] = [await page.evaluate(() => location.hash), await page.textContent("#state tbody")];
    await page.selectOption("#speed", "2");
    await page.click("#play");
    await page.waitForFunction(() => document.querySelector("output[for=rate]").textContent === "10 Mbit/s");
    await page.waitForFunction((rate) => document.querySelector("output[for=rate]").textContent === rate, rate);
    await page.selectOption("#speed", FAST);
    await finished(page);
    assert.deepEqual([await page.evaluate(() => location.hash), await page.textContent("#state tbody")], [hash, table]);
    // The change of this run at its beginning takes the place of the one that was to come.
    await page.selectOption("#speed", "0.1");
    await page.click("#play");
    await moving(page, 0.02);
    await page.focus("#buffer");
    await page.keyboard.press("PageDown");
    await page.waitForFunction(() => /@[^&]*buffer=/.test(location.hash));
    assert.equal((await page.evaluate(() => location.hash)).match(/@/g).length, 1);
    assert.equal(await page.textContent("output[for=rate]"), "10 Mbit/s");
  },

  async "a slider that is dragged while a run is repeated keeps what came before, and typing is not disturbed"(page) {
    await page.goto(`${address}#rate=10+Mbit/s&rtt=80+ms&buffer=67&duration=60+s&flow=newreno&@0+s+rate=8+Mbit/s&@2+s+rate=4+Mbit/s&@50+s+per=0.001`);
    await page.reload();
    await page.waitForFunction(() => window.cwnd);
    await page.selectOption("#speed", FAST);
    await finished(page);
    await page.selectOption("#speed", "1");
    await page.click("#play");
    await page.waitForFunction(() => document.querySelector("output[for=rate]").textContent === "8 Mbit/s");
    // A half-written line stays, and is not run.
    await page.locator("details summary").click();
    await page.locator("#more").pressSequentially("jitter=1 m");
    await page.waitForFunction(() => document.querySelector("output[for=rate]").textContent === "4 Mbit/s");
    assert.equal(await page.inputValue("#more"), "jitter=1 m");
    assert.equal(await page.isVisible("#problems"), false);
    await page.fill("#more", "");
    await page.evaluate(async () => {
      const slider = document.querySelector("#buffer");
      for (let step = 0; step < 6; step++) {
        slider.stepUp(5);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    const hash = decodeURIComponent(await page.evaluate(() => location.hash)).replaceAll("+", " ");
    assert.match(hash, /rate=10 Mbit\/s.*@0 s rate=8 Mbit\/s&@2 s rate=4 Mbit\/s&@[\d.]+ s buffer=/);
    assert.doesNotMatch(hash, /per=/);
    await page.waitForFunction(() => window.cwnd.measured.now > 2.2);
  },

  async "a run that is paused while it catches up is changed where it is, and a text to copy is no problem"(page) {
    await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    await page.goto(`${address}#rate=400+Mbit/s&rtt=40+ms&buffer=1000&duration=400+s&flow=cubic&@0.5+s+buffer=900&@300+s+rate=200+Mbit/s`);
    await page.reload();
    await moving(page, 1);
    await page.click("#play");
    await page.waitForFunction(() => document.querySelector("output[for=rate]").textContent === "400 Mbit/s");
    const paused = await now(page);
    assert.ok(paused < 290, `it was at ${paused} s already`);
    await page.click("#copy-command");
    await page.waitForSelector("#problems:visible");
    await page.focus("#buffer");
    await page.keyboard.press("PageDown");
    await page.waitForFunction(() => (location.hash.match(/@/g) ?? []).length === 2 && !location.hash.includes("@300"));
    const changed = decodeURIComponent(await page.evaluate(() => location.hash)).replaceAll("+", " ");
    assert.match(changed, /@0.5 s buffer=900&@[\d.]+ s buffer=\d+$/);
    assert.ok(Number(/@([\d.]+) s buffer=\d+$/.exec(changed)[1]) < 290, changed);
  },

  async "the page works where the browser keeps nothing"() {
    for (const name of ["index.html", "algorithms.html", "playground.html"]) {
      const page = await browser.newPage();
      await page.addInitScript(() => Object.defineProperty(window, "sessionStorage", { get: () => { throw new DOMException("blocked", "SecurityError"); } }));
      await page.goto(address + name);
      await page.waitForSelector({ "index.html": "#algorithm-1", "algorithms.html": "article", "playground.html": "#run:enabled" }[name]);
      await page.close();
    }
  },

  async "Restart begins with the sliders as they are, and Back brings the changes back"(page) {
    await moving(page, 1);
    await page.focus("#rate");
    await page.keyboard.press("PageDown");
    await page.waitForFunction(() => location.hash.includes("@"));
    await page.click("#restart");
    await page.waitForFunction(() => !location.hash.includes("@"));
    assert.doesNotMatch(await page.evaluate(() => location.hash), /rate=10\+Mbit/);
    await page.goBack();
    await page.waitForFunction(() => location.hash.includes("@") && location.hash.includes("rate=10+Mbit"));
    await moving(page, 1);
  },

  async "after the end a slider or a flow begins a new run"(page) {
    await page.selectOption("#speed", FAST);
    await finished(page);
    const packets = await page.textContent("#status");
    await page.focus("#rate");
    await page.keyboard.press("PageUp");
    await finished(page);
    assert.notEqual(await page.textContent("#status"), packets);
    await page.click("#add-flow");
    await finished(page);
    assert.equal(await page.locator("#state tbody tr").count(), 2);
  },

  async "sliders tell when other settings or the access links decide"(page) {
    await page.goto(`${address}#rate=10+Mbit/s&rtt=40+ms&buffer=1+BDP&duration=60+s&flow=cubic`);
    await page.waitForSelector("#buffer:disabled");
    assert.match(await page.textContent("#buffer-reason"), /buffer=1 BDP/);
    assert.ok(await page.isEnabled("#rate"));
    assert.equal(await page.textContent("#access"), "");
    await moving(page, 0.5);
    await page.focus("#rate");
    await page.keyboard.press("End");
    await page.waitForFunction(() => /keep 100 Mbit\/s/.test(document.querySelector("#access").textContent));
    await page.click("#restart");
    await page.waitForFunction(() => document.querySelector("#access").textContent === "");
    await page.goto(`${address}#rate=1+Gbps&rtt=40+ms&duration=1+s&flow=cubic`);
    await page.waitForSelector("#rate:disabled");
    assert.match(await page.textContent("#rate-reason"), /rate=1 Gbps/);
  },

  async "a flow is added while it runs, and removed"(page) {
    await moving(page, 1);
    await page.click("#add-flow");
    await moving(page, 2);
    assert.equal(await page.locator("#state tbody tr").count(), 2);
    const start = await page.inputValue("#start-2");
    assert.ok(parseFloat(start) > 0.9, `it starts at ${start}`);
    await page.click("[aria-label='Remove flow 2']");
    await page.waitForFunction(() => document.querySelectorAll("#state tbody tr").length === 1);
    for (let flows = 1; flows < 8; flows++) await page.click("#add-flow");
    assert.ok(await page.isDisabled("#add-flow"));
  },

  async "the cursor shows the algorithm's state then, by mouse and by keyboard"(page) {
    await page.selectOption("#preset", "cubic-bbr");
    await page.selectOption("#speed", "1000000000");
    await finished(page);
    await page.locator("#charts .u-over").first().hover({ position: { x: 200, y: 50 } });
    await page.waitForFunction(() => !document.querySelector("#state caption").textContent.includes("at 6"));
    const hovered = await page.textContent("#state caption");
    assert.match(await page.textContent("#state tbody"), /w_max .*mode|mode/);
    await page.focus("#charts");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction((before) => document.querySelector("#state caption").textContent !== before, hovered);
  },

  async "a drag zooms all charts, and a button shows everything"(page) {
    await page.selectOption("#speed", "1000000000");
    await finished(page);
    const box = await page.locator("#charts .u-over").nth(1).boundingBox();
    await page.mouse.move(box.x + 100, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + 200, box.y + 40, { steps: 4 });
    await page.mouse.up();
    const zoomed = await page.waitForFunction(() => {
      const [min, max] = window.cwnd.charts.zoomed;
      return max - min < 30 ? [min, max] : null;
    });
    const [min, max] = await zoomed.jsonValue();
    assert.ok(min > 0 && max < 60, `${min} to ${max}`);
    await page.click("#zoom-out");
    assert.deepEqual(await page.evaluate(() => window.cwnd.charts.zoomed), [0, 60]);
  },

  async "wrong values are explained, and the page goes on"(page) {
    await page.fill("#duration", "soon");
    await page.press("#duration", "Tab");
    assert.match(await page.textContent("#duration-wrong"), /60 s/);
    await page.fill("#parameters-1", "beta=7");
    await page.press("#parameters-1", "Tab");
    await page.waitForSelector("#problems:visible");
    assert.match(await page.textContent("#problems"), /beta/);
    await page.fill("#parameters-1", "");
    await page.press("#parameters-1", "Tab");
    await page.waitForSelector("#problems", { state: "hidden" });
    await page.locator("details summary").click();
    await page.fill("#more", "bufer=3");
    await page.press("#more", "Tab");
    await page.waitForSelector("#problems:visible");
    assert.match(await page.textContent("#problems"), /did you mean `buffer`/);
    const cut = await browser.newPage();
    await cut.goto(`${address}#rate=%E0%A4%A`);
    await cut.waitForSelector("#problems:visible");
    assert.match(await cut.textContent("#problems"), /the link/);
    await moving(cut, 0.1);
    assert.equal(await cut.inputValue("#algorithm-1"), "cubic");
    await cut.close();
  },

  async "a module that cannot be loaded is said"() {
    const page = await browser.newPage();
    await page.route("**/*.wasm", (route) => route.abort());
    await page.goto(address);
    await page.waitForSelector("#problems:visible");
    assert.match(await page.textContent("#problems"), /could not begin/);
    await page.close();
  },

  async "the command and the study are accepted by cwnd"(page) {
    const program = process.env.CWND;
    await moving(page, 1);
    await page.focus("#rate");
    await page.keyboard.press("PageDown");
    await page.click("#copy-command");
    const command = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(command, /^cwnd compare \\\n {2}--flow newreno/);
    assert.match(command, /--schedule '[\d.]+ s: \d/);
    await page.click("#copy-study");
    const study = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(study, /\[scenario\]/);
    if (!program) return;
    const words = command.replace(/^cwnd/, `'${program}'`).replace(" --plot bench.svg", " --print-study");
    execFileSync("sh", ["-c", words], { stdio: "pipe" });
    const { writeFileSync } = await import("node:fs");
    const file = `${dist}/../../target/web/copied.toml`;
    writeFileSync(file, study);
    execFileSync(program, ["check", file], { stdio: "pipe" });
  },

  async "eight flows at 1 Gbit/s draw at 30 frames a second"(page) {
    const flows = ["cubic", "bbr3", "newreno", "elastic", "agile-sd", "htcp", "illinois", "vegas"];
    const hash = ["rate=1+Gbit/s", "rtt=40+ms", "buffer=3300", "duration=60+s", ...flows.map((flow) => `flow=${flow}`)].join("&");
    await page.goto(`${address}#${hash}`);
    await page.selectOption("#speed", "1");
    await page.waitForSelector("#algorithm-8");
    await moving(page, 1);
    const [begin, from] = await page.evaluate(() => [performance.now(), window.cwnd.measured.drawn]);
    await page.waitForTimeout(3000);
    const [end, to] = await page.evaluate(() => [performance.now(), window.cwnd.measured.drawn]);
    const rate = ((to - from) * 1000) / (end - begin);
    console.log(`  ${rate.toFixed(1)} frames a second`);
    assert.ok(rate >= 30, `${rate} frames a second`);
  },

  async "axe-core finds nothing, light and dark, wide and narrow"() {
    for (const [colorScheme, width] of LOOKS) {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
      await page.goto(address);
      await moving(page, 0.5);
      await page.locator("details summary").click();
      await page.fill("#more", "bufer=3");
      await page.press("#more", "Tab");
      await page.waitForSelector("#problems:visible");
      const found = await violations(page);
      assert.deepEqual(found, [], `${colorScheme}, ${width}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(wide, 0, `the page is ${wide} pixels too wide at ${width}`);
      await page.close();
    }
  },

  async "the catalogue finds algorithms and runs each"(page) {
    await page.goto(`${address}algorithms.html`);
    await page.waitForSelector("article");
    const all = await page.locator("article").count();
    assert.ok(all >= 30, `${all} algorithms`);
    await page.fill("#words", "ecn marked");
    assert.ok((await page.locator("article:visible").count()) < all);
    await page.fill("#words", "no such thing");
    assert.match(await page.textContent("#status"), /use fewer/);
    await page.fill("#words", "");
    for (const name of ["elastic", "dctcp"]) {
      await page.click(`#${name} button`);
      await page.waitForSelector(`#${name} canvas`);
      await page.waitForTimeout(500);
      assert.ok(await inked(page, `#${name} canvas`), `${name} is not drawn`);
      assert.equal(await page.locator(".show canvas").count(), 4);
    }
    await page.locator("#elastic summary").click();
    assert.deepEqual(await violations(page), []);
    await page.setViewportSize({ width: 360, height: 780 });
    await fits(page);
    await page.click("#elastic a");
    await finished(page);
    assert.match(await page.textContent("#state tbody"), /elastic/);
  },

  async "the catalogue shows equations for every algorithm"() {
    for (const [colorScheme, width] of LOOKS) {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
      await page.goto(`${address}algorithms.html`);
      await page.waitForSelector("article");
      const without = await page.locator("article:not(:has(figure math mi, figure math mtext))").evaluateAll((all) => all.map((one) => one.id));
      assert.deepEqual(without, [], "these have no equation");
      const elastic = await page.locator("#elastic figure").evaluateAll((all) => all.map((one) => one.textContent));
      assert.ok(elastic.some((text) => /^WWF=.*RTTmax.*RTTcur.*w/.test(text)), `${elastic}`);
      // A formula is taller than a line of its letters, and no parse error is shown.
      const drawn = await page.locator("#elastic figure math").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
      assert.ok(drawn.every((height) => height > 10), `${drawn}`);
      assert.equal(await page.locator("parsererror, merror").count(), 0);
      await fits(page);
      // Those that are too wide for the page scroll in their boxes, from the keyboard, too.
      await page.waitForFunction(() => [...document.querySelectorAll("figure .scroll")].every((box) =>
        box.hasAttribute("tabindex") === box.scrollWidth > box.clientWidth));
      const scrolling = await page.locator("figure .scroll[tabindex]").count();
      if (width === 360) assert.ok(scrolling > 0, "no equation is wider than a phone");
      else assert.equal(scrolling, 0, "an equation is wider than 1280 pixels");
      assert.deepEqual(await violations(page), [], `${colorScheme}, ${width}`);
      await page.close();
    }
  },

  async "every algorithm of the catalogue runs without a problem"(page) {
    await page.goto(`${address}algorithms.html`);
    await page.waitForSelector("article");
    const links = await page.locator("article a").evaluateAll((all) => all.map((one) => one.href));
    await page.goto(links[0]);
    for (const link of links) {
      await page.evaluate((hash) => (location.hash = hash), new URL(link).hash);
      await page.waitForFunction((hash) => location.hash === hash && window.cwnd?.measured.now > 0.05, new URL(link).hash);
      assert.equal(await page.isVisible("#problems"), false, `${link}: ${await page.textContent("#problems")}`);
    }
  },

  async "the first load is under 600 KB compressed"() {
    const page = await browser.newPage();
    const files = new Set();
    page.on("request", (request) => files.add(new URL(request.url()).pathname.replace(/\/$/, "/index.html")));
    await page.goto(address);
    await moving(page, 0.5);
    await page.close();
    const sizes = [...files].map((file) => gzipSync(readFileSync(`${dist}${file}`), { level: 9 }).length);
    const all = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok([...files].some((file) => file.endsWith(".wasm")), `${[...files]}`);
    console.log(`  ${(all / 1000).toFixed(0)} KB`);
    assert.ok(all < 600_000, `${all} bytes`);
  },
};

/** Lets the run go on to its end, and runs its URL in another page: the flows must end in the same state. */
const repeats = async (page) => {
  await page.click("#play");
  await finished(page);
  const table = await page.textContent("#state tbody");
  const again = await browser.newPage();
  await again.goto(await page.evaluate(() => location.href));
  await again.waitForFunction(() => window.cwnd);
  await again.selectOption("#speed", "1000000000");
  await finished(again);
  assert.equal(await again.textContent("#state tbody"), table);
  await again.close();
};
const now = (page) => page.evaluate(() => window.cwnd.measured.now);
const moving = (page, time) => page.waitForFunction((time) => window.cwnd?.measured.now > time, time);
const finished = (page) => page.waitForFunction(() => window.cwnd?.measured.finished, null, { timeout: 60000 });
/** Waits until the page is not wider than the window: charts shrink after the layout that follows a resize. */
const fits = async (page) => {
  const tooWide = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
  await page.waitForFunction(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth, null, { timeout: 5000 }).catch(async () =>
    assert.fail(`the page is ${await page.evaluate(tooWide)} pixels too wide`));
};
/** Whether something is drawn on a canvas. */
const inked = (page, selector) => page.locator(selector).first().evaluate((canvas) => {
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return data.some((value) => value > 0);
});

const wanted = process.argv[2] ?? "";
let [passed, failed] = [0, 0];
const all = { ...stories, ...copied.stories({ address }), ...own.stories({ address, browser }), ...matrix.stories({ address, browser }), ...traces.stories({ address, browser }), ...playground.stories({ address, browser }) };
for (const [name, story] of Object.entries(all).filter(([name]) => name.includes(wanted))) {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error));
  page.setDefaultTimeout(20000);
  const begin = Date.now();
  try {
    await page.goto(address);
    await page.waitForFunction(() => window.cwnd);
    await story(page);
    assert.deepEqual(errors, [], "the page threw");
    passed += 1;
    console.log(`ok      ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack ?? error}`);
  }
  await context.close();
}
await browser.close();
server.close();
console.log(`test result: ${failed === 0 ? "ok" : "FAILED"}. ${passed} passed; ${failed} failed; 0 ignored`);
process.exitCode = failed === 0 ? 0 : 1;
