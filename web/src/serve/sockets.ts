/** The TCP sockets of this host with their TCP_INFO, live. */

import { byId, make } from "../dom";
import { short, timeText } from "../setup";
import { Listener, type Machine, type SocketList } from "./api";
import { columns, table } from "./table";

const COLUMNS = columns(["local", "word"], ["remote", "word"], ["control", "word"], ["cwnd", "number"], ["ssthresh", "number"], ["RTT", "number"],
  ["in flight", "number"], ["acknowledged", "number"], ["retransmitted", "number"], ["recovery", "word"], ["state", "word"]);

export class Sockets {
  private listener: Listener<SocketList> | null = null;
  private readonly list = make("div");
  private readonly toggle: HTMLButtonElement;

  constructor(machine: Machine) {
    this.toggle = make("button", { id: "watch", type: "button", "aria-pressed": "false", click: () => this.set(this.listener === null) }, "Watch");
    if (machine.sockets_problem !== null) {
      byId("sockets").replaceChildren(make("p", { class: "note" }, `${machine.sockets_problem}.`));
      return;
    }
    byId("sockets").replaceChildren(
      make("p", { class: "note" }, "Connected sockets of the server's network namespace, each second: window, threshold and RTT as the kernel has them (TCP_INFO)."),
      this.toggle, this.list);
    // A tab in the background needs none.
    document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && this.set(false));
  }

  private set(on: boolean): void {
    this.listener?.close();
    this.listener = on ? new Listener<SocketList>("/api/sockets", (list) => this.show(list), () => undefined) : null;
    this.toggle.setAttribute("aria-pressed", String(on));
    this.toggle.textContent = on ? "Stop watching" : "Watch";
  }

  private show(list: SocketList): void {
    if (list.problem !== null) {
      this.list.replaceChildren(make("p", { class: "wrong" }, `${list.problem}.`));
      return;
    }
    const rows = list.sockets.map((one) => [one.local, one.remote, one.algorithm, String(one.cwnd), one.ssthresh === null ? "none" : String(one.ssthresh),
      one.rtt_s === null ? "" : timeText(one.rtt_s), String(one.in_flight), bytes(one.acknowledged_bytes), String(one.retransmissions), one.recovery, one.state]);
    const caption = list.count > rows.length ? `The ${rows.length} busiest of ${list.count} sockets` : `${list.count} sockets`;
    const [before] = this.list.children;
    const [left, focused] = [before?.scrollLeft ?? 0, document.activeElement === before];
    const next = table(caption, COLUMNS, rows);
    this.list.replaceChildren(next);
    next.scrollLeft = left;
    if (focused) next.focus();
  }
}

function bytes(count: number): string {
  if (count >= 1e9) return `${short(count / 1e9)} GB`;
  if (count >= 1e6) return `${short(count / 1e6)} MB`;
  if (count >= 1e3) return `${short(count / 1e3)} kB`;
  return `${count} B`;
}
