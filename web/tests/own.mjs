// Stories of the visitor's own algorithm.
import assert from "node:assert/strict";
import { LOOKS, violations } from "./axe.mjs";

const FAST = "1000000000";
const now = (page) => page.evaluate(() => window.cwnd.measured.now);
const finished = (page) => page.waitForFunction(() => window.cwnd?.measured.finished, null, { timeout: 60000 });
const problem = async (page, pattern) => {
  await page.waitForFunction((source) => {
    const place = document.querySelector("#problems");
    return !place.hidden && new RegExp(source).test(place.textContent);
  }, pattern.source);
};

/** Replaces the program in the editor and runs it. */
async function write(page, code) {
  await page.waitForSelector("#own .cm-content");
  await page.click("#own .cm-content");
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(code);
  await page.keyboard.press("Control+Enter");
}

/** The numbers of every sample of the first flow's window in a finished run. */
const windows = (page) => page.evaluate(() => window.cwnd.samples(0));

const loss = "function on_loss(loss, window) { window.ssthresh = window.cwnd / 2; }";

export const stories = ({ address, browser }) => ({
  async "a program runs beside CUBIC, and Reno written there is newreno to the bit"(page) {
    await page.selectOption("#preset", "own");
    await page.selectOption("#speed", FAST);
    await finished(page);
    assert.match(await page.textContent("#state tbody"), /own\.js[^]*cubic/);
    const own = await windows(page);
    assert.ok(own.length > 1000 && new Set(own).size > 20, `${own.length} samples, ${new Set(own).size} windows`);
    await page.selectOption("#algorithm-1", "newreno");
    await finished(page);
    assert.deepEqual(await windows(page), own);
    await page.selectOption("#algorithm-1", "scalable");
    await finished(page);
    assert.notDeepEqual(await windows(page), own);
  },

  async "every example runs, and a link repeats a program"(page) {
    await page.selectOption("#preset", "own");
    await page.selectOption("#speed", FAST);
    for (const example of ["aimd", "delay", "rate", "reno"]) {
      await finished(page);
      const before = await page.evaluate(() => location.hash);
      await page.selectOption("#own-example", example);
      await page.waitForFunction((before) => location.hash !== before, before);
      await page.waitForFunction(() => window.cwnd.measured.now > 1);
      await finished(page);
      assert.equal(await page.isVisible("#problems"), false, `${example}: ${await page.textContent("#problems")}`);
      assert.ok(new Set(await windows(page)).size > 20, example);
    }
    const code = `function on_ack(ack, window) { window.cwnd = 17; }\n${loss}`;
    await write(page, code);
    await page.waitForFunction(() => window.cwnd.measured.finished && window.cwnd.samples(0).at(-1) === 17);
    const again = await browser.newPage();
    await again.goto(address + (await page.evaluate(() => location.hash)));
    await again.selectOption("#speed", FAST);
    await finished(again);
    assert.equal((await windows(again)).at(-1), 17);
    assert.match(await again.textContent("#own .cm-content"), /window\.cwnd = 17/);
    await again.goto("about:blank");
    await again.goto(`${address}#flow=own.js&program=AAAA`);
    await problem(again, /the link/);
    await again.close();
  },

  async "what is written stays when something else begins the run again"(page) {
    await page.selectOption("#preset", "own");
    await page.waitForSelector("#own .cm-content");
    await page.click("#own .cm-content");
    await page.keyboard.press("Control+Home");
    await page.keyboard.insertText("// mine\n");
    await page.selectOption("#queue", "codel");
    await page.click("#restart");
    await page.click("#add-flow");
    await page.waitForFunction(() => window.cwnd.measured.now > 0.5);
    assert.match(await page.textContent("#own .cm-content"), /^\/\/ mine/);
    await page.selectOption("#own-example", "aimd");
    await page.waitForFunction(() => !document.querySelector("#own .cm-content").textContent.startsWith("// mine"));
  },

  async "what is wrong with a program is shown at its line, and the page goes on"(page) {
    await page.selectOption("#preset", "own");
    const cases = [
      ["function on_ack(ack, window) {\n  window.cwnd = ;\n}", /line 2: Unexpected token/],
      [`function on_ack(ack, window) {\n\n  missing();\n}\n${loss}`, /line 3: missing is not defined/],
      [`function on_ack(ack, window) {\n  window.cwnd += ack.rtt * "x";\n}\n${loss}`, /line 2: cwnd needs a number, and this is NaN/],
      [`function on_ack(ack, window) {\n  window.cwnd -= 100;\n}\n${loss}`, /line 2: cwnd cannot be negative: this is -90/],
      [`function on_ack(ack, window) {\n  window.cwnd += ack.acknowledged;\n}\n${loss}`, /line 2: ack has no acknowledged/],
      [`function on_ack(ack, window) {}\nfunction on_loss(loss, window) {\n  window.cwnd /= 2;\n}`, /line 3: cwnd cannot be set here/],
      ["function on_ack(ack, window) {}", /it has no function on_loss/],
      [`throw new Error("at the start");`, /line 1: at the start/],
      [`function on_ack(ack, window) {\n  let n = 0;\n  while (n < 1) {}\n}\n${loss}`, /line 3: it did not return within 5 s/],
    ];
    for (const [code, pattern] of cases) {
      await write(page, code);
      await problem(page, pattern);
      if (pattern.source.startsWith("line")) {
        await page.waitForSelector("#own .cm-lint-marker-error");
        // The text is checked 300 ms after its change, and the mark of what the run found stays.
        await page.waitForTimeout(600);
        assert.ok(await page.isVisible("#own .cm-lint-marker-error"), `${pattern} has lost its mark`);
      }
      assert.ok((await page.evaluate(() => 1 + 1)) === 2, "the page answers");
    }
    await write(page, `function on_ack(ack, window) { window.cwnd = 17; }\n${loss}`);
    await page.waitForSelector("#problems", { state: "hidden" });
    const from = await now(page);
    await page.waitForFunction((from) => window.cwnd.measured.now > from, from);
  },

  async "a program of a link has no access to the site"(page) {
    await page.evaluate(() => localStorage.setItem("secret", "1"));
    await page.selectOption("#preset", "own");
    const code = `
      let read = "nothing was read yet";
      fetch("${address}").then((response) => response.text()).then((text) => (read = text), (error) => (read = error.name));
      function on_ack(ack, window) {
        if (ack.now > 1) throw new Error([typeof localStorage, typeof document, self.origin, read].join());
      }
      ${loss}`;
    await write(page, code);
    await problem(page, /undefined,undefined,null,TypeError/);
  },

  async "the panel of a program has no fault that axe-core finds, and needs no mouse"() {
    for (const [colorScheme, width] of LOOKS) {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
      await page.goto(`${address}#flow=own.js&flow=cubic`);
      await page.waitForSelector("#own .cm-content");
      await page.locator("#own summary").click();
      await page.focus("#own .cm-content");
      await page.keyboard.press("Tab");
      assert.notEqual(await page.evaluate(() => document.activeElement.className), "cm-content", "the Tab key leaves the editor");
      assert.deepEqual(await violations(page), [], `${colorScheme}, ${width}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(wide, 0, `the page is ${wide} pixels too wide at ${width}`);
      await page.close();
    }
  },

  async "a command and a study refuse an algorithm of the page"(page) {
    await page.selectOption("#preset", "own");
    await page.click("#copy-command");
    assert.match(await page.textContent("#status"), /cannot hold your algorithm/);
  },
});
