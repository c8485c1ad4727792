// Measures the structure of the code: see ARCHITECTURE.md.
import { execSync } from "node:child_process";
import { readFileSync, existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
const verbose = process.argv.includes("--verbose");
const files = execSync("git ls-files -co --exclude-standard src daemons", { encoding: "utf8" }).split("\n")
  .filter((f) => f.endsWith(".ts") && !f.includes("/gen/") && existsSync(f));
const set = new Set(files);
const info = new Map();
const IMPORT = /^(?:import|export)\s+(?:type\s+)?(?:[\s\S]*?\sfrom\s+)?"([^"]+)";/gm;
for (const f of files) {
  const text = readFileSync(f, "utf8");
  let importLines = 0; const targets = new Set();
  for (const m of text.matchAll(/^(?:import|export)\b[^;]*?\bfrom\s+"([^"]+)"[^;\n]*;|^import\s+"([^"]+)";/gm)) {
    importLines += m[0].split("\n").length;
    const t = m[1] ?? m[2];
    if (t.startsWith(".")) targets.add(normalize(join(dirname(f), t)));
    else if (t.startsWith("#")) targets.add("src/" + t.slice(1));
  }
  for (const m of text.matchAll(/\bimport\(\s*"(\.[^"]+)"\s*\)/g)) targets.add(normalize(join(dirname(f), m[1])));
  info.set(f, { lines: text.split("\n").length - 1, importLines, targets: [...targets].filter((t) => set.has(t)) });
}
const depthOf = new Map();
const depth = (f) => { if (depthOf.has(f)) return depthOf.get(f); depthOf.set(f, 0); const d = 1 + Math.max(0, ...info.get(f).targets.map(depth)); depthOf.set(f, d); return d; };
const depths = files.map(depth);
const deepest = files[depths.indexOf(Math.max(...depths))];
const edges = new Set(); const roomEdges = new Set();
const room = (f) => { const p = f.split("/"); return p[0] === "src" ? p.slice(0, 2).join("/") : p[0]; };
for (const [f, { targets }] of info) for (const t of targets) {
  if (dirname(f) !== dirname(t)) edges.add(`${dirname(f)} ${dirname(t)}`);
  if (room(f) !== room(t)) roomEdges.add(`${room(f)} -> ${room(t)}`);
}
const mutual = [...edges].filter((e) => { const [a, b] = e.split(" "); return a < b && edges.has(`${b} ${a}`); });
const importers = new Map(files.map((f) => [f, []]));
for (const [f, { targets }] of info) for (const t of targets) importers.get(t).push(f);
const once = files.filter((f) => importers.get(f).length === 1);
const total = files.reduce((n, f) => n + info.get(f).lines, 0), imports = files.reduce((n, f) => n + info.get(f).importLines, 0);
const sizes = files.map((f) => info.get(f).lines).filter((n) => n > 25).sort((a, b) => a - b);
console.log({ files: files.length, lines: total, depth: Math.max(...depths), mutual: mutual.length, importShare: (100 * imports / total).toFixed(2), once: once.length, oncePct: (100 * once.length / files.length).toFixed(1), p50: sizes[sizes.length >> 1], max: Math.max(...sizes), roomEdges: roomEdges.size, folderEdges: edges.size });
if (verbose) {
  console.log(mutual.join("\n"));
  let f = deepest; while (f) { console.log(depth(f), f); f = info.get(f).targets.sort((a, b) => depth(b) - depth(a))[0]; }
  console.log([...roomEdges].sort().join("\n"));
}
