/** Turns the equations of src/equations.ts into MathML when the page is built, so that it needs no typesetting library. */

import katex from "katex";
import { readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { EQUATIONS } from "./src/equations";
import { Lab } from "./src/module";

const MODULE = "virtual:equations";

const MACROS: Record<string, string> = {
  "\\RTT": "\\text{RTT}", "\\RTTmin": "\\text{RTT}_{\\text{min}}", "\\baseRTT": "\\text{baseRTT}", "\\ssthresh": "\\text{ssthresh}",
  "\\Wmax": "W_{\\text{max}}", "\\Wcubic": "W_{\\text{cubic}}", "\\West": "W_{\\text{est}}", "\\Wsp": "W_{\\text{sp}}",
  "\\Wbase": "W_{\\text{base}}", "\\Wprobe": "W_{\\text{probe}}", "\\Winc": "W_{\\text{inc}}",
  "\\Smax": "S_{\\text{max}}", "\\Smin": "S_{\\text{min}}", "\\Dmin": "D_{\\text{min}}",
};

/** Returns the `math` element of an equation, without the TeX that KaTeX adds to it. Throws for wrong TeX. */
function mathml(tex: string): string {
  const markup = katex.renderToString(tex, { output: "mathml", displayMode: true, throwOnError: true, strict: "error", macros: { ...MACROS } });
  const math = /<math .*<\/math>/s.exec(markup)?.[0].replace(/<annotation .*<\/annotation>/s, "");
  if (math === undefined || /\sstyle=/.test(math)) throw new Error(`KaTeX gives markup that the page does not allow: ${markup}`);
  return math;
}

/** Throws unless every algorithm of the simulator's module has equations, and every equation an algorithm. */
async function checkNames(): Promise<void> {
  const wasm = readFileSync(new URL("../target/web/cwnd.wasm", import.meta.url));
  const names = (await Lab.create(await WebAssembly.compile(wasm))).catalogue().map((algorithm) => algorithm.name);
  const missing = names.filter((name) => !EQUATIONS[name]?.length);
  const unknown = Object.keys(EQUATIONS).filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`src/equations.ts has no equation for ${missing.join(", ")}`);
  if (unknown.length > 0) throw new Error(`src/equations.ts has equations for ${unknown.join(", ")}, which the registry does not have`);
}

/** Provides `virtual:equations`: for each algorithm, the MathML and the caption of each equation. */
export function equations(): Plugin {
  return {
    name: "equations",
    resolveId: (id) => (id === MODULE ? `\0${MODULE}` : null),
    async load(id) {
      if (id !== `\0${MODULE}`) return null;
      await checkNames();
      const typeset = Object.entries(EQUATIONS).map(([name, all]) => {
        try {
          return [name, all.map(([tex, caption]) => [mathml(tex), caption])];
        } catch (error) {
          throw new Error(`equation of ${name}: ${String(error)}`);
        }
      });
      return `export default ${JSON.stringify(Object.fromEntries(typeset))};`;
    },
  };
}
