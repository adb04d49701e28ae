// The catalogue's rows of the algorithm x path matrix.
import { violations } from "./axe.mjs";
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";

const matrix = JSON.parse(readFileSync(new URL("../src/matrix.json", import.meta.url), "utf8"));

export const stories = ({ address, browser }) => ({
  async "the catalogue shows an algorithm's rows of the matrix, and says which have none"(page) {
    await page.goto(`${address}algorithms.html`);
    await page.waitForSelector("article");
    const names = await page.locator("article").evaluateAll((all) => all.map((one) => one.id));
    const shown = await page.locator("article:has(.matrix)").evaluateAll((all) => all.map((one) => one.id));
    assert.deepEqual(shown.toSorted(), Object.keys(matrix.algorithms).toSorted());
    const without = names.find((name) => !shown.includes(name));
    assert.match(await page.textContent(`#${without}`), /not in the algorithm × path matrix/);
    const cells = await page.locator("#bbr3 .matrix td").allTextContents();
    const { alone, delay } = matrix.algorithms.bbr3;
    assert.equal(cells[1], alone[0].toFixed(2));
    assert.equal(cells[1 + 2 * 11], String(Number((delay[0] * 1e3).toPrecision(3))));
    assert.match(await page.textContent("#bbr3 .matrix caption"), /cwnd run studies\/matrix\.toml, cwnd [\d.]+, commit [0-9a-f]+/);
    assert.equal(await page.locator("#cubic .matrix tbody tr:last-child td").first().textContent(), "–");
    await page.getByText("The paths of the tables").click();
    assert.match(await page.textContent("main > details"), /marks above 20 packets/);
  },

  async "the catalogue's matrix is accessible, and fits a narrow page"() {
    // The catalogue in other looks is another story.
    const page = await browser.newPage({ colorScheme: "light", viewport: { width: 360, height: 780 } });
    await page.goto(`${address}algorithms.html`);
    await page.waitForSelector("article");
    await page.getByText("The paths of the tables").click();
    assert.deepEqual(await violations(page), []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, `the page is ${wide} pixels too wide`);
    await page.close();
  },
});
