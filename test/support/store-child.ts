import { openTestStore } from "./relayer-store.ts";

/** Opens the relayer's store in its own process, for tests that kill it. Prints "open" and waits. */
const [stateDir] = process.argv.slice(3);
if (stateDir === undefined) throw new Error("usage: store-child STATE_DIR");
const { journal } = await openTestStore(stateDir);
process.stdout.write("open\n");
// Keeps the process and the store.
setInterval(() => journal.deadLetters(), 60_000);
