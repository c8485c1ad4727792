import type { EventEmitter } from "node:events";
import { EXIT } from "../base/exit-codes.ts";

/** Reason of the shutdown signal: somebody asked the process to stop. */
export class StopRequest extends Error {
  readonly by: NodeJS.Signals;

  constructor(by: NodeJS.Signals) {
    super(`asked to stop by ${by}`);
    this.name = "StopRequest";
    this.by = by;
  }
}

/** What shutdown needs of a process. */
export interface ShutdownDeps {
  readonly process: Pick<EventEmitter, "on" | "off">;
  /** Called at the second request: leave at once. */
  readonly exit: (code: number) => void;
  readonly monotonicMs: () => number;
}

/** A signal that fires when the process is asked to stop. */
export interface Shutdown {
  readonly signal: AbortSignal;
  /** Stops listening to the process. */
  readonly dispose: () => void;
}

/** One Ctrl-C may arrive twice: from the terminal, and passed on by npm. */
const SAME_REQUEST_MS = 500;

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * SIGINT and SIGTERM fire the signal with a {@link StopRequest}; another one after half a second leaves at once with exit
 * code 1.
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
