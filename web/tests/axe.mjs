// What axe-core finds in a page: rule, impact and the elements.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Colours and widths, in pixels, in which pages are looked at: each of both is in one, since no style depends on the pair. */
export const LOOKS = [["light", 1280], ["dark", 360]];

export async function violations(page) {
  await page.evaluate(source);
  return page.evaluate(async () => {
    // Without the selectors of all elements that pass: 7.6 instead of 9.1 s on the catalogue.
    const { violations } = await window.axe.run({ resultTypes: ["violations"] });
    return violations.map((one) => `${one.id} (${one.impact}): ${one.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("; ")}`);
  });
}
