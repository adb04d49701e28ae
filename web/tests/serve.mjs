// The stories of `cwnd serve` in a real browser, with the real program in a directory of its own: node tests/serve.mjs [WORDS]
// CWND is the program. With SHOTS a folder for screenshots. The last line counts tests as cargo does.
import { LOOKS, violations } from "./axe.mjs";
import { chromium } from "playwright-core";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import assert from "node:assert/strict";

const program = process.env.CWND ?? new URL("../../target/debug/cwnd", import.meta.url).pathname;
const dist = new URL("../dist", import.meta.url).pathname;
const folder = mkdtempSync(`${tmpdir()}/cwnd-serve-`);
const study = (title, repeats) => `title = "${title}"
question = "How much of the path does one flow use?"
[scenario]
rate = "50 Mbit/s"
rtt = "40 ms"
duration = "30 s"
[run]
repeats = ${repeats}
metrics = ["throughput_bps"]
[[axes]]
name = "algorithm"
key = "algorithm"
values = ["cubic", "newreno"]
[[tables]]
name = "throughput"
title = "Throughput"
rows = ["algorithm"]
metrics = ["throughput_bps"]
[[claims]]
text = "CUBIC uses at least 40 Mbit/s of the path"
measure = "mean"
metric = "throughput_bps"
where = { algorithm = "cubic" }
expect = ">= 40e6"
`;
writeFileSync(`${folder}/long.toml`, study("Two algorithms alone, many repeats", 300));
writeFileSync(`${folder}/short.toml`, study("Two algorithms alone", 5));

class Server {
  async start(port = 0) {
    const places = ["long.toml", "short.toml"];
    this.child = spawn(program, ["serve", ...places, "--web", dist, "--token-file", "token", "--port", String(port)], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    this.url = await new Promise((found, failed) => {
      this.child.on("exit", (code) => failed(new Error(`cwnd serve ended with ${code}`)));
      this.child.stdout.on("data", (data) => {
        text += data;
        const line = /http:\S+/.exec(text);
        if (line) found(line[0]);
      });
    });
    this.child.removeAllListeners("exit");
    this.address = new URL(this.url).origin;
    this.port = Number(new URL(this.url).port);
    return this;
  }

  async end(signal = "SIGKILL") {
    const ended = new Promise((resolve) => this.child.on("exit", resolve));
    this.child.kill(signal);
    await ended;
  }
}

let server = await new Server().start();
const names = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? names.find(existsSync), args: ["--no-sandbox"] });
const long = (page) => page.locator("#store-0");
const short = (page) => page.locator("#store-1");
const count = async (entry) => Number(/^([\d,]+) of/.exec(await entry.locator(".count").textContent())[1].replace(",", ""));
/** Holds the responses with the list of studies back until it is released. */
async function heldList(page) {
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route("**/api/stores", (route) => released.then(() => route.continue()).catch(() => undefined));
  return { release };
}
const visible = (entry, name) => entry.getByRole("button", { name }).waitFor();

const stories = {
  async "the list shows studies that were not run yet, and no token in the address"(page) {
    assert.match(await page.textContent("#status"), /^2 studies/);
    assert.match(await short(page).textContent(), /Two algorithms alone short/);
    assert.equal(await short(page).locator(".count").textContent(), "0 of 10 runs done");
    assert.equal(await short(page).getByRole("link", { name: "Report" }).isVisible(), false);
    assert.equal(new URL(page.url()).search, "");
    assert.match(await page.textContent("#machine"), /^cwnd \d.*threads$/);
    const cookies = await page.context().cookies();
    assert.deepEqual(cookies.map((one) => [one.httpOnly, one.sameSite]), [[true, "Strict"]]);
  },

  async "a study runs to its end, and its claims and report open"(page) {
    await short(page).getByRole("button", { name: "Start" }).click();
    await page.waitForFunction(() => document.querySelector("#store-1 .count").textContent === "10 of 10 runs done");
    await page.waitForFunction(() => document.querySelector("#store-1 .note").textContent.startsWith("Finished"));
    assert.equal(await short(page).getByRole("button", { name: "Start" }).isVisible(), false);
    await short(page).locator("summary").click();
    await short(page).locator("td", { hasText: "reproduced" }).waitFor();
    assert.match(await short(page).locator("td").nth(2).textContent(), /^4\d\.\d+.* Mbit\/s$/);
    assert.match(await short(page).textContent(), /cwnd run short\.toml/);
    const [report] = await Promise.all([page.context().waitForEvent("page"), short(page).getByRole("link", { name: "Report" }).click()]);
    await report.waitForLoadState();
    assert.match(await report.title(), /Two algorithms alone/);
    assert.match(await report.textContent("main"), /CUBIC uses at least 40 Mbit\/s/);
    // The report's own script runs, and cannot act as a page of the server.
    assert.equal(await report.evaluate(() => self.origin), "null");
    const answer = await report.evaluate((address) => fetch(`${address}/api/stores`).then(() => "answered", () => "refused"), server.address);
    assert.equal(answer, "refused");
  },

  async "a study shows its progress, stops, and continues where it was"(page) {
    await long(page).getByRole("button", { name: "Start" }).click();
    await visible(long(page), "Stop");
    await page.waitForFunction(() => /about .* left/.test(document.querySelector("#store-0 .count").textContent));
    assert.equal(await short(page).getByRole("button", { name: "Start" }).isVisible(), false);
    await long(page).getByRole("button", { name: "Stop" }).click();
    await visible(long(page), "Continue");
    await page.waitForFunction(() => document.querySelector("#store-0 .note").textContent.startsWith("Stopped"));
    const stopped = await count(long(page));
    assert.ok(stopped > 0 && stopped < 600, `${stopped} runs`);
    const list = await heldList(page);
    await long(page).getByRole("button", { name: "Continue" }).click();
    await page.waitForFunction((stopped) => parseInt(document.querySelector("#store-0 .count").textContent) > stopped, stopped);
    await long(page).getByRole("button", { name: "Stop" }).click();
    await visible(long(page), "Continue");
    // The list is read again a moment after the study has stopped. Until then the page shows what the progress said last.
    assert.ok(await count(long(page)) > stopped, "it shows the former count");
    list.release();
    await page.waitForFunction((stopped) => parseInt(document.querySelector("#store-0 .count").textContent) > stopped, stopped);
  },

  async "all pages lead to each other and back to the machine"(page) {
    for (const [link, title] of [["the bench", "the bench"], ["algorithms", "algorithms"], ["playground", "playground"], ["the bench", "the bench"], ["this machine", "this machine"]]) {
      await page.locator("nav").getByRole("link", { name: link, exact: true }).click();
      await page.locator("nav [aria-current=page]", { hasText: title }).waitFor();
    }
    await page.waitForSelector("#stores article");
  },

  async "what is wrong in a study's file is shown with its place, until the study is started again"(page) {
    const right = study("Two algorithms alone, many repeats", 300);
    writeFileSync(`${folder}/long.toml`, right.replace(/^rtt = .*$/m, 'rtt = "forty"'));
    await long(page).getByRole("button", { name: "Continue" }).click();
    await page.waitForSelector("#problems:visible");
    assert.match(await page.textContent("#problems pre"), /--> .*long\.toml:\d+:\d+\n.*\n.*rtt = "forty"\n.*\^/);
    writeFileSync(`${folder}/long.toml`, right);
    await long(page).getByRole("button", { name: "Continue" }).click();
    await page.waitForSelector("#problems", { state: "hidden" });
    await visible(long(page), "Stop");
    await long(page).getByRole("button", { name: "Stop" }).click();
    await visible(long(page), "Continue");
  },

  async "the server is killed and comes back: the page connects again, and the study continues"(page) {
    await long(page).getByRole("button", { name: /Start|Continue/ }).click();
    await visible(long(page), "Stop");
    await page.waitForTimeout(700);
    await server.end();
    await page.waitForSelector("#problems:visible");
    assert.match(await page.textContent("#problems"), /does not answer/);
    server = await new Server().start(server.port);
    await page.waitForSelector("#problems", { state: "hidden" });
    await visible(long(page), "Continue");
    const stored = await count(long(page));
    assert.ok(stored > 0 && stored < 600, `${stored} runs`);
    await long(page).getByRole("button", { name: "Continue" }).click();
    await page.waitForFunction((stored) => parseInt(document.querySelector("#store-0 .count").textContent) > stored, stored);
    await long(page).getByRole("button", { name: "Stop" }).click();
    await visible(long(page), "Continue");
  },

  async "a run is simulated natively, and its wrong lines are said"(page) {
    await page.fill("#lines", "rate=1 Gbit/s\nrtt=40 ms\nbuffer=3300\nduration=20 s\nflow=cubic\nflow=bbr3");
    await page.click("#simulate");
    await page.waitForFunction(() => /packets, \d+ ns each/.test(document.querySelector("#run-status").textContent), null, { timeout: 60000 });
    assert.equal(await page.locator("#charts canvas").count(), 4);
    assert.equal(await page.locator("#flows tbody tr").count(), 2);
    assert.match(await page.textContent("#flows"), /cubic[\s\S]*bbr3/);
    const ink = await page.locator("#charts canvas").first().evaluate((canvas) =>
      canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0));
    assert.ok(ink, "the first chart is empty");
    await page.fill("#lines", "rate=1 Gbit/s\nbufer=3");
    await page.click("#simulate");
    await page.waitForSelector("#run-problems:visible");
    assert.match(await page.textContent("#run-problems"), /bufer=3: .*did you mean buffer/);
  },

  async "a run of many minutes is stopped"(page) {
    await page.fill("#lines", "rate=10 Gbit/s\nrtt=40 ms\nbuffer=33000\nduration=1000 s\nflow=cubic; count=4");
    for (let turn = 0; turn < 4; turn++) {
      await page.click("#simulate");
      await page.waitForFunction(() => / s of 1000 s; /.test(document.querySelector("#run-status").textContent));
      await page.click("#stop");
      await page.waitForFunction(() => document.querySelector("#run-status").textContent === "Stopped.");
    }
    assert.equal(await page.isVisible("#run-problems"), false);
  },

  async "a setting comes from the bench by its address"(page) {
    await page.goto(`${server.address}/serve.html#rate=33+Mbit/s&rtt=20+ms&flow=vegas`);
    await page.reload();
    await page.waitForSelector("#lines");
    assert.match(await page.inputValue("#lines"), /rate=33 Mbit\/s\nrtt=20 ms[\s\S]*flow=vegas/);
    // Into the address of the page that is open.
    await page.evaluate(() => (location.hash = "#rate=44+Mbit/s&flow=bbr3"));
    await page.waitForFunction(() => /rate=44 Mbit\/s[\s\S]*flow=bbr3/.test(document.querySelector("#lines").value));
  },

  async "a run over the kernel is drawn as it happens, or the page says why not"(page) {
    await page.waitForFunction(() => document.querySelector("#setting .note").textContent !== "");
    if (await page.isDisabled("#over-kernel")) {
      assert.match(await page.textContent("#setting .note"), /not available\. .*root|not available/);
      return;
    }
    await page.fill("#lines", "rate=20 Mbit/s\nrtt=40 ms\nbuffer=67\nduration=4 s\nflow=newreno");
    await page.click("#over-kernel");
    await page.waitForFunction(() => /^[123]\.\d+ s of 4 s/.test(document.querySelector("#run-status").textContent));
    await page.waitForFunction(() => document.querySelector("#run-status").textContent.includes("the kernel's built-in reno"));
  },

  async "the kernel and the sockets of this host are shown"(page) {
    await page.waitForSelector("#kernel dl");
    assert.match(await page.textContent("#kernel"), /reno/);
    assert.match(await page.textContent("#kernel"), /not available|Sockets of all network namespaces/);
    await page.click("#watch");
    await page.waitForFunction((port) => document.querySelector("#sockets tbody")?.textContent.includes(`127.0.0.1:${port}`), server.port);
    await page.click("#watch");
    assert.equal(await page.getAttribute("#watch", "aria-pressed"), "false");
  },

  async "objects, calls, selections and canaries of the kernel are shown"(page) {
    const hooks = [{ name: "ssthresh", calls: 4, time_ns: 2000 }, { name: "cong_avoid", calls: 0, time_ns: 0 }];
    const object = { name: "elastic", kernel_name: "cwnd_bulk", sockets: 2, source: "ab", parameters: "beta=0.6", keeper: "kept by /sys/fs/bpf/cwnd/cwnd_bulk",
      registered: true, replaced: false, default_of: ["this network namespace"], age_s: 7300, calls: 4, time_ns: 2000, hooks };
    const counts = (connections, retransmissions) => ({ connections, segments: 10000, retransmissions, mean_rtt_s: 0.0123 });
    const status = {
      missing: [], sockets: { reno: 3, cwnd_bulk: 6 }, counting: true,
      loaded: [object, { ...object, sockets: 4, parameters: "", keeper: "not pinned; sockets or a default keep it", registered: false, replaced: true, default_of: [], age_s: 119, calls: 0, hooks: [] }],
      selections: [{ cgroup: "/sys/fs/cgroup/system.slice", congestion_control: "cwnd_gone", registered: false }],
      canaries: [{ cgroup: "/sys/fs/cgroup", congestion_control: "cwnd_new", rest: null, share: 0.05, returning: false, keeper: "kept by process 7 (cwnd), until it ends",
        canary_counts: counts(21, 120), rest_counts: counts(400, 10) }],
    };
    await page.route("**/api/kernel", (route) => route.fulfill({ json: { status, loadable: [] } }));
    await page.reload();
    const rows = (caption) => page.$$eval(`#kernel [aria-label="${caption}"] tbody tr`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
    await page.waitForSelector("#kernel [aria-label='Canaries']");
    const loaded = await rows("Loaded by cwnd");
    assert.deepEqual(loaded[0], ["cwnd_bulk", "elastic", "beta=0.6", "2", "2 h", "this network namespace", "kept by /sys/fs/bpf/cwnd/cwnd_bulk"]);
    assert.deepEqual(loaded[1].slice(2, 6), ["defaults", "4", "119 s", ""]);
    assert.match(loaded[1][6], /^replaced: sockets that were open then keep it/);
    assert.deepEqual(await rows("Calls of hooks while the kernel counted them"), [["cwnd_bulk", "beta=0.6", "ssthresh", "4", "500", "0.0"]]);
    assert.match((await rows("Selected by cgroup"))[0].join(" "), /system\.slice cwnd_gone not loaded/);
    assert.deepEqual((await rows("Canaries")).map((row) => row.slice(1, 7)), [
      ["cwnd_new", "5.00 %", "21", "10000", "1.200 %", "12.30"],
      ["as without the canary", "the rest", "400", "10000", "0.100 %", "12.30"],
    ]);
    await page.unroute("**/api/kernel");
  },

  async "a page without the token says what to do"(page) {
    await page.context().clearCookies();
    const answer = await page.goto(`${server.address}/serve.html`);
    assert.equal(answer.status(), 401);
    assert.match(await page.textContent("body"), /open the address that `cwnd serve` printed/);
  },

  async "a hostile tab can neither read nor start anything"(page) {
    const context = page.context();
    // Another server of this machine is the same site: it gets the cookie sent along, which is the hardest case.
    const other = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>x</title>"));
    await new Promise((ready) => other.listen(0, "127.0.0.1", ready));
    const hostile = await context.newPage();
    await hostile.goto(`http://127.0.0.1:${other.address().port}/`);
    const found = await hostile.evaluate(async (address) => {
      const kind = (promise) => promise.then((response) => response.type === "opaque" ? "opaque" : "read", () => "refused");
      const all = [];
      for (const options of [{}, { credentials: "include" }, { mode: "no-cors", credentials: "include" }]) {
        all.push(await kind(fetch(`${address}/api/stores`, options)));
        all.push(await kind(fetch(`${address}/api/stores/1/start`, { ...options, method: "POST", body: "x" })));
      }
      const event = await new Promise((done) => {
        const source = new EventSource(`${address}/api/progress`, { withCredentials: true });
        source.onmessage = () => done("heard");
        source.onerror = () => done("refused");
      });
      const image = await new Promise((done) => {
        const image = new Image();
        image.onload = () => done("loaded");
        image.onerror = () => done("refused");
        image.src = `${address}/serve.html`;
      });
      const frame = await new Promise((done) => {
        const frame = document.createElement("iframe");
        frame.onload = () => {
          let inside;
          try { inside = frame.contentDocument; } catch { inside = null; }
          done(inside ? "read" : "refused");
        };
        frame.src = `${address}/serve.html`;
        document.body.append(frame);
      });
      const form = document.createElement("form");
      Object.assign(form, { method: "post", action: `${address}/api/stores/1/start`, target: "x" });
      document.body.append(form);
      form.submit();
      const flood = await Promise.all(Array.from({ length: 1000 }, () => kind(fetch(`${address}/api/stores`, { credentials: "include" }))));
      return { all, event, image, frame, flood: [...new Set(flood)] };
    }, server.address);
    assert.deepEqual(found.flood, ["refused"]);
    assert.ok(found.all.every((one) => one !== "read"), JSON.stringify(found));
    assert.deepEqual([found.event, found.image, found.frame], ["refused", "refused", "refused"]);
    const stores = await page.evaluate(() => fetch("/api/stores").then((response) => response.json()));
    assert.equal(stores[1].done, 10, "what was there before");
    const progress = await page.evaluate(() => new Promise((heard) => { new EventSource("/api/progress").onmessage = (event) => heard(JSON.parse(event.data)); }));
    assert.notEqual(progress?.store, 1);
    other.close();
  },

  async "axe-core finds nothing, light and dark, wide and narrow"(page) {
    for (const [colorScheme, width] of LOOKS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.goto(server.url);
      await short(page).locator("summary").click();
      await short(page).locator("td").first().waitFor();
      await page.fill("#lines", "rate=20 Mbit/s\nrtt=40 ms\nduration=20 s\nflow=cubic\nflow=newreno; start=2 s");
      await page.click("#simulate");
      await page.waitForSelector("#flows tbody tr");
      await page.waitForFunction(() => /ns each/.test(document.querySelector("#run-status").textContent));
      await page.click("#watch");
      await page.waitForSelector("#sockets tbody tr");
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/serve-${colorScheme}-${width}.png`, fullPage: true });
      assert.deepEqual(await violations(page), [], `${colorScheme}, ${width}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(wide, 0, `the page is ${wide} pixels too wide at ${width}`);
      await page.fill("#lines", "rate=20 parsecs");
      await page.click("#simulate");
      await page.waitForSelector("#run-problems:visible");
      assert.deepEqual(await violations(page), [], `${colorScheme}, ${width}, with a problem`);
    }
  },
};

const wanted = process.argv[2] ?? "";
let [passed, failed] = [0, 0];
for (const [name, story] of Object.entries(stories).filter(([name]) => name.includes(wanted))) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error));
  page.on("console", (message) => message.text().includes("Content Security Policy") && errors.push(message.text()));
  page.setDefaultTimeout(30000);
  const begin = Date.now();
  try {
    await page.goto(server.url);
    await page.waitForSelector("#store-1");
    await story(page);
    assert.deepEqual(errors, [], "the page threw, or broke its policy");
    passed += 1;
    console.log(`ok      ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack ?? error}`);
  }
  await context.close();
}
await browser.close();
await server.end("SIGTERM");
rmSync(folder, { recursive: true });
console.log(`test result: ${failed === 0 ? "ok" : "FAILED"}. ${passed} passed; ${failed} failed; 0 ignored`);
process.exitCode = failed === 0 ? 0 : 1;
