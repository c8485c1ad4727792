// Bundles the page: `node tools/dashboards/build.mjs`. Its files are in `dist` afterwards.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const folder = import.meta.dirname;

await build({
  absWorkingDir: folder,
  entryPoints: ["page/main.tsx"],
  outfile: "dist/page.js",
  bundle: true,
  minify: true,
  keepNames: true,
  platform: "browser",
  target: "es2022",
  format: "iife",
  jsx: "automatic",
  logLevel: "error",
  define: { "process.env.NODE_ENV": '"production"', global: "window" },
  loader: { ".woff2": "dataurl", ".woff": "empty", ".ttf": "empty", ".svg": "text", ".png": "dataurl" },
  alias: {
    // Its only user is the list of data sources. This one needs a running Grafana.
    "@grafana/plugin-compat/datasources": "./page/data-source-list.ts",
    "react-router-dom-v5-compat": "react-router-dom",
  },
});
writeFileSync(
  join(folder, "dist/index.html"),
  `<!doctype html>
<html>
  <head>
    <meta charset="utf-8">
    <link rel="stylesheet" href="/page.css">
    <style>html { font-size: 14px } body { margin: 0; font-family: Inter, sans-serif; background: #111217 }</style>
  </head>
  <body><div id="root"></div><script src="/page.js"></script></body>
</html>
`,
);
