/** What the pages share: links between them, and what a tab keeps. */

import { make } from "./dom";

/** The key under which a tab knows that its server is `cwnd serve`. */
const SERVED = "cwnd-served";

/** Returns what this tab has kept under a key; null if there is nothing, or if the browser keeps nothing for this page. */
export function kept(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a text in this tab, if the browser does so. */
export function keep(key: string, text: string): void {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // The page works without.
  }
}

/** Notes that `cwnd serve` serves the pages of this tab. */
export function noteServer(): void {
  keep(SERVED, "yes");
}

/** Adds a link to the page of the machine if one serves the pages of this tab. Other hosts serve files alone. */
export function linkToMachine(): void {
  if (kept(SERVED) === null) return;
  document.querySelector("nav")?.append(" ", make("a", { href: "./serve.html" }, "this machine"));
}
