import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { defineConfig } from "vite";

const MODULE = "virtual:cwnd-study-module";

// The script of live reports: one file that has the module in it, compressed.
export default defineConfig({
  build: {
    target: "es2023",
    outDir: "../target/web/live",
    emptyOutDir: true,
    lib: { entry: "src/live/report.ts", formats: ["iife"], name: "cwndLive", fileName: () => "live-report.js" },
  },
  plugins: [
    {
      name: "module-in-script",
      resolveId: (id) => (id === MODULE ? `\0${MODULE}` : null),
      load: (id) => {
        if (id !== `\0${MODULE}`) return null;
        const wasm = readFileSync(new URL("../target/web/cwnd-study.wasm", import.meta.url));
        return `export default ${JSON.stringify(gzipSync(wasm, { level: 9 }).toString("base64"))};`;
      },
    },
  ],
});
