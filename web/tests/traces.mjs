// Delivery traces on the bench.
import { LOOKS, violations } from "./axe.mjs";
import { readFileSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import assert from "node:assert/strict";

const target = new URL("../../target/web/", import.meta.url).pathname;
const file = (name, text) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
const decoded = (page) => page.evaluate(() => decodeURIComponent(location.hash.replaceAll("+", " ")));
const finished = (page) => page.waitForFunction(() => window.cwnd?.measured.finished, null, { timeout: 60000 });

export const stories = ({ address, browser }) => ({
  async "a built-in trace sets the rate, and its link repeats the run to the bit"(page) {
    await page.selectOption("#trace", "step.trace");
    await page.waitForFunction(() => location.hash.includes("rate-trace=step.trace"));
    assert.match(await page.textContent(".slider output"), /mean 3\.6 Mbit\/s/);
    assert.ok(await page.isDisabled("#rate"));
    assert.match(await page.textContent("#rate-reason"), /The trace sets the rate/);
    assert.doesNotMatch(await decoded(page), /[#&]rate=/);
    await page.selectOption("#speed", "1000000000");
    await finished(page);
    const table = await page.textContent("#state tbody");
    const packets = Number(/; ([\d,]+) packets/.exec(await page.textContent("#status"))[1].replaceAll(",", ""));
    // Six periods of 3,000 packets in 60 s, less what slow start left.
    assert.ok(packets > 15000 && packets < 18500, `${packets} packets`);
    const again = await browser.newPage();
    await again.goto(page.url());
    await again.selectOption("#speed", "1000000000");
    await finished(again);
    assert.equal(await again.inputValue("#trace"), "step.trace");
    assert.equal(await again.textContent("#state tbody"), table);
    await again.close();
    await page.selectOption("#trace", "");
    await page.waitForFunction(() => location.hash.includes("&") && !location.hash.includes("trace"));
    assert.ok(await page.isEnabled("#rate"));
  },

  async "the round-trip time changes while a trace sets the rate"(page) {
    await page.selectOption("#preset", "cellular");
    await page.waitForFunction(() => location.hash.includes("rate-trace=lte.trace"));
    await page.waitForFunction(() => window.cwnd.measured.now > 1);
    await page.focus("#rtt");
    await page.keyboard.press("PageDown");
    await page.waitForFunction(() => location.hash.includes("@"));
    const at = await page.evaluate(() => window.cwnd.measured.now);
    await page.waitForFunction((at) => window.cwnd.measured.now > at + 1, at);
    assert.equal(await page.isVisible("#problems"), false);
    await page.click("#copy-command");
    const command = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(command, /# The page changed at [\d.]+ s: rtt=/);
    assert.doesNotMatch(command, /--schedule/);
  },

  async "a file of the visitor sets the rate, and its errors are shown with their line"(page) {
    await page.selectOption("#trace", "file");
    await page.setInputFiles("#trace-file", file("mine & yours.trace", "10\n20\n30\n40\n"));
    await page.waitForFunction(() => document.querySelector(".slider output").textContent.includes("1.2 Mbit/s"));
    assert.match(await page.textContent("#trace-about"), /A link has its name only/);
    await page.waitForFunction(() => window.cwnd.measured.now > 1);
    await page.click("#copy-link");
    await page.waitForFunction(() => document.querySelector("#status").textContent.includes("must choose the file"));
    const other = await browser.newPage();
    await other.goto(page.url());
    await other.waitForSelector("#problems:visible");
    assert.match(await other.textContent("#trace-wrong"), /does not have the file mine & yours\.trace/);
    await other.setInputFiles("#trace-file", file("mine & yours.trace", "10\n20\n30\n40\n"));
    await other.waitForFunction(() => window.cwnd.measured.now > 1);
    assert.equal(await other.textContent("#trace-wrong"), "");
    await other.close();

    await page.setInputFiles("#trace-file", file("bad.trace", "10\n20\n15\n"));
    await page.waitForFunction(() => document.querySelector("#trace-wrong").textContent !== "");
    assert.match(await page.textContent("#trace-wrong"), /`bad\.trace`: line 3: 15 ms comes after 20 ms/);
    assert.equal(await page.getAttribute("#trace", "aria-invalid"), "true");
    assert.deepEqual(await violations(page), []);
    await page.setInputFiles("#trace-file", file("large.trace", "1".repeat(4_000_001)));
    await page.waitForFunction(() => document.querySelector("#trace-wrong").textContent.includes("at most 4 MB"));
    await page.setInputFiles("#trace-file", file("lte.trace", "10\n"));
    await page.waitForFunction(() => document.querySelector("#trace").value === "own-lte.trace");
    assert.equal(await page.textContent("#trace-wrong"), "");
  },

  async "the command and the study of a trace are accepted by cwnd"(page) {
    await page.selectOption("#preset", "cellular");
    await page.waitForFunction(() => location.hash.includes("rate-trace=lte.trace"));
    await page.waitForFunction(() => window.cwnd.measured.now > 0.5);
    await page.click("#copy-command");
    const command = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(command, /^# It reads the trace lte\.trace/);
    assert.match(command, /--rate-trace lte\.trace/);
    assert.doesNotMatch(command, /--rate /);
    await page.click("#copy-study");
    const study = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(study, /rate-trace = "lte\.trace"/);
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(".trace a")]);
    await download.saveAs(`${target}lte.trace`);
    assert.equal(readFileSync(`${target}lte.trace`, "utf8"), readFileSync(new URL("../src/traces/lte.trace", import.meta.url), "utf8"));
    const program = process.env.CWND;
    if (!program) return;
    const words = command.replace(/^cwnd/m, `'${program}'`).replace(" --plot bench.svg", " --print-study");
    execFileSync("sh", ["-c", words], { stdio: "pipe", cwd: target });
    writeFileSync(`${target}traced.toml`, study);
    execFileSync(program, ["check", "traced.toml"], { stdio: "pipe", cwd: target });
  },

  async "a trace's control is accessible, light and dark, wide and narrow"() {
    for (const [colorScheme, width] of LOOKS) {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
      await page.goto(`${address}#rate-trace=lte.trace&flow=cubic`);
      await page.waitForFunction(() => window.cwnd?.measured.now > 0.5);
      await page.selectOption("#trace", "file");
      assert.deepEqual(await violations(page), [], `${colorScheme}, ${width}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(wide, 0, `the page is ${wide} pixels too wide at ${width}`);
      await page.close();
    }
  },
});
