/** Links between the pages. */

import { make } from "./dom";

/** The key under which a tab knows that its server is `cwnd serve`. */
const SERVED = "served";

/** Notes that `cwnd serve` serves the pages of this tab. */
export function noteServer(): void {
  sessionStorage.setItem(SERVED, "yes");
}

/** Adds a link to the page of the machine if one serves the pages of this tab. Other hosts serve files alone. */
export function linkToMachine(): void {
  if (sessionStorage.getItem(SERVED) === null) return;
  document.querySelector("nav")?.append(" ", make("a", { href: "./serve.html" }, "this machine"));
}
