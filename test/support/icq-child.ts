import { runIcqBlocks } from "./icq-application.ts";

/** Prints the app hashes of `runIcqBlocks`, one per line. Tests compare them with those of another process. */
const [seed] = process.argv.slice(3);
if (seed === undefined) throw new Error("usage: icq-child SEED");
process.stdout.write(runIcqBlocks(Number(seed)).join("\n"));
