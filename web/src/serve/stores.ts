/** The list of studies: their runs, their claims, and buttons that start and stop them. */

import { byId, make } from "../dom";
import { get, request, type StoreDetail, type StoreSummary, type StudyProgress } from "./api";
import { inline } from "./inline";
import { columns, table } from "./table";

/** How often the list is read again, ms: other programs write to stores as well. */
const EVERY = 5000;

export class Stores {
  private entries = new Map<number, Entry>();
  private progress: StudyProgress | null = null;

  /** `ordered` is called when a study is to be started or stopped. */
  constructor(private readonly failed: (error: unknown) => void, private readonly ordered: () => void) {
    setInterval(() => document.visibilityState === "visible" && void this.refresh(), EVERY);
  }

  async refresh(): Promise<void> {
    try {
      this.show(await get<StoreSummary[]>("/api/stores"));
    } catch (error) {
      this.failed(error);
    }
  }

  /** Shows how far the study is that is on, or what came of the last one. */
  advance(progress: StudyProgress | null): void {
    const ended = this.progress !== null && isOn(this.progress) && progress !== null && !isOn(progress);
    this.progress = progress;
    for (const [id, entry] of this.entries) entry.advance(progress?.store === id ? progress : null, progress !== null && isOn(progress));
    if (ended) void this.refresh().then(() => this.entries.get(progress.store)?.reload());
  }

  private show(all: StoreSummary[]): void {
    byId("status").textContent = all.length === 0
      ? ""
      : `${all.length} ${all.length === 1 ? "study" : "studies"} of the directories that the server was started with.`;
    const place = byId("stores");
    if (all.length === 0) {
      place.replaceChildren(make("p", { class: "note" },
        "There are no results yet. Start the server with a study file, ", make("code", {}, "cwnd serve studies/matrix.toml"), ", or with a directory that ",
        make("code", {}, "cwnd run"), " has filled."));
      return;
    }
    for (const summary of all) {
      let entry = this.entries.get(summary.id);
      if (!entry) {
        entry = new Entry(this.failed, this.ordered);
        this.entries.set(summary.id, entry);
        place.append(entry.element);
      }
      entry.show(summary);
    }
    this.advanceAll();
  }

  private advanceAll(): void {
    const progress = this.progress;
    for (const [id, entry] of this.entries) entry.advance(progress?.store === id ? progress : null, progress !== null && isOn(progress));
  }
}

function isOn(progress: StudyProgress): boolean {
  return progress.phase === "running" || progress.phase === "stopping";
}

/** One study of the list. */
class Entry {
  readonly element = make("article", { class: "store" });
  private readonly title = make("h3");
  private readonly where = make("p", { class: "where" });
  private readonly bar = make("progress");
  private readonly count = make("span", { class: "count" });
  private readonly message = make("p", { class: "note" });
  private readonly start: HTMLButtonElement;
  private readonly stop: HTMLButtonElement;
  private readonly report = make("a", { target: "_blank", rel: "noopener" }, "Report");
  private readonly details = make("details", {}, make("summary", {}, "Claims and failures"));
  private readonly content = make("div");
  private summary: StoreSummary | null = null;
  /** Runs that were there when the study that is on began. */
  private present = 0;
  /** Runs that are done by the progress of the study, until the list is read again. */
  private counted = 0;

  constructor(private readonly failed: (error: unknown) => void, private readonly ordered: () => void) {
    this.start = make("button", { type: "button", class: "primary", click: () => void this.order("start", this.start) }, "Start");
    this.stop = make("button", { type: "button", click: () => void this.order("stop", this.stop) }, "Stop");
    this.details.append(this.content);
    this.details.addEventListener("toggle", () => this.details.open && void this.load());
    this.element.append(this.title, this.where, make("div", { class: "row" }, this.bar, this.count), this.message,
      make("div", { class: "row" }, this.start, this.stop, this.report), this.details);
  }

  show(summary: StoreSummary): void {
    const changed = this.summary !== null && this.summary.done !== summary.done;
    this.summary = summary;
    this.counted = 0;
    this.element.id = `store-${summary.id}`;
    this.title.replaceChildren(summary.title, make("span", {}, summary.name ? ` ${summary.name}` : ""));
    const facts = summary.name === null ? [] : [
      `${summary.cells} ${summary.cells === 1 ? "cell" : "cells"} × ${summary.repeats} ${summary.repeats === 1 ? "repeat" : "repeats"}`,
      ...(summary.scale === "paper" ? [] : [`scale ${summary.scale}`]),
      ...summary.engines.filter((engine) => engine !== "sim").map((engine) => `engine ${engine}`),
      `${summary.claims} ${summary.claims === 1 ? "claim" : "claims"}`,
    ];
    this.where.textContent = [summary.directory, ...facts].join(" · ");
    this.report.href = `/api/stores/${summary.id}/report`;
    const readable = summary.problem === null;
    const begun = summary.done + summary.failed > 0;
    for (const part of [this.bar, this.count, this.start, this.stop]) part.hidden = !readable;
    this.report.hidden = !begun;
    this.details.hidden = !begun;
    for (const [button, text] of [[this.stop, "Stop"], [this.report, "Report"]] as const) button.setAttribute("aria-label", `${text}: ${summary.title}`);
    if (summary.problem !== null) this.message.replaceChildren(inline(summary.problem));
    if (changed && this.details.open) void this.load();
  }

  /** Shows the progress of this study, if it is the one that is on; `busy` if any is. */
  advance(progress: StudyProgress | null, busy: boolean): void {
    const summary = this.summary;
    if (!summary || summary.problem !== null) return;
    const on = progress !== null && isOn(progress);
    if (on) {
      if (progress.total > 0) this.present = summary.runs - progress.total;
      this.counted = this.present + progress.stored - progress.failed;
    }
    // The list was read up to some seconds ago, also at the moment in which the study stops.
    const done = Math.max(summary.done, this.counted);
    const left = progress?.left_s == null || !on ? "" : `, about ${duration(progress.left_s)} left`;
    const failures = on ? progress.failed : summary.failed;
    const text = `${done.toLocaleString("en")} of ${summary.runs.toLocaleString("en")} runs done${failures > 0 ? `, ${failures.toLocaleString("en")} failed` : ""}${left}`;
    this.bar.max = Math.max(1, summary.runs);
    this.bar.value = done;
    this.bar.setAttribute("aria-label", `Runs done: ${summary.title}`);
    this.count.textContent = text;
    const changed = summary.changed === null || on ? "" : `\`${summary.changed}\` has changed since these runs: Continue runs it as it is now.`;
    const said = [progress === null ? "" : message(progress), changed].filter((text) => text !== "");
    this.message.replaceChildren(inline(said.join(" ")));
    this.message.classList.toggle("wrong", progress?.phase === "failed");
    const complete = done >= summary.runs && summary.changed === null;
    this.start.textContent = done > 0 ? "Continue" : "Start";
    this.start.setAttribute("aria-label", `${this.start.textContent}: ${summary.title}`);
    this.start.hidden = on || complete;
    this.start.disabled = busy;
    this.start.title = busy && !on ? "Another study is running" : "";
    this.stop.hidden = !on;
    this.stop.disabled = progress?.phase === "stopping";
  }

  /** Reads the claims again, if they are shown. */
  reload(): void {
    if (this.details.open) void this.load();
  }

  private async order(what: "start" | "stop", button: HTMLButtonElement): Promise<void> {
    button.disabled = true;
    this.ordered();
    try {
      await request(`/api/stores/${this.summary!.id}/${what}`, { method: "POST" });
    } catch (error) {
      button.disabled = false;
      this.failed(error);
    }
  }

  private async load(): Promise<void> {
    try {
      const detail = await get<StoreDetail>(`/api/stores/${this.summary!.id}`);
      const counts = detail.verdicts.map((one) => `${one.claims} ${one.verdict}`).join(", ");
      this.content.replaceChildren(
        detail.claims.length === 0
          ? make("p", { class: "note" }, "The study has no claims.")
          : table(`Claims: ${counts}`, columns(["verdict", "word"], ["claim", "text"], ["measured", "word"], ["reason", "text"]),
            detail.claims.map((one) => [one.verdict, inline(one.text), one.measured ?? "", inline(one.ground)])),
        ...detail.failures.map((failure) => make("p", { class: "wrong" }, inline(failure))),
        make("p", { class: "note" }, "The same results: ", make("code", {}, detail.command), ` (cwnd ${detail.version})`));
    } catch (error) {
      this.failed(error);
    }
  }
}

function message(progress: StudyProgress): string {
  switch (progress.phase) {
    case "running":
      return progress.running ?? `Running for ${duration(progress.elapsed_s)}.`;
    case "stopping":
      return "Stopping.";
    case "stopped":
      return `Stopped: ${progress.message}. What is done is stored; Continue does the rest.`;
    case "done":
      return `Finished: ${progress.message}.`;
    case "failed":
      return progress.message;
  }
}

export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}
