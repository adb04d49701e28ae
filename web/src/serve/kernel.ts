/** What is loaded in this host's kernel. */

import { byId, make } from "../dom";
import { get, ServerError, type GroupCounts, type KernelStatus, type LoadedObject, type Machine } from "./api";
import { inline } from "./inline";
import { columns, table } from "./table";

export async function showKernel(machine: Machine): Promise<void> {
  const place = byId("kernel");
  if (machine.kernel === "") {
    place.replaceChildren(note("This system is not Linux: it has no such kernel."));
    return;
  }
  const fact = (term: string, value: string) => [make("dt", {}, term), make("dd", {}, value)];
  const facts = make("dl", { class: "facts" }, ...fact("Kernel", machine.kernel), ...fact("Available to sockets", machine.available.join(", ")),
    ...fact("Default", machine.default));
  try {
    const { status, loadable } = await get<KernelStatus>("/api/kernel");
    const sockets = Object.entries(status.sockets).map(([name, count]) => [name, String(count)]);
    const button = make("button", { type: "button", click: () => void showKernel(machine) }, "Read again");
    place.replaceChildren(facts, button, ...loadedObjects(status), ...selections(status), ...canaries(status),
      ...status.missing.map((why) => note(inline(`This host cannot load algorithms; missing is ${why}.`))),
      table("Sockets of all network namespaces by congestion control", columns(["congestion control", "word"], ["sockets", "number"]), sockets),
      make("details", {}, make("summary", {}, `${loadable.length} algorithms that can be loaded`),
        table("Algorithms that can be loaded", columns(["name", "word"], ["in the kernel", "word"], ["title", "text"], ["parameters", "text"]),
          loadable.map((one) => [one.name, one.kernel_name, one.title, one.parameters.join(", ")]))));
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    place.replaceChildren(facts, note(inline(`What cwnd has loaded is not available: ${error.message}.`)));
  }
}

function note(...content: (string | Node)[]): HTMLElement {
  return make("p", { class: "note" }, ...content);
}

/** The objects that cwnd has loaded, and the calls of their hooks. */
function loadedObjects(status: KernelStatus["status"]): HTMLElement[] {
  if (status.loaded.length === 0) return [note("cwnd has loaded no algorithm. ", make("code", {}, "cwnd kernel load NAME"), " loads one.")];
  const objects = table("Loaded by cwnd",
    columns(["in the kernel", "word"], ["algorithm", "word"], ["parameters", "text"], ["sockets", "number"], ["loaded", "number"], ["default of", "text"], ["state", "text"]),
    status.loaded.map((one) => [one.kernel_name, one.name, parameters(one), String(one.sockets), age(one.age_s), one.default_of.join("; "), state(one)]));
  if (!status.counting && status.loaded.every((one) => one.calls === 0)) {
    return [objects, note("The kernel counts no calls; ", make("code", {}, "sysctl kernel.bpf_stats_enabled=1"), " makes it count.")];
  }
  const hooks = status.loaded.flatMap((one) => one.hooks.filter((hook) => hook.calls > 0).map((hook) =>
    [one.kernel_name, parameters(one), hook.name, String(hook.calls), (hook.time_ns / hook.calls).toFixed(0), (hook.time_ns / 1e6).toFixed(1)]));
  const calls = make("details", { open: true },
    make("summary", {}, `${status.loaded.reduce((sum, one) => sum + one.calls, 0)} calls of hooks${status.counting ? "" : "; the kernel counts no more"}`),
    table("Calls of hooks while the kernel counted them", columns(["in the kernel", "word"], ["parameters", "text"], ["hook", "word"], ["calls", "number"], ["ns a call", "number"], ["ms", "number"]), hooks));
  return [objects, calls];
}

function selections(status: KernelStatus["status"]): HTMLElement[] {
  if (status.selections.length === 0) return [];
  const rows = status.selections.map((one) => [one.cgroup ?? "removed", one.congestion_control,
    one.registered ? "" : "not loaded: connections get what they would get without the selection"]);
  return [table("Selected by cgroup", columns(["cgroup", "text"], ["congestion control", "word"], ["", "text"]), rows)];
}

/** Running canaries: a row for each of both groups. */
function canaries(status: KernelStatus["status"]): HTMLElement[] {
  if (status.canaries.length === 0) return [];
  const group = (counts: GroupCounts) => [String(counts.connections), String(counts.segments),
    counts.segments > 0 ? `${((100 * counts.retransmissions) / counts.segments).toFixed(3)} %` : "",
    counts.connections > 0 ? (1e3 * counts.mean_rtt_s).toFixed(2) : ""];
  const rows = status.canaries.flatMap((one) => [
    [one.cgroup ?? "removed", one.congestion_control, one.returning ? "returning" : `${(100 * one.share).toFixed(2)} %`, ...group(one.canary_counts), one.keeper],
    [one.cgroup ?? "removed", one.rest ?? "as without the canary", "the rest", ...group(one.rest_counts), ""],
  ]);
  return [table("Canaries", columns(["cgroup", "text"], ["congestion control", "word"], ["share", "word"], ["connections", "number"],
    ["segments", "number"], ["retransmitted", "number"], ["RTT, ms", "number"], ["state", "text"]), rows)];
}

function parameters(one: LoadedObject): string {
  return one.parameters === null ? "unknown: loaded by an older cwnd" : one.parameters || "defaults";
}

function state(one: LoadedObject): string {
  if (one.replaced) return "replaced: sockets that were open then keep it until they close";
  return one.registered ? one.keeper : `${one.keeper}; it has lost its file, and cwnd kernel unload ${one.kernel_name} removes it`;
}

/** A duration as `cwnd kernel status` prints it. */
function age(seconds: number | null): string {
  if (seconds === null) return "";
  const whole = Math.floor(seconds);
  if (whole < 120) return `${whole} s`;
  if (whole < 7200) return `${Math.floor(whole / 60)} min`;
  return whole < 172_800 ? `${Math.floor(whole / 3600)} h` : `${Math.floor(whole / 86_400)} d`;
}
