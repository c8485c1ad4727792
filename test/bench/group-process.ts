import { errorText } from "../../src/base/errors.ts";
import type { BenchRow } from "./bench-row.ts";
import { BENCH_GROUPS } from "./groups.ts";

/** What a group's process tells the one that started it, once. */
export type GroupMessage =
  | { readonly kind: "rows"; readonly rows: readonly BenchRow[] }
  | { readonly kind: "error"; readonly text: string };

/** Runs one group, named by the first argument, in a process of its own; gives up when the parent is gone. */
async function main([name, speed]: readonly string[]): Promise<void> {
  const stop = new AbortController();
  process.once("disconnect", () => stop.abort(new Error("the bench was given up")));
  process.once("SIGINT", () => stop.abort(new Error("interrupted")));
  const message = await runGroup(name ?? "", { quick: speed === "quick", signal: stop.signal });
  process.send?.(message, undefined, undefined, () => process.disconnect?.());
}

async function runGroup(
  name: string,
  settings: { readonly quick: boolean; readonly signal: AbortSignal },
): Promise<GroupMessage> {
  const run = BENCH_GROUPS[name];
  if (run === undefined) return { kind: "error", text: `there is no group ${name}` };
  try {
    return { kind: "rows", rows: await run(settings) };
  } catch (error) {
    return { kind: "error", text: errorText(error) };
  }
}

await main(process.argv.slice(2));
