import type { EventEmitter } from "node:events";
import { EXIT } from "../base/errors.ts";

/** Abort reason of the shutdown signal. */
export class StopRequest extends Error {
  readonly by: NodeJS.Signals;

  constructor(by: NodeJS.Signals) {
    super(`received ${by}`);
    this.name = "StopRequest";
    this.by = by;
  }
}

export interface ShutdownDeps {
  readonly process: Pick<EventEmitter, "on" | "off">;
  /** Ends the process at once; called at the second request. */
  readonly exit: (code: number) => void;
  readonly monotonicMs: () => number;
}

/** An abort signal for SIGINT and SIGTERM. */
export interface Shutdown {
  readonly signal: AbortSignal;
  /** Removes the signal handlers. */
  readonly dispose: () => void;
}

/** One Ctrl-C may arrive twice: from the terminal, and forwarded by npm. */
const SAME_REQUEST_MS = 500;

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Installs handlers for SIGINT and SIGTERM. The first one aborts the signal with a {@link StopRequest}. A second one,
 * more than half a second later, ends the process at once with exit code 1.
 */
export function createShutdown(deps: ShutdownDeps): Shutdown {
  const controller = new AbortController();
  let firstMs = 0;
  const onSignal = (by: NodeJS.Signals): void => {
    if (!controller.signal.aborted) {
      firstMs = deps.monotonicMs();
      controller.abort(new StopRequest(by));
    } else if (deps.monotonicMs() - firstMs >= SAME_REQUEST_MS) {
      deps.exit(EXIT.fatal);
    }
  };
  for (const name of SIGNALS) deps.process.on(name, onSignal);
  return {
    signal: controller.signal,
    dispose: () => {
      for (const name of SIGNALS) deps.process.off(name, onSignal);
    },
  };
}
