import { fork } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { errorText, EXIT } from "../../src/platform/base/errors.ts";
import type { BenchRow } from "./bench-row.ts";
import type { GroupMessage } from "./group-process.ts";
import { BENCH_GROUPS } from "./groups.ts";
import { describeMachine, machineText } from "./machine.ts";
import { type GroupRows, tableText } from "./print-table.ts";

const USAGE = `usage: npm run bench -- [--quick] [--only GROUP,…] [--json FILE] [--help]
groups: ${Object.keys(BENCH_GROUPS).join(", ")}
Prints a table and JSON; --json puts the JSON into FILE instead ("-": JSON alone on stdout, the table on stderr).`;

/** Time limit of a group. */
const GROUP_DEADLINE_MS = 3_600_000;

interface Options {
  readonly groups: readonly string[];
  readonly quick: boolean;
  readonly json: string | undefined;
  readonly help: boolean;
}

/** Throws an `Error` for a wrong option. */
function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean" },
      only: { type: "string" },
      json: { type: "string" },
      help: { type: "boolean" },
    },
  });
  const groups = values.only?.split(",") ?? Object.keys(BENCH_GROUPS);
  const unknown = groups.find((group) => !Object.hasOwn(BENCH_GROUPS, group));
  if (unknown !== undefined) throw new Error(`there is no group ${JSON.stringify(unknown)}`);
  return { groups, quick: values.quick ?? false, json: values.json, help: values.help ?? false };
}

/** Runs each group in a process of its own, so that none is measured with the heap and the compiled code of another. */
async function bench({ groups, quick, json }: Options, signal: AbortSignal): Promise<number> {
  const machine = describeMachine();
  const results: GroupRows[] = [];
  let errors = 0;
  for (const group of groups) {
    process.stderr.write(`${group} …\n`);
    try {
      results.push({ group, rows: await runGroup(group, quick, signal) });
    } catch (error) {
      if (signal.aborted) return EXIT.fatal;
      errors += 1;
      process.stderr.write(`${group} failed: ${errorText(error)}\n`);
    }
  }
  const rows = results.flatMap((one) => one.rows.map((row) => ({ group: one.group, ...row })));
  const document = JSON.stringify({ machine, quick, rows }, null, 2);
  const table = `${machineText(machine)}\n${tableText(results)}\n`;
  if (json === "-") process.stderr.write(table);
  else process.stdout.write(table);
  if (json === undefined || json === "-") process.stdout.write(`${document}\n`);
  else writeFileSync(json, `${document}\n`);
  return errors === 0 ? EXIT.ok : EXIT.fatal;
}

function runGroup(group: string, quick: boolean, signal: AbortSignal): Promise<readonly BenchRow[]> {
  const program = fileURLToPath(new URL("./group-process.js", import.meta.url));
  return new Promise((resolve, reject) => {
    const child = fork(program, [group, quick ? "quick" : "full"], {
      stdio: ["ignore", 2, 2, "ipc"],
      execArgv: ["--enable-source-maps"],
    });
    // A child that loses its parent stops what it started and ends.
    const giveUp = (reason: string): void => {
      reject(new Error(reason));
      if (child.connected) child.disconnect();
    };
    const timer = setTimeout(
      () => giveUp(`took longer than ${GROUP_DEADLINE_MS / 1_000} s`),
      GROUP_DEADLINE_MS,
    );
    signal.addEventListener("abort", () => giveUp("interrupted"), { once: true });
    child.once("message", (message: GroupMessage) => {
      if (message.kind === "rows") resolve(message.rows);
      else reject(new Error(message.text));
    });
    child.once("error", reject);
    child.once("exit", (code, byWhat) => {
      clearTimeout(timer);
      reject(new Error(`ended with ${byWhat ?? code} before it had figures`));
    });
  });
}

async function main(args: readonly string[]): Promise<number> {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort(new Error(name)));
  let options: Options;
  try {
    options = parseOptions(args);
  } catch (error) {
    process.stderr.write(`bench: ${errorText(error)}\n${USAGE}\n`);
    return EXIT.usage;
  }
  if (options.help) {
    process.stdout.write(`${USAGE}\n`);
    return EXIT.ok;
  }
  return bench(options, stop.signal);
}

process.exitCode = await main(process.argv.slice(2));
