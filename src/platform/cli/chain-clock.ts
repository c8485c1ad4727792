import { Option } from "commander";
import { pause } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { CliError, errorText, EXIT } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { portsAt } from "../base/localnet-defaults.ts";
import type { DaemonContext } from "../process/daemon-context.ts";
import { askDaemon } from "./daemon-request.ts";

/** Options that select a localnet's clock. `chainClock` is true if the user gave {@link chainClockOption} without a URL. */
export interface ChainClockOptions {
  readonly chainClock?: string | true;
  readonly portOffset: number;
}

export function chainClockOption(): Option {
  return new Option(
    "--chain-clock [url]",
    "follow a localnet's clock, which may be ahead; default: the control API at --port-offset",
  );
}

/**
 * Returns a clock whose monotonic time follows its wall-clock time. The watchdog compares both times, so without this change,
 * moving the chain clock would look like a jump of the machine's clock.
 */
export function withItsDurations(clock: Clock, machine: Clock): Clock {
  return { ...clock, monotonicMs: () => machine.monotonicMs() + clock.nowMs() - machine.nowMs() };
}

const READ_EVERY_MS = 500;

/**
 * Returns the context with the clock of the localnet that the option names, or unchanged if the option is absent. Polls the
 * localnet's time twice a second; if a read fails, the clock keeps running. Throws `CliError` if the localnet does not respond to
 * the first read.
 */
export async function followChainClock<Context extends DaemonContext>(
  { chainClock, portOffset }: ChainClockOptions,
  context: Context,
): Promise<Context> {
  if (chainClock === undefined) return context;
  const { clock, logger, signal } = context;
  const url = chainClock === true ? `http://127.0.0.1:${portsAt(portOffset).control}` : chainClock;
  /** Reads the localnet's time and rate, and records the machine's time at the moment of reading. */
  const read = async () => {
    const reply = await askDaemon(
      {
        daemon: "the localnet's control API",
        url,
        path: "/time",
        deadlineMs: 5_000,
        hint: "--chain-clock needs a running localnet",
      },
      signal,
    );
    const [timeMs, rate] = isRecord(reply) ? [Date.parse(String(reply["time"])), Number(reply["rate"])] : [];
    if (timeMs === undefined || rate === undefined || !Number.isFinite(timeMs + rate))
      throw new CliError(EXIT.fatal, `expected a time and a rate from ${url}/time`);
    return { timeMs, rate, atMs: clock.nowMs() };
  };
  let last = await read();
  let hasFailed = false;
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      await pause(READ_EVERY_MS, clock, signal);
      try {
        last = await read();
        hasFailed = false;
      } catch (error) {
        if (!signal.aborted && !hasFailed)
          logger.warn("cannot read the localnet's clock; continuing from its last time", {
            reason: errorText(error),
          });
        hasFailed = true;
      }
    }
  };
  void follow();
  const nowMs = (): number => last.timeMs + (clock.nowMs() - last.atMs) * last.rate;
  return { ...context, clock: { ...clock, nowMs } };
}
