import { utf8 } from "../../src/platform/base/bytes.ts";
import { startTestNode } from "./test-node.ts";

/** A node in its own process, for tests that kill it. Makes blocks without a pause and prints the height of each one. */
const [home] = process.argv.slice(3);
if (home === undefined) throw new Error("usage: node-child HOME");
const node = await startTestNode({ home, powers: [10n, 4n, 3n] });
for (let made = 0; made < 100_000; made++) {
  const next = node.view.status().latestHeight + 1n;
  node.view.broadcast(utf8(`height${next}=${next}`));
  const height = node.control.produce(1);
  if (!process.stdout.write(`${height}\n`))
    await new Promise((resolve) => process.stdout.once("drain", resolve));
  // Lets the pipe drain, so that the test receives every printed height.
  await new Promise((resolve) => setImmediate(resolve));
}
