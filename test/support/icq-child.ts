import { runIcqBlocks } from "./icq-application.ts";

/** Prints the app hashes of a seed, one a line, from a process of its own. */
const [seed] = process.argv.slice(3);
if (seed === undefined) throw new Error("usage: icq-child SEED");
process.stdout.write(runIcqBlocks(Number(seed)).join("\n"));
