import { pause } from "../platform/base/abort.ts";
import { systemClock } from "../platform/base/clock.ts";
import { type Ports, portsAt } from "../platform/base/localnet-defaults.ts";
import { longestPollMs } from "../watchdog/page/create-page.ts";
import type { CliContext } from "../platform/cli/cli-context.ts";
import type { LiveScreen } from "../platform/cli/live-screen.ts";
import { localnetWatchdogConfig } from "../watchdog/cli/localnet-config.ts";
import { tryNext, upBlock } from "./up-block.ts";
import { hasFirstResults, summaryLine, type UpParts } from "./up-summary.ts";

/** Output for the state of `up`. */
export interface StateOutput {
  readonly portOffset: number;
  /** Prints a line that stays. */
  readonly print: (line: string) => void;
  readonly context: Pick<CliContext, "isTerminal" | "screen">;
}

const LINE_EVERY_MS = 2_000;
const BLOCK_EVERY_MS = 1_000;

/**
 * Shows the state until the signal aborts: on a terminal as a block that changes in place, otherwise as a line for each change.
 * After the first result it suggests next steps.
 */
export async function showState(now: () => UpParts, output: StateOutput, signal: AbortSignal): Promise<void> {
  const { context, portOffset, print } = output;
  const ports = portsAt(portOffset);
  const show = context.screen === undefined ? lines(output) : block(context.screen, ports, portOffset);
  const everyMs = context.screen === undefined ? LINE_EVERY_MS : BLOCK_EVERY_MS;
  let hasHinted = false;
  while (!signal.aborted) {
    const parts = now();
    if (!hasHinted && hasFirstResults(parts)) {
      for (const line of tryNext(commandName(), ports.localRest, portOffset)) print(line);
      hasHinted = true;
    }
    show(parts);
    await pause(everyMs, systemClock, signal);
  }
}

function lines({ print, context }: StateOutput): (parts: UpParts) => void {
  let last = "";
  return (parts) => {
    const line = summaryLine(parts, context.isTerminal);
    if (line !== last) print(line);
    last = line;
  };
}

function block(screen: LiveScreen, ports: Ports, portOffset: number): (parts: UpParts) => void {
  const startedAtMs = systemClock.nowMs();
  const pollMs = longestPollMs(localnetWatchdogConfig(portOffset, undefined));
  return (parts) => {
    const pages = {
      relayer: parts.relayer && addressOf(ports.relayer),
      watchdog: parts.watchdog && addressOf(ports.watchdog),
    };
    screen.show(upBlock(parts, { nowMs: systemClock.nowMs(), startedAtMs, pollMs, pages }));
  };
}

function addressOf(port: number): string {
  return `http://127.0.0.1:${port}/`;
}

/** How the reader starts the program. npm names its script to what it runs. */
function commandName(): string {
  return process.env["npm_lifecycle_event"] === undefined ? "relaywatch" : "npm run -s relaywatch --";
}
