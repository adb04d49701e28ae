import { defineConfig } from "vite";

// Relative addresses: the folder works at any place of any static host.
export default defineConfig({
  base: "./",
  assetsInclude: ["**/*.trace"],
  build: {
    target: "es2023",
    assetsInlineLimit: 0,
    rolldownOptions: { input: ["index.html", "algorithms.html", "playground.html", "serve.html"] },
  },
  worker: { format: "es" },
});
