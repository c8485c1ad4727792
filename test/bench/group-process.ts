import { errorText } from "../../src/platform/base/errors.ts";
import type { BenchRow } from "./bench-row.ts";
import { BENCH_GROUPS } from "./groups.ts";

/** The message of a group's process to its parent. */
export type GroupMessage =
  | { readonly kind: "rows"; readonly rows: readonly BenchRow[] }
  | { readonly kind: "error"; readonly text: string };

/** Runs the group that the first argument names. Stops when the parent process ends. */
async function main([name, speed]: readonly string[]): Promise<void> {
  const stop = new AbortController();
  process.once("disconnect", () => stop.abort(new Error("the bench was cancelled")));
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
