/** Four charts over time with one cursor and one zoom. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { byId, make } from "./dom";
import { rateText, short, timeText } from "./setup";
import type { Series } from "./series";

/** The curves of the eight flows, then of the link. They differ in lightness, too, and have a contrast of 3 with the ground. */
export function colours(): string[] {
  const style = getComputedStyle(document.documentElement);
  return Array.from({ length: 8 }, (_, i) => style.getPropertyValue(`--flow-${i + 1}`).trim());
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

type Column = (number | null)[];

interface Kind {
  title: string;
  show(value: number): string;
  columns(series: Series): Column[];
  /** Whether a curve is drawn for each flow, else one for each of these names. */
  names: "flows" | string[];
}

const KINDS: Kind[] = [
  {
    title: "Congestion window, packets",
    show: short,
    columns: (series) => series.flows.map((flow) => flow.cwnd),
    names: "flows",
  },
  {
    title: "Goodput",
    show: rateText,
    columns: (series) => series.flows.map((flow) => flow.goodput),
    names: "flows",
  },
  {
    title: "Smoothed round-trip time",
    show: timeText,
    columns: (series) => series.flows.map((flow) => flow.rtt),
    names: "flows",
  },
  {
    title: "Bottleneck, packets (dropped, lost and marked: in a sample)",
    show: short,
    columns: (series) => [series.queue, series.dropped, series.marked],
    names: ["queue", "dropped or lost", "marked"],
  },
];

const HEIGHT = 150;

export class Charts {
  private plots: uPlot[] = [];
  private series: Series | null = null;
  private range: [number, number] = [0, 1];
  private duration = 1;
  private scaling = false;
  /** The sample under the cursor; null for the last one. */
  index: number | null = null;
  /** How often the charts were drawn. */
  drawn = 0;

  constructor(private readonly parent: HTMLElement, private readonly moved: () => void) {
    new ResizeObserver(() => this.plots.forEach((plot) => plot.setSize({ width: this.width, height: HEIGHT }))).observe(parent);
    parent.addEventListener("keydown", (event) => this.key(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      if (this.series) this.begin(this.series, this.duration);
    });
  }

  /** Draws another run. */
  begin(series: Series, duration: number): void {
    const same = duration === this.duration;
    this.series = series;
    this.duration = duration;
    if (!same) this.range = [0, duration];
    this.index = null;
    this.plots.forEach((plot) => plot.destroy());
    this.parent.replaceChildren();
    this.plots = KINDS.map((kind, i) => this.plot(kind, i));
    this.draw();
  }

  /** Draws the samples that there are now. */
  draw(): void {
    const series = this.series;
    if (!series) return;
    this.scaling = true;
    this.plots.forEach((plot, i) => {
      plot.setData([series.times, ...KINDS[i]!.columns(series)] as uPlot.AlignedData, false);
      plot.setScale("x", { min: this.range[0], max: this.range[1] });
    });
    this.scaling = false;
    this.drawn += 1;
  }

  /** Shows a range of time in all charts. */
  zoom(range: [number, number]): void {
    this.range = range;
    this.scaling = true;
    this.plots.forEach((plot) => plot.setScale("x", { min: range[0], max: range[1] }));
    this.scaling = false;
  }

  get zoomed(): [number, number] {
    return this.range;
  }

  private get width(): number {
    return Math.max(240, this.parent.clientWidth);
  }

  private plot(kind: Kind, place: number): uPlot {
    const names = kind.names === "flows" ? this.series!.description!.flows.map((_, i) => `flow ${i + 1}`) : kind.names;
    const flows = colours();
    const link = [colour("--queue"), colour("--drop"), colour("--mark")];
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { stroke: colour("--grid"), width: 1 } };
    const legend = kind.names === "flows" ? [] : names.map((name, i) => make("span", { class: "legend" }, make("span", { class: "swatch", style: `background:${link[i]}` }), name));
    const holder = make("figure", {}, make("figcaption", {}, kind.title, ...legend));
    this.parent.append(holder);
    const options: uPlot.Options = {
      width: this.width,
      height: HEIGHT,
      legend: { show: false },
      cursor: { sync: { key: "bench", setSeries: false }, drag: { x: true, y: false } },
      scales: {
        x: { time: false },
        y: { range: (_plot, _min, max) => [0, Number.isFinite(max) && max > 0 ? max * 1.05 : 1] },
      },
      axes: [
        { ...axis, size: 30, values: (_plot, ticks) => ticks.map((tick) => (this.duration < 5 ? timeText(tick) : `${short(tick)} s`)) },
        { ...axis, size: 84, values: (_plot, ticks) => ticks.map(kind.show) },
      ],
      series: [
        {},
        ...names.map((label, i) => ({
          label,
          stroke: kind.names === "flows" ? flows[i]! : link[i]!,
          width: i === 0 || kind.names === "flows" ? 1.5 : 1,
          points: { show: false },
          spanGaps: false,
        })),
      ],
      hooks: {
        setCursor: [(plot) => this.cursor(plot, place)],
        setScale: [(plot, key) => key === "x" && this.scaled(plot)],
      },
    };
    return new uPlot(options, [[], ...names.map(() => [])] as uPlot.AlignedData, holder);
  }

  private cursor(plot: uPlot, place: number): void {
    if (place !== 0) return;
    const index = plot.cursor.idx ?? null;
    if (index === this.index) return;
    this.index = index;
    this.moved();
  }

  /** The visitor has dragged over a chart, or clicked it twice. */
  private scaled(plot: uPlot): void {
    if (this.scaling) return;
    const { min, max } = plot.scales["x"]!;
    if (min == null || max == null) return;
    const all = this.series?.times;
    const isAll = all !== undefined && all.length > 0 && min <= all[0]! && max >= all.at(-1)!;
    // Another setScale within this hook would be undone.
    queueMicrotask(() => this.zoom(isAll ? [0, this.duration] : [min, max]));
  }

  private key(event: KeyboardEvent): void {
    const series = this.series;
    if (!series || series.length === 0) return;
    const [min, max] = this.range;
    const at = series.times[this.index ?? series.length - 1]!;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") this.step(event.key === "ArrowLeft" ? -1 : 1, event.shiftKey);
    else if (event.key === "+") this.zoom([at - (at - min) / 2, at + (max - at) / 2]);
    else if (event.key === "-") this.zoom([Math.max(0, min - (max - min) / 2), Math.min(this.duration, max + (max - min) / 2)]);
    else if (event.key === "Escape") this.zoom([0, this.duration]);
    else return;
    event.preventDefault();
  }

  private step(direction: number, far: boolean): void {
    const series = this.series!;
    const by = direction * (far ? 50 : 1);
    const index = Math.min(series.length - 1, Math.max(0, (this.index ?? series.length - 1) + by));
    const plot = this.plots[0]!;
    const left = plot.valToPos(series.times[index]!, "x");
    this.plots.forEach((one) => one.setCursor({ left, top: HEIGHT / 3 }, false));
    this.index = index;
    this.moved();
  }
}

/** The charts of this page. */
export function charts(moved: () => void): Charts {
  return new Charts(byId("charts"), moved);
}
