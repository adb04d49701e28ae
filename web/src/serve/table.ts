/** Tables that scroll sideways on narrow screens. */

import { make } from "../dom";

export interface Column {
  title: string;
  /** Numbers are aligned to the right; long texts wrap. */
  kind: "word" | "number" | "text";
}

export function columns(...all: [string, Column["kind"]][]): Column[] {
  return all.map(([title, kind]) => ({ title, kind }));
}

export function table(caption: string, head: Column[], rows: (string | Node)[][]): HTMLElement {
  const cell = (content: string | Node, i: number) => make("td", { class: head[i]!.kind }, content);
  return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    make("table", {}, make("caption", {}, caption),
      make("thead", {}, make("tr", {}, ...head.map((column) => make("th", { scope: "col", class: column.kind }, column.title)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell))))));
}
