// What axe-core finds in a page: rule, impact and the elements.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function violations(page) {
  await page.evaluate(source);
  const found = await page.evaluate(() => window.axe.run());
  return found.violations.map((one) => `${one.id} (${one.impact}): ${one.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("; ")}`);
}
