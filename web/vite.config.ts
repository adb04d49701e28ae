import { defineConfig } from "vite";
import { equations } from "./equations.plugin";

// Relative addresses: the folder works at any place of any static host.
export default defineConfig({
  base: "./",
  plugins: [equations()],
  assetsInclude: ["**/*.trace"],
  build: {
    target: "es2023",
    assetsInlineLimit: 0,
    rolldownOptions: { input: ["index.html", "algorithms.html", "playground.html", "serve.html"] },
  },
  worker: { format: "es" },
});
