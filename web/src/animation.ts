/** A small picture of the path: senders, the bottleneck with its queue, receivers. */

import { colours } from "./charts";
import type { Series } from "./series";

const HEIGHT = 96;

export class PathPicture {
  private readonly still = matchMedia("(prefers-reduced-motion: reduce)");
  /** How far the packets on the wire have moved, in widths of their distance. */
  private phase = 0;
  private flash = 0;
  private lastDropped = 0;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  /** Draws the state of now. `moved`: simulated seconds since the last picture, over the base round-trip time. */
  draw(series: Series, moved: number): void {
    const scale = devicePixelRatio || 1;
    const width = this.canvas.clientWidth || 300;
    const [w, h] = [Math.round(width * scale), Math.round(HEIGHT * scale)];
    if (this.canvas.width !== w || this.canvas.height !== h) Object.assign(this.canvas, { width: w, height: h });
    const pen = this.canvas.getContext("2d");
    const description = series.description;
    if (!pen || !description) return;
    const style = getComputedStyle(document.documentElement);
    const [ink, soft, queue, drop] = ["--ink", "--soft", "--queue", "--drop"].map((name) => style.getPropertyValue(name)) as [string, string, string, string];
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, HEIGHT);

    const waiting = series.queue.at(-1) ?? 0;
    const limit = description.limit;
    const full = Math.min(1, limit ? waiting / limit : waiting / 1000);
    const dropped = series.totals.dropped;
    this.flash = dropped > this.lastDropped ? 1 : this.flash * 0.9;
    this.lastDropped = dropped;
    if (!this.still.matches) this.phase = (this.phase + Math.min(0.25, moved * 2)) % 1;

    const middle = HEIGHT / 2 - 6;
    const box = { x: width * 0.3, y: middle - 22, width: Math.min(180, width * 0.3), height: 44 };
    const end = width - 26;
    pen.strokeStyle = soft;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(box.x + box.width, middle);
    pen.lineTo(end, middle);
    pen.stroke();

    colours().slice(0, description.flows.length).forEach((colour, i) => {
      const y = 10 + ((HEIGHT - 34) * (i + 0.5)) / description.flows.length;
      pen.strokeStyle = colour;
      pen.fillStyle = colour;
      pen.beginPath();
      pen.moveTo(26, y);
      pen.lineTo(box.x, middle);
      pen.stroke();
      pen.beginPath();
      pen.arc(20, y, 5, 0, 2 * Math.PI);
      pen.fill();
      const goodput = series.flows[i]?.goodput.at(-1) ?? 0;
      const share = description.rate ? goodput / description.rate : 0;
      this.packets(pen, colour, box.x + box.width, end, middle, i / description.flows.length, share);
    });

    pen.fillStyle = queue;
    pen.fillRect(box.x + box.width * (1 - full), box.y, box.width * full, box.height);
    pen.strokeStyle = this.flash > 0.1 ? drop : ink;
    pen.lineWidth = 2 + 2 * this.flash;
    pen.strokeRect(box.x, box.y, box.width, box.height);
    pen.fillStyle = ink;
    pen.beginPath();
    pen.arc(end + 6, middle, 6, 0, 2 * Math.PI);
    pen.fill();
    pen.font = "13px system-ui, sans-serif";
    pen.textAlign = "center";
    const text = `${Math.round(waiting)}${limit ? ` of ${limit}` : ""} packets wait; ${dropped} lost`;
    pen.fillText(text, Math.max(box.x + box.width / 2, 110), HEIGHT - 8);
    this.canvas.setAttribute("aria-label", `The path: in the queue of the bottleneck ${text}`);
  }

  private packets(pen: CanvasRenderingContext2D, colour: string, from: number, to: number, y: number, offset: number, share: number): void {
    pen.fillStyle = colour;
    const places = 12;
    for (let i = 0; i < Math.round(Math.min(1, share) * places); i++) {
      const x = from + (((i + offset + this.phase) / places) % 1) * (to - from);
      pen.fillRect(x, y - 4, 7, 8);
    }
  }
}
