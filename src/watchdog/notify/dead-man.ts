import { withDeadline } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { type PostJson, postAccepted, safeText } from "./channels/transport.ts";

/** A monitor that raises an alarm once it no longer receives requests. */
export interface DeadManConfig {
  readonly url: Secret;
  /** URL requested instead of `url` while the watchdog is not doing its work. If absent, no request is sent during that time. */
  readonly failureUrl?: Secret | undefined;
  readonly intervalMs: number;
  readonly deadlineMs: number;
}

/** The watchdog's recent activity. */
export interface WorkState {
  /** Why the work is not being done: "no node was read for 5 min". Undefined while it is. */
  readonly problem: string | undefined;
}

export interface DeadManDeps {
  readonly clock: Clock;
  readonly post: PostJson;
  readonly logger: Logger;
  readonly work: () => WorkState;
  /** Records that a request to `url` was accepted. */
  readonly pinged: (atMs: number) => void;
}

/**
 * Sends a request to the monitor at every interval until the signal fires. While the watchdog is not doing its work, it sends no
 * request, or one to `failureUrl`: a process that runs but reads nothing must raise the alarm too. A failed request is not
 * repeated; the next one follows anyway.
 */
export async function runDeadMan(
  config: DeadManConfig,
  deps: DeadManDeps,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await pingOnce(config, deps, signal);
      await deps.clock.sleep(config.intervalMs, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

async function pingOnce(config: DeadManConfig, deps: DeadManDeps, signal: AbortSignal): Promise<void> {
  const { problem } = deps.work();
  const url = problem === undefined ? config.url : config.failureUrl;
  if (problem !== undefined)
    deps.logger.warn("no dead-man request, since the work is not being done", { problem });
  if (url === undefined) return;
  try {
    await withDeadline("the dead-man monitor", config.deadlineMs, signal, (inner) =>
      postAccepted(deps.post, "the dead-man monitor", {
        url: url.reveal(),
        body: { status: problem === undefined ? "ok" : "failing", problem: problem ?? null },
        signal: inner,
      }),
    );
    if (problem === undefined) deps.pinged(deps.clock.nowMs());
  } catch (error) {
    if (signal.aborted) throw error;
    deps.logger.warn("dead-man request failed", { reason: safeText(error) });
  }
}
