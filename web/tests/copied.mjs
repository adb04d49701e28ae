// The command and the study that the bench copies: of many links, each run must be that of the link, to the bit.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "vite";
import assert from "node:assert/strict";

const root = new URL("..", import.meta.url).pathname;
const target = new URL("../../target/web/", import.meta.url).pathname;
const BASE = ["rate=10 Mbit/s", "rtt=40 ms", "buffer=67", "duration=5 s"];

/** Loads modules of the page, which node does not read as they are. */
async function sources() {
  const vite = await createServer({ root, configFile: false, logLevel: "error", server: { middlewareMode: true, ws: false }, optimizeDeps: { noDiscovery: true } });
  try {
    return { ...(await vite.ssrLoadModule("/src/setup.ts")), ...(await vite.ssrLoadModule("/src/copied.ts")) };
  } finally {
    await vite.close();
  }
}

let loaded = null;
const page = () => (loaded ??= sources());
/** How many flows the command has. */
const flows = (command) => command.match(/--flow/g)?.length ?? 0;
const hash = (...lines) => lines.map((line) => encodeURIComponent(line)).join("&");

/** The words of a command as a shell has them, as lines of a setting. */
function settingOf(command) {
  const words = execFileSync("sh", ["-c", command.replaceAll(/^#.*\n/gm, "").replace(/^cwnd compare/, "printf '%s\\n'")], { encoding: "utf8" }).trim().split("\n");
  const lines = words[0].startsWith("--") ? [] : [`algorithm=${words.shift()}`];
  for (let i = 0; i < words.length; i += 2) {
    if (words[i] !== "--plot") lines.push(`${words[i].slice(2)}=${words[i + 1]}`);
  }
  return lines.join("\n");
}

/** The digest of a setting's run. */
async function digest(setting, until) {
  const module = await WebAssembly.compile(readFileSync(`${target}cwnd.wasm`));
  const { exports: lab } = await WebAssembly.instantiate(module, { page: { create: () => 0, needs: () => 0, on_event: () => {} } });
  const text = () => new TextDecoder().decode(new Uint8Array(lab.memory.buffer, lab.cwnd_text(), lab.cwnd_text_length()));
  const bytes = new TextEncoder().encode(setting);
  const at = lab.cwnd_input(bytes.length);
  new Uint8Array(lab.memory.buffer, at, bytes.length).set(bytes);
  assert.equal(lab.cwnd_open(), 1, `${text()} in\n${setting}`);
  assert.equal(lab.cwnd_run(until, 0.05), 1, `${text()} in\n${setting}`);
  lab.cwnd_digest();
  return text();
}

/** Copies the run of a link, and checks that the program accepts both texts and that the command has the same run. */
async function copied(...lines) {
  const { fromHash, command, study } = await page();
  const setup = fromHash(hash(...lines));
  const text = command(setup);
  if (!text.includes("# The page changed")) {
    const [linked, run] = [await digest(lines.join("\n"), setup.duration), await digest(settingOf(text), setup.duration)];
    assert.equal(run, linked, `${lines.join("\n")}\n${text}`);
  }
  const program = process.env.CWND;
  if (program) {
    const words = text.replace(/^cwnd/m, `'${program}'`).replace(" --plot bench.svg", " --print-study");
    execFileSync("sh", ["-c", words], { stdio: "pipe" });
    writeFileSync(`${target}copied-link.toml`, study(setup));
    execFileSync(program, ["check", `${target}copied-link.toml`], { stdio: "pipe" });
  }
  return text;
}

/** What a link needs so that nothing is added to it. */
const whole = (...lines) => [...BASE, "queue=drop-tail", "ecn=off", "receive-window=100000", "seed=1", ...lines];

export const stories = ({ address }) => ({
  async "a copied change of the round-trip time takes the access delay of the run"() {
    const changed = (...more) => copied(...whole("flow=vegas", ...more, "@2 s rtt=80 ms"));
    assert.match(await changed(), /--schedule '2 s: 38 ms'/);
    assert.match(await changed("access-delay=5 ms"), /--schedule '2 s: 30 ms'/);
    assert.match(await changed("access-delay=0.0001 s"), /--schedule '2 s: 39\.8 ms'/);
    assert.match(await changed("topology=path"), /--schedule '2 s: 40 ms'/);
    const fine = await copied(...whole("flow=vegas", "@2 s rtt=41.234568 ms"));
    assert.match(fine, /--schedule '2 s: 18\.617284 ms'/);
    for (const more of ["topology=parking-lot", "access-delay=5 msec"]) {
      const text = await changed(more);
      assert.match(text, /# The page changed at 2 s: rtt=80 ms/);
      assert.doesNotMatch(text, /--schedule/);
    }
  },

  async "a link keeps the number and the order of its flows"() {
    assert.equal(flows(await copied(...whole("flow=bbr3; count=3"))), 1);
    assert.match(await copied(...whole("flow=bbr3; stop=2 s", "flow=cubic")), /--flow 'bbr3; stop=2 s' \\\n {2}--flow cubic/);
    await copied(...whole("flow=cubic; start=0 s", "flow=cubic; start=1 s; rtt=80 ms; count=2", "flow=vegas"));
    assert.match(await copied(...whole("mix=cubic*2,vegas")), /--mix/);
    assert.match(await copied(...whole("algorithm=cubic", "flows=3")), /^cwnd compare cubic /);
    const nine = whole("flow=newreno", ...Array.from({ length: 8 }, () => "flow=vegas"), "@2 s stop=9", "@3 s stop=1");
    const text = await copied(...nine);
    assert.equal(flows(text), 9);
    assert.match(text, /newreno; stop=3 s'.*--flow 'vegas; stop=2 s' \\\n {2}--rate/s);
    const group = await copied(...whole("flow=cubic; count=2", "flow=vegas", "@2 s stop=2", "@3 s stop=3"));
    assert.match(group, /# The page changed at 2 s: stop=2\n/);
    assert.match(group, /'vegas; stop=3 s'/);
    const { fromHash, lines } = await page();
    const setup = fromHash(hash(...nine));
    assert.deepEqual(lines(setup).filter((line) => line.startsWith("flow=")), nine.filter((line) => line.startsWith("flow=")));
  },

  async "changes at one time are one step, and another schedule is not written twice"() {
    const both = await copied(...whole("flow=cubic", "@1.833 s rate=4 Mbit/s", "@1.833 s rtt=24 ms", "@3 s rate=8 Mbit/s"));
    assert.match(both, /--schedule '1\.833 s: 4 Mbit\/s, 10 ms; 3 s: 8 Mbit\/s'/);
    assert.match(await copied(...whole("flow=cubic", "@3 s rate=8 Mbit/s", "@3 s rate=7 Mbit/s", "@1 s rtt=24 ms")), /'1 s: 10 ms; 3 s: 7 Mbit\/s'/);
    const other = await copied(...whole("flow=cubic", "schedule=2 s: 5 Mbit/s", "@3 s rate=8 Mbit/s", "@3 s rtt=24 ms"));
    assert.equal(other.match(/--schedule/g).length, 1);
    assert.match(other, /^# The page changed at 3 s: rate=8 Mbit\/s\n# The page changed at 3 s: rtt=24 ms\n/);
    const traced = await page().then(({ fromHash, command }) => command(fromHash(hash("rate-trace=lte.trace", "flow=cubic", "@1 s rate=1 Mbit/s"))));
    assert.doesNotMatch(traced, /--schedule/);
  },

  async "a copied rise of the rate leaves the access links as they are in the run"() {
    const access = (text) => /--access-rate '?(.*?)'? \\\n/.exec(text)?.[1];
    const raised = (...more) => copied(...whole("flow=cubic", ...more));
    assert.equal(access(await raised("@2 s rate=80 Mbit/s")), "100 Mbit/s");
    assert.equal(access(await raised("@2 s rate=51 Mbit/s")), "100 Mbit/s");
    assert.equal(access(await raised("@2 s rate=50 Mbit/s")), undefined);
    assert.equal(access(await raised("@1 s rate=1 Mbit/s", "@2 s rtt=20 ms", "@3 s rate=0.3 Gbit/s", "@4 s rate=5 Mbit/s")), "100 Mbit/s");
    assert.equal(access(await raised("topology=parking-lot", "@2 s rate=80 Mbit/s")), "100 Mbit/s");
    assert.equal(access(await raised("access-rate=60 Mbit/s", "@2 s rate=80 Mbit/s")), "60 Mbit/s");
    assert.equal(access(await raised("access-rate=bottleneck", "@2 s rate=80 Mbit/s")), "bottleneck");
    for (const topology of ["path", "incast"]) assert.equal(access(await raised(`topology=${topology}`, "@2 s rate=80 Mbit/s")), undefined);
    const satellite = whole("flow=cubic", "topology=satellite", "delay=10 ms", "@2 s rate=80 Mbit/s").filter((line) => !line.startsWith("rtt"));
    assert.equal(access(await copied(...satellite)), undefined);
    // The page does not read this rate, so that it does not know whether the change is a rise of this kind.
    const unread = await copied(...whole("flow=cubic", "@2 s rate=80 Mbit/s").map((line) => (line.startsWith("rate=") ? "rate=10 Mbps" : line)));
    assert.match(unread, /# The page changed at 2 s: rate=80 Mbit\/s/);
    const { fromHash, study } = await page();
    assert.match(study(fromHash(hash(...whole("flow=cubic", "@2 s rate=80 Mbit/s")))), /access-rate = "100 Mbit\/s"/);
  },

  async "a change is copied in whatever unit its time is written"() {
    assert.match(await copied(...whole("flow=cubic", "@500 ms rate=5 Mbit/s")), /--schedule '0\.5 s: 5 Mbit\/s'/);
    assert.match(await copied(...whole("flow=cubic", "@2500000 us stop=1")), /--flow 'cubic; stop=2\.5 s'/);
    assert.match(await copied(...whole("flow=cubic", "@500 msec rate=5 Mbit/s")), /^# The page changed at 500 msec rate=5 Mbit\/s\ncwnd compare/);
  },

  async "a link keeps every digit of its numbers"() {
    const { fromHash, toHash, lines } = await page();
    const exact = ["rate=123.456789 Mbit/s", "rtt=12.345678 ms", "buffer=67", "queue=drop-tail", "ecn=off", "duration=4.000000001 s", "receive-window=100000", "seed=123456789012345",
      "per=0.00012345", "flow=cubic; start=0.123456789 s; rtt=20.000002 ms", "@1.123456789 s rate=1.23456 Mbit/s", "@2 s per=1.2345678e-7"];
    assert.deepEqual(lines(fromHash(hash(...exact))), exact);
    assert.equal(await digest(lines(fromHash(toHash(fromHash(hash(...exact))))).join("\n"), 4), await digest(exact.join("\n"), 4));
    const kept = (line) => lines(fromHash(hash(line))).filter((one) => one.split("=")[0] === line.split("=")[0]);
    // What a double does not keep stays a text, and what is written otherwise keeps its value.
    for (const line of ["seed=18446744073709551615", "per=0.12345678901234567", "rtt=0.0123456789012345678 s"]) assert.deepEqual(kept(line), [line]);
    assert.deepEqual(kept("duration=12345 s"), ["duration=12345 s"]);
    assert.deepEqual(kept("rate=1234567 bit/s"), ["rate=1.234567 Mbit/s"]);
    assert.deepEqual(kept("rtt=40000.001 us"), ["rtt=40.000001 ms"]);
    assert.match(await copied(...whole("flow=cubic").filter((line) => !line.startsWith("seed")), "seed=1234567890123456789"), /--seed 1234567890123456789/);
  },

  async "the form shows every flow of a link, with the options that it has no control for"(page) {
    await page.goto(`${address}#${hash(...whole("flow=bbr3; count=3", ...Array.from({ length: 9 }, () => "flow=cubic")))}`);
    await page.waitForFunction(() => window.cwnd?.measured.now > 0.1);
    assert.equal(await page.locator("#setup .flow").count(), 10);
    assert.match(await page.locator("#setup .flow").first().textContent(), /Also: count=3\./);
    assert.ok(await page.isDisabled("#add-flow"));
    assert.equal(await page.locator("#state tbody tr").count(), 12);
    // What the other settings say of flows replaces the list, and what they list is added to it.
    await page.locator("#setup > details summary").click();
    await page.fill("#more", "mix=cubic*2,vegas");
    await page.press("#more", "Tab");
    await page.waitForFunction(() => document.querySelectorAll("#state tbody tr").length === 3);
    assert.equal(await page.locator("#setup .flow").count(), 0);
    await page.fill("#more", "flow=vegas; stop=3 s");
    await page.press("#more", "Tab");
    await page.waitForFunction(() => document.querySelectorAll("#setup .flow").length === 1);
    assert.equal(await page.isVisible("#problems"), false);
    assert.equal(await page.inputValue("#algorithm-1"), "vegas");
  },
});
