import { staleFiles, writeGeneratedFiles } from "./generated-files.ts";
import { writePictures } from "./pictures.ts";
import { runbookErrors } from "./runbook-errors.ts";

// `npm run generate` runs this file in the repository root. With `-- --check`, it only lists stale files. With `-- --pictures`, it also
// takes pictures of the pages and dashboards with Chromium.
const root = process.cwd();
const isCheck = process.argv.includes("--check");

const stale = isCheck ? await staleFiles(root) : [];
for (const path of stale) process.stderr.write(`${path} is stale: run npm run generate\n`);
for (const path of isCheck ? [] : await writeGeneratedFiles(root)) process.stdout.write(`${path}\n`);
if (process.argv.includes("--pictures"))
  for (const path of writePictures(root)) process.stdout.write(`${path}\n`);
const errors = await runbookErrors(root);
for (const error of errors) process.stderr.write(`${error}\n`);
process.exitCode = stale.length + errors.length === 0 ? 0 : 1;
