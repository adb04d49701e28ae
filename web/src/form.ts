/** The form: the path with sliders, the flows, and other settings. */

import { make } from "./dom";
import type { Algorithm } from "./module";
import { OWN } from "./own/examples";
import { PRESETS } from "./presets";
import { accessLinks } from "./copied";
import { bdp, exactRate, exactTime, insteadOf, MOST_FLOWS, PACKET, putOthers, rateText, readTime, short, timeText, type Flow, type Setup } from "./setup";
import { colours } from "./charts";
import { traceControl, type TraceChanges } from "./traces";

export interface Changes extends TraceChanges {
  /** A value that can change during the run. */
  live(key: string, value: string): void;
  /** Anything else: the run begins again. */
  restart(): void;
  preset(id: string): void;
  addFlow(): void;
  removeFlow(index: number): void;
  /** The setting at the beginning of the run. */
  begun(): Setup;
  /** The visitor's trace file that was read last. */
  ownTrace(): string | null;
}

interface Slider {
  key: string;
  label: string;
  min: number;
  max: number;
  get(setup: Setup): number;
  set(setup: Setup, value: number): void;
  show(setup: Setup): string;
  value(setup: Setup): string;
}

/** Positions of a slider, each the same factor from the next. */
const STEPS = 400;
/** The position 0 of a slider that begins at zero. */
const NOTHING = 1e-6;

const SLIDERS: Slider[] = [
  {
    key: "rate", label: "Rate", min: 1e5, max: 1e9,
    get: (s) => s.rate, set: (s, v) => (s.rate = Number(v.toPrecision(2))),
    show: (s) => (s.trace ? `mean ${rateText(s.rate)}` : rateText(s.rate)), value: (s) => exactRate(s.rate),
  },
  {
    key: "rtt", label: "Base round-trip time", min: 0.005, max: 1,
    get: (s) => s.rtt, set: (s, v) => (s.rtt = Number(v.toPrecision(2))),
    show: (s) => timeText(s.rtt), value: (s) => exactTime(s.rtt),
  },
  {
    key: "buffer", label: "Buffer", min: 1, max: 20000,
    get: (s) => s.buffer, set: (s, v) => (s.buffer = Math.max(1, Math.round(Number(v.toPrecision(2))))),
    show: (s) => {
      const times = s.buffer / bdp(s);
      if (Number.isNaN(times)) return `${s.buffer} packets`;
      return `${s.buffer} packets = ${short(Number(times.toPrecision(2)))} BDP = ${timeText(Number(((s.buffer * PACKET * 8) / s.rate).toPrecision(2)))}`;
    },
    value: (s) => String(s.buffer),
  },
  {
    key: "per", label: "Random loss", min: NOTHING, max: 0.1,
    get: (s) => s.loss, set: (s, v) => (s.loss = v <= NOTHING ? 0 : Number(v.toPrecision(2))),
    show: (s) => (s.loss === 0 ? "none" : `${short(s.loss * 100)} %`), value: (s) => short(s.loss),
  },
];

const TRACE = "rate-trace=";

const QUEUES: [string, string][] = [
  ["drop-tail", "drop-tail"],
  ["red", "RED"],
  ["codel", "CoDel"],
  ["codel:ecn=on", "CoDel, marking"],
  ["fq-codel", "FQ-CoDel"],
  ["fq-codel:ecn=on", "FQ-CoDel, marking"],
  ["pie", "PIE"],
  ["dualpi2", "DualPI2"],
];

export class Form {
  private outputs: (() => void)[] = [];
  /** Moves the sliders. */
  private moves: (() => void)[] = [];

  constructor(
    private readonly form: HTMLFormElement,
    private readonly algorithms: Algorithm[],
    private readonly setup: () => Setup,
    private readonly changes: Changes,
  ) {
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  /** Shows the setup in the controls. */
  show(preset: string): void {
    const focused = document.activeElement?.id;
    this.outputs = [];
    this.moves = [];
    this.form.replaceChildren(this.presets(preset), this.path(), this.flows(), this.more());
    if (focused) document.getElementById(focused)?.focus();
  }

  /** Moves the sliders to the values of the setup. The other controls stay: somebody may be typing. */
  follow(): void {
    this.moves.forEach((move) => move());
    this.refresh();
  }

  /** Shows again what follows from the setup. */
  refresh(): void {
    this.outputs.forEach((show) => show());
  }

  private presets(chosen: string): HTMLElement {
    const about = PRESETS.find((preset) => preset.id === chosen)?.about ?? "Your own setting.";
    const select = make("select", { id: "preset", change: () => this.changes.preset(select.value) },
      make("option", { value: "", selected: chosen === "" }, "your own"),
      ...PRESETS.map((preset) => make("option", { value: preset.id, selected: preset.id === chosen }, preset.title)));
    return make("div", { class: "presets" }, make("label", { for: "preset" }, "Example"), select, make("p", { class: "about" }, about));
  }

  private path(): HTMLElement {
    const product = make("p", { class: "about" });
    const showProduct = () => {
      const packets = bdp(this.setup());
      product.textContent = Number.isNaN(packets) ? "" : `Bandwidth-delay product: ${short(Number(packets.toPrecision(3)))} packets of ${PACKET.toLocaleString("en")} bytes.`;
    };
    this.outputs.push(showProduct);
    const queue = make("select", { id: "queue", change: () => this.put((s) => (s.queue = queue.value)) },
      ...QUEUES.map(([value, title]) => make("option", { value, selected: value === this.setup().queue }, title)));
    if (!QUEUES.some(([value]) => value === this.setup().queue)) {
      queue.append(make("option", { value: this.setup().queue, selected: true }, this.setup().queue));
    }
    const ecn = make("input", { id: "ecn", type: "checkbox", change: () => this.put((s) => (s.ecn = ecn.checked)) });
    ecn.checked = this.setup().ecn;
    const field = make("fieldset", {}, make("legend", {}, "Path"),
      ...SLIDERS.flatMap((slider) => (slider.key === "rate" ? [this.slider(slider), this.trace()] : [this.slider(slider)])), product,
      make("div", { class: "pair" },
        make("label", { for: "queue" }, "Queue", queue),
        make("label", { for: "ecn", class: "check" }, ecn, "ECN"),
        this.text("duration", "Duration", exactTime(this.setup().duration), (text) => {
          const duration = readTime(text);
          if (duration === null || duration <= 0) return "a time, such as 60 s";
          this.put((s) => (s.duration = duration));
          return "";
        }),
        this.text("seed", "Seed", String(this.setup().seed), (text) => {
          if (!/^\d{1,15}$/.test(text)) return "a whole number";
          this.put((s) => (s.seed = Number(text)));
          return "";
        })));
    this.refresh();
    return field;
  }

  private slider(slider: Slider): HTMLElement {
    const factor = Math.log(slider.max / slider.min);
    const position = (value: number) => Math.round((STEPS * Math.log(Math.max(value, slider.min) / slider.min)) / factor);
    const output = make("output", { for: slider.key });
    const show = () => {
      output.textContent = slider.show(this.setup());
      input.setAttribute("aria-valuetext", slider.show(this.setup()));
    };
    const input: HTMLInputElement = make("input", {
      id: slider.key, type: "range", min: 0, max: STEPS, step: 1,
      input: () => {
        const setup = this.setup();
        const before = slider.value(setup);
        slider.set(setup, slider.min * Math.exp((factor * Number(input.value)) / STEPS));
        this.refresh();
        if (slider.value(setup) !== before) this.changes.live(slider.key, slider.value(setup));
      },
    });
    const move = () => (input.value = String(position(slider.get(this.setup()))));
    move();
    this.moves.push(move);
    this.outputs.push(show);
    const parts: HTMLElement[] = [make("label", { for: slider.key }, slider.label), output, input];
    const instead = insteadOf(this.setup(), slider.key);
    const reason = instead !== null
      ? `Other settings have ${instead}.`
      : slider.key === "rate" && this.setup().trace ? "The trace sets the rate. Choose “none” below to set it here." : "";
    if (reason !== "") {
      input.disabled = true;
      input.setAttribute("aria-describedby", `${slider.key}-reason`);
      parts.push(make("p", { id: `${slider.key}-reason`, class: "about" }, reason));
    }
    if (slider.key === "rate") parts.push(this.access());
    return make("div", { class: "slider" }, ...parts);
  }

  /** Says that the access links, whose rate stays what it was at the beginning, are slower than the link now. */
  private access(): HTMLElement {
    const place = make("p", { id: "access", class: "about", role: "status" });
    this.outputs.push(() => {
      const access = accessLinks(this.changes.begun());
      const slower = access !== null && access < this.setup().rate;
      const text = slower ? `The access links keep ${rateText(access)}, and limit the flows. Restart with this rate to widen them.` : "";
      // Written again at each frame, it would be read aloud at each.
      if (place.textContent !== text) place.textContent = text;
    });
    return place;
  }

  private trace(): HTMLElement {
    return traceControl(this.setup().trace, this.changes.ownTrace(), this.changes);
  }

  private flows(): HTMLElement {
    const setup = this.setup();
    const add = make("button", { id: "add-flow", type: "button", click: () => this.changes.addFlow() }, "Add a flow");
    add.disabled = setup.flows.length >= MOST_FLOWS;
    return make("fieldset", {}, make("legend", {}, "Flows"), ...setup.flows.map((flow, i) => this.flow(flow, i)), add);
  }

  private flow(flow: Flow, index: number): HTMLElement {
    const id = (name: string) => `${name}-${index + 1}`;
    const isOwn = flow.algorithm === OWN;
    const known = isOwn || this.algorithms.some((one) => one.name === flow.algorithm);
    const select = make("select", { id: id("algorithm"), "aria-label": `Algorithm of flow ${index + 1}`, change: () => {
      flow.parameters = "";
      this.put((s) => (s.flows[index]!.algorithm = select.value));
    } }, ...this.algorithms.map((one) => make("option", { value: one.name, selected: one.name === flow.algorithm }, one.name)),
      make("option", { value: OWN, selected: isOwn }, "your own, in JavaScript"));
    if (!known) select.append(make("option", { value: flow.algorithm, selected: true }, flow.algorithm));
    const about = this.algorithms.find((one) => one.name === flow.algorithm);
    const parameters = about?.parameters.map((one) => `${one.name} (${one.about}; ${one.default})`).join("; ") ?? "";
    const swatch = make("span", { class: "swatch", "aria-hidden": "true", style: `background:${colours()[index] ?? "none"}` });
    const remove = make("button", { type: "button", "aria-label": `Remove flow ${index + 1}`, click: () => this.changes.removeFlow(index) }, "×");
    remove.disabled = this.setup().flows.length === 1;
    return make("div", { class: "flow" }, swatch, select, remove,
      make("p", { class: "about" }, isOwn ? "The program above the charts." : (about?.summary ?? "")),
      ...(flow.options.length > 0 ? [make("p", { class: "about" }, `Also: ${flow.options.join("; ")}.`)] : []),
      make("div", { class: "pair" },
        this.text(id("start"), "Start", flow.start === null ? "" : exactTime(flow.start), (text) => {
          const start = text === "" ? null : readTime(text);
          if (text !== "" && start === null) return "a time, such as 5 s, or nothing";
          this.put((s) => (s.flows[index]!.start = start));
          return "";
        }, "0 s"),
        this.text(id("rtt"), "RTT", flow.rtt === null ? "" : exactTime(flow.rtt), (text) => {
          const rtt = text === "" ? null : readTime(text);
          if (text !== "" && rtt === null) return "a time, such as 80 ms, or nothing";
          this.put((s) => (s.flows[index]!.rtt = rtt));
          return "";
        }, "the path's"),
        this.text(id("parameters"), "Parameters", flow.parameters, (text) => {
          if (text.includes(";")) return "parameters, such as beta=0.8,…";
          this.put((s) => (s.flows[index]!.parameters = text));
          return "";
        }, isOwn ? "alpha=1,beta=0.5" : parameters === "" ? "none" : about!.parameters.map((one) => `${one.name}=${one.default}`).join(","), parameters)));
  }

  private more(): HTMLElement {
    const area = make("textarea", { id: "more", rows: 3, spellcheck: "false", placeholder: "topology=parking-lot", change: () => {
      const all = area.value.split("\n").map((line) => line.trim()).filter(Boolean);
      const trace = all.find((line) => line.startsWith(TRACE));
      putOthers(this.setup(), all.filter((line) => line !== trace));
      // The trace has a control of its own.
      if (trace) this.changes.trace(trace.slice(TRACE.length).trim());
      else this.put(() => undefined);
    } });
    area.value = this.setup().more.join("\n");
    return make("details", area.value ? { open: true } : {}, make("summary", {}, "Other settings"),
      make("label", { for: "more" }, "Any setting of cwnd compare, KEY=VALUE, one a line"), area);
  }

  /** A field whose text is checked when it is left; what is wrong is said at the field. */
  private text(id: string, label: string, value: string, set: (text: string) => string, placeholder = "", title = ""): HTMLElement {
    const input = make("input", { id, type: "text", value, placeholder, title, change: () => {
      const wrong = set(input.value.trim());
      const field = document.getElementById(id);
      const hint = document.getElementById(`${id}-wrong`);
      field?.setAttribute("aria-invalid", String(wrong !== ""));
      if (hint) hint.textContent = wrong && `Write ${wrong}.`;
    } });
    input.setAttribute("aria-describedby", `${id}-wrong`);
    return make("label", { for: id }, label, input, make("span", { id: `${id}-wrong`, class: "wrong", role: "alert" }));
  }

  private put(change: (setup: Setup) => unknown): void {
    change(this.setup());
    this.refresh();
    this.changes.restart();
  }
}
