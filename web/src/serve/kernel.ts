/** What is loaded in this host's kernel. */

import { byId, make } from "../dom";
import { get, ServerError, type KernelStatus, type Machine } from "./api";
import { inline } from "./inline";
import { columns, table } from "./table";

export async function showKernel(machine: Machine): Promise<void> {
  const place = byId("kernel");
  if (machine.kernel === "") {
    place.replaceChildren(make("p", { class: "note" }, "This system is not Linux: it has no such kernel."));
    return;
  }
  const fact = (term: string, value: string) => [make("dt", {}, term), make("dd", {}, value)];
  const facts = make("dl", { class: "facts" }, ...fact("Kernel", machine.kernel), ...fact("Available to sockets", machine.available.join(", ")),
    ...fact("Default", machine.default));
  try {
    const { status, loadable } = await get<KernelStatus>("/api/kernel");
    const loaded = status.loaded.map((one) => [one.kernel_name, one.name, one.parameters || "defaults", String(one.sockets),
      [one.keeper, ...(one.default_of.length > 0 ? [`default of ${one.default_of.join(", ")}`] : [])].join("; ")]);
    const sockets = Object.entries(status.sockets).map(([name, count]) => [name, String(count)]);
    const button = make("button", { type: "button", click: () => void showKernel(machine) }, "Read again");
    place.replaceChildren(facts, button,
      loaded.length > 0
        ? table("Loaded by cwnd", columns(["in the kernel", "word"], ["algorithm", "word"], ["parameters", "text"], ["sockets", "number"], ["kept by", "text"]), loaded)
        : make("p", { class: "note" }, "cwnd has loaded no algorithm. ", make("code", {}, "cwnd kernel load NAME"), " loads one."),
      ...status.missing.map((why) => make("p", { class: "note" }, inline(`This host cannot load algorithms; missing is ${why}.`))),
      table("Sockets of all network namespaces by congestion control", columns(["congestion control", "word"], ["sockets", "number"]), sockets),
      make("details", {}, make("summary", {}, `${loadable.length} algorithms that can be loaded`),
        table("Algorithms that can be loaded", columns(["name", "word"], ["in the kernel", "word"], ["title", "text"], ["parameters", "text"]),
          loadable.map((one) => [one.name, one.kernel_name, one.title, one.parameters.join(", ")]))));
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    place.replaceChildren(facts, make("p", { class: "note" }, inline(`What cwnd has loaded is not available: ${error.message}.`)));
  }
}
