import { staleFiles, writeGeneratedFiles } from "./generated-files.ts";

// npm runs it in the repository root: `npm run generate`, or `npm run generate -- --check`, which writes nothing.
const root = process.cwd();

if (process.argv.includes("--check")) {
  const stale = staleFiles(root);
  for (const path of stale) process.stderr.write(`${path} is stale: run npm run generate\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const path of writeGeneratedFiles(root)) process.stdout.write(`${path}\n`);
}
