// Stories of the study playground.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { LOOKS, violations } from "./axe.mjs";

const ready = (page) => page.waitForSelector("#run:enabled", { timeout: 60000 });
const status = (page, pattern) => page.waitForFunction((source) => new RegExp(source).test(document.querySelector("#status").textContent), pattern.source, { timeout: 120000 });
const report = (page) => page.frameLocator("#report");

/** Replaces the study in the editor. */
async function write(page, text) {
  await page.click("#editor .cm-content");
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

const SMALL = `title = "Small"
question = "How fast?"

[scenario]
rate = "5 Mbit/s"
duration = "4 s"

[run]
repeats = 2
metrics = ["throughput_bps", "loss_ratio"]

[[axes]]
name = "algorithm"
key = "algorithm"
values = ["cubic", "newreno"]

[[tables]]
name = "all"
title = "All"
rows = ["algorithm"]
metrics = ["throughput_bps", "loss_ratio"]
`;

/** Long enough to be cancelled. */
const LONG = SMALL.replace("5 Mbit/s", "1 Gbit/s").replace("4 s", "600 s");

export const stories = ({ address, browser }) => {
  const open = async (page, hash = "") => {
    await page.goto(`${address}playground.html${hash}`);
    await page.waitForSelector("#editor .cm-content", { timeout: 60000 });
  };
  return {
    async "the playground runs its first study, and the report has verdict, figures and table"(page) {
      await open(page);
      await ready(page);
      assert.match(await page.textContent("#status"), /6 cells, 5 repeats each: 30 runs, about [\d.]+ million packets/);
      await page.click("#run");
      await status(page, /All 30 runs are done/);
      const frame = report(page);
      await frame.locator("h1").waitFor();
      assert.equal(await frame.locator("#figures figure").count(), 2);
      assert.ok((await frame.locator("table").count()) >= 1);
      assert.match(await frame.locator("#findings").textContent(), /reproduced/i);
    },

    async "a study has the numbers of the native program to the bit"(page) {
      const program = process.env.CWND;
      await open(page);
      await write(page, SMALL);
      await status(page, /2 cells, 2 repeats each: 4 runs/);
      await ready(page);
      await page.click("#run");
      await status(page, /All 4 runs are done/);
      const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
      const here = readFileSync(await download.path(), "utf8");
      assert.match(here, /<!DOCTYPE html>/i);
      if (!program) return;
      const folder = mkdtempSync(`${tmpdir()}/cwnd-playground-`);
      writeFileSync(`${folder}/study.toml`, SMALL);
      execFileSync(program, ["run", "study.toml", "--out", "out"], { cwd: folder, stdio: "pipe" });
      execFileSync(program, ["report", "out"], { cwd: folder, stdio: "pipe" });
      const native = readFileSync(`${folder}/out/report.html`, "utf8");
      const numbers = (html) => /<section id="tables"[^]*?<p class="made">/.exec(html)[0];
      assert.equal(numbers(here), numbers(native));
    },

    async "a study that is changed while it runs is read again, and stays when the page is loaded again"(page) {
      await open(page);
      await write(page, SMALL);
      await status(page, /4 runs/);
      await ready(page);
      await page.click("#run");
      await write(page, SMALL.replace("repeats = 2", "repeats = 3"));
      await status(page, /2 cells, 3 repeats each: 6 runs/);
      await page.click("#run");
      await status(page, /All 6 runs are done/);
      const wrong = SMALL.replace("title", "titel");
      await page.click("#run");
      await write(page, wrong);
      await page.waitForSelector("#problems:visible", { timeout: 60000 });
      assert.match(await page.textContent("#problems"), /titel/);
      assert.ok(await page.isDisabled("#run"));
      await page.reload();
      await page.waitForSelector("#problems:visible", { timeout: 60000 });
      assert.match(await page.textContent("#editor .cm-content"), /^titel/);
    },

    async "a link has its own text, whatever was written before"(page) {
      await open(page);
      await write(page, SMALL);
      await status(page, /4 runs/);
      await page.click("#copy-link");
      await page.waitForFunction(() => location.hash.startsWith("#study="));
      const link = await page.evaluate(() => location.hash);
      await write(page, SMALL.replace("Small", "Changed"));
      await page.reload();
      await page.waitForSelector("#editor .cm-content", { timeout: 60000 });
      assert.match(await page.textContent("#editor .cm-content"), /Changed/);
      await page.goto("about:blank");
      await open(page, link);
      assert.match(await page.textContent("#editor .cm-content"), /Small/);
      // Into the address of the page that is open.
      await page.evaluate(() => (location.hash = ""));
      await page.waitForFunction(() => /[^]{50}/.test(document.querySelector("#editor .cm-content")?.textContent ?? "") && !/Small/.test(document.querySelector("#editor .cm-content").textContent), null, { timeout: 60000 });
      // What is written without a link is there again after other pages.
      await write(page, SMALL.replace("Small", "Mine"));
      await page.locator("nav").getByRole("link", { name: "algorithms" }).click();
      await page.locator("nav").getByRole("link", { name: "playground" }).click();
      await page.waitForSelector("#editor .cm-content", { timeout: 60000 });
      assert.match(await page.textContent("#editor .cm-content"), /Mine/);
    },

    async "a point of a figure is simulated in the report, and in its file without a network"(page) {
      await open(page);
      await ready(page);
      await page.click("#run");
      await status(page, /All 30 runs are done/);
      const frame = report(page);
      assert.equal(await frame.locator("#figure-1 [data-link]").count(), 6);
      await frame.locator("#figure-1 [data-link='5']").click();
      await frame.locator(".live p[role=status]", { hasText: "30 s of 30 s" }).waitFor();
      assert.match(await frame.locator(".live").textContent(), /4 BDP, bbr3/);
      assert.equal(await frame.locator(".live canvas").count(), 4);
      const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
      const folder = mkdtempSync(`${tmpdir()}/cwnd-live-`);
      const file = `${folder}/report.html`;
      await download.saveAs(file);
      const context = await browser.newContext({ offline: true });
      const saved = await context.newPage();
      const said = [];
      saved.on("console", (message) => message.type() === "error" && said.push(message.text()));
      saved.on("pageerror", (error) => said.push(String(error)));
      await saved.goto(`file://${file}`);
      await saved.focus("#figure-2 [data-link='0']");
      await saved.keyboard.press("Enter");
      await saved.locator(".live p[role=status]", { hasText: "30 s of 30 s" }).waitFor();
      const drawn = await saved.locator("#figure-2 .live canvas").first().evaluate((canvas) =>
        canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0));
      assert.ok(drawn, "the first chart is empty");
      assert.deepEqual(await violations(saved), []);
      await saved.click(".live button");
      assert.equal(await saved.locator(".live").count(), 0);
      assert.equal(await saved.evaluate(() => document.activeElement.getAttribute("data-link")), "0", "the focus returns to the point");
      assert.deepEqual(said, []);
      await context.close();
    },

    async "errors of a study are shown at their lines, and keys and values are completed"(page) {
      await open(page);
      await write(page, SMALL.replace('rate = "5 Mbit/s"', 'rate = "5 parsecs"').replace("[run]", "[rum]"));
      await page.waitForSelector("#problems:visible");
      const problems = await page.textContent("#problems");
      assert.match(problems, /Line 5: .*parsecs/);
      assert.match(problems, /Line 8: /);
      assert.ok(await page.isDisabled("#run"));
      await page.waitForSelector("#editor .cm-lint-marker-error");
      await page.click("#problems button");
      assert.match(await page.textContent("#editor .cm-activeLine"), /parsecs/);
      await write(page, SMALL);
      await page.waitForSelector("#problems", { state: "hidden" });
      await write(page, "[scenario]\n");
      await page.keyboard.type("stac");
      await page.waitForSelector(".cm-tooltip-autocomplete");
      // The editor takes no key for the list that has just come up.
      await page.waitForTimeout(200);
      await page.keyboard.press("Enter");
      await page.keyboard.type('"ns');
      await page.waitForSelector(".cm-tooltip-autocomplete");
      await page.waitForTimeout(200);
      await page.keyboard.press("Enter");
      assert.match(await page.textContent("#editor .cm-content"), /stack = "ns2/);
    },

    async "a study is cancelled, and the page goes on"(page) {
      await open(page);
      await write(page, LONG);
      await status(page, /4 runs/);
      await ready(page);
      await page.click("#run");
      await status(page, /0 of 4 runs are done/);
      await page.click("#cancel");
      await status(page, /Cancelled after [0-3] of 4 runs/);
      await write(page, SMALL);
      await status(page, /2 cells, 2 repeats/);
      await ready(page);
      await page.click("#run");
      await status(page, /All 4 runs are done/);
    },

    async "every example of the playground can be run, and a link holds a study"(page) {
      await open(page);
      const names = await page.locator("#example option").evaluateAll((all) => all.map((one) => one.value).filter(Boolean));
      assert.ok(names.length >= 6, `${names}`);
      for (const name of names) {
        await page.waitForSelector("#example:enabled");
        await page.selectOption("#example", name);
        await page.waitForTimeout(100);
        await ready(page);
        await page.waitForFunction(() => document.querySelector("#problems").hidden);
      }
      await page.selectOption("#example", "networks/incast");
      await ready(page);
      await page.click("#copy-link");
      await page.waitForFunction(() => location.hash.startsWith("#study="));
      const hash = await page.evaluate(() => location.hash);
      const again = await browser.newPage();
      await open(again, hash);
      await status(again, /15 cells, 5 repeats/);
      await again.goto("about:blank");
      await open(again, "#study=AAAA");
      await again.waitForSelector("#problems:visible");
      assert.match(await again.textContent("#problems"), /the link/);
      await again.close();
    },

    async "axe-core finds nothing on the playground, light and dark, wide and narrow"() {
      for (const [colorScheme, width] of LOOKS) {
        const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
        await open(page);
        await write(page, SMALL);
        await status(page, /4 runs/);
        await ready(page);
        await page.click("#run");
        await status(page, /All 4 runs are done/);
        await write(page, SMALL.replace("5 Mbit/s", "5 parsecs"));
        await page.waitForSelector("#problems:visible");
        assert.deepEqual(await violations(page), [], `${colorScheme}, ${width}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wide, 0, `the page is ${wide} pixels too wide at ${width}`);
        await page.close();
      }
    },
  };
};
