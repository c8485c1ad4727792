// Measures how the sources are divided into files and folders, and what imports what: `npm run measure`.
// `npm run measure -- --area src/relayer` lists the places of one area behind the figures.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

// A reader that closes the pipe early (`| head`) is not an error.
process.stdout.on("error", () => process.exit());

const areaAt = process.argv.indexOf("--area");
const area = areaAt < 0 ? undefined : process.argv[areaAt + 1];

/** Hand-written TypeScript of the program, without tests. */
const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "src", "daemons"], {
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file.endsWith(".ts") && !file.includes("/gen/") && existsSync(file));
const known = new Set(files);

const STATIC = /^(import|export)\b([^;]*?)\bfrom\s+"([^"]+)"[^;\n]*;|^import\s+"([^"]+)";/gm;

/** Returns whether an import clause names types only, so that nothing is loaded when the program runs. */
function isTypeOnly(clause) {
  if (/^\s*type\b/.test(clause)) return true;
  const names = clause.replaceAll(/[{}]/g, " ").split(",");
  return /^\s*\{/.test(clause) && names.every((name) => name.trim() === "" || /^\s*type\b/.test(name));
}

/** @type {Map<string, {lines: number, importLines: number, targets: string[], loads: string[]}>} */
const sources = new Map(
  files.map((file) => {
    const text = readFileSync(file, "utf8");
    const at = (specifier) => normalize(join(dirname(file), specifier));
    const statics = [...text.matchAll(STATIC)].map(([whole, , clause = "", from, bare]) => ({
      lines: whole.split("\n").length,
      target: at(from ?? bare),
      loads: !isTypeOnly(clause),
    }));
    const targets = [...new Set(statics.map(({ target }) => target))];
    return [
      file,
      {
        lines: text.split("\n").length - 1,
        importLines: statics.reduce((sum, { lines }) => sum + lines, 0),
        targets: targets.filter((target) => known.has(target)),
        loads: statics.filter(({ target, loads }) => loads && known.has(target)).map(({ target }) => target),
      },
    ];
  }),
);

const depths = new Map();
/** Longest chain of imports below a file that load code, in steps. */
function depthOf(file) {
  const depth = depths.get(file);
  if (depth !== undefined) return depth;
  depths.set(file, 0);
  const below = sources.get(file).loads.map((target) => depthOf(target) + 1);
  depths.set(file, Math.max(0, ...below));
  return depths.get(file);
}

const roomOf = (file) => (file.startsWith("src/") ? file.split("/").slice(0, 2).join("/") : "daemons");
const folderEdges = new Set();
const roomEdges = new Set();
/** @type {Map<string, string[]>} */
const importers = new Map(files.map((file) => [file, []]));
for (const [file, { targets }] of sources) {
  for (const target of targets) {
    importers.get(target).push(file);
    if (dirname(file) !== dirname(target)) folderEdges.add(`${dirname(file)} ${dirname(target)}`);
    if (roomOf(file) !== roomOf(target)) roomEdges.add(`${roomOf(file)} ${roomOf(target)}`);
  }
}
const mutual = [...folderEdges].filter((edge) => {
  const [from, to] = edge.split(" ");
  return from < to && folderEdges.has(`${to} ${from}`);
});
const once = files.filter((file) => importers.get(file).length === 1);
const sum = (key) => files.reduce((total, file) => total + sources.get(file)[key], 0);
const sizes = files
  .map((file) => sources.get(file).lines)
  .filter((lines) => lines > 25)
  .toSorted((a, b) => a - b);
const deepest = files.toSorted((a, b) => depthOf(b) - depthOf(a))[0];

function print(text) {
  process.stdout.write(`${text}\n`);
}

const figures = {
  files: files.length,
  lines: sum("lines"),
  depth: depthOf(deepest),
  mutualFolders: mutual.length,
  importPercent: (100 * sum("importLines")) / sum("lines"),
  oncePercent: (100 * once.length) / files.length,
  medianLines: sizes[sizes.length >> 1],
  largestLines: sizes.at(-1),
  roomImports: roomEdges.size,
};

if (process.argv.includes("--json")) print(JSON.stringify(figures));
else {
  print(`files ${figures.files}, lines ${figures.lines}`);
  print(`import depth ${figures.depth} (at most 12)`);
  print(`folder pairs that import each other ${figures.mutualFolders} (none)`);
  print(`import lines ${figures.importPercent.toFixed(1)} % (at most 6.5 %)`);
  print(`files imported exactly once ${figures.oncePercent.toFixed(1)} % (at most 22 %)`);
  print(
    `lines of files over 25 lines: median ${figures.medianLines} (100 to 200), largest ${figures.largestLines} (at most 400)`,
  );
  print(`imports between rooms ${figures.roomImports} (at most 20)`);
}

if (area !== undefined) {
  const inside = (file) => file.startsWith(`${area}/`);
  print(`\n${area}: ${files.filter(inside).length} files\n\nimported exactly once (lines, by):`);
  for (const file of once.filter(inside))
    print(`  ${file} ${sources.get(file).lines} ${importers.get(file)[0]}`);
  print("\nfolders that import each other:");
  for (const edge of mutual.filter((pair) => pair.includes(`${area}/`) || pair.split(" ").includes(area)))
    print(`  ${edge}`);
  const top = files.filter(inside).toSorted((a, b) => depthOf(b) - depthOf(a))[0];
  print("\nlongest chain of imports:");
  for (let file = top; file !== undefined; ) {
    print(`  ${depthOf(file)} ${file}`);
    file = sources.get(file).loads.toSorted((a, b) => depthOf(b) - depthOf(a))[0];
  }
}
