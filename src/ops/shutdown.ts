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
}

/** A signal that fires when the process is asked to stop. */
export interface Shutdown {
  readonly signal: AbortSignal;
  /** Stops listening to the process. */
  readonly dispose: () => void;
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** SIGINT and SIGTERM fire the signal with a {@link StopRequest}; a second one leaves at once with exit code 1. */
export function createShutdown(deps: ShutdownDeps): Shutdown {
  const controller = new AbortController();
  const onSignal = (by: NodeJS.Signals): void => {
    if (controller.signal.aborted) deps.exit(EXIT.fatal);
    else controller.abort(new StopRequest(by));
  };
  for (const name of SIGNALS) deps.process.on(name, onSignal);
  return {
    signal: controller.signal,
    dispose: () => {
      for (const name of SIGNALS) deps.process.off(name, onSignal);
    },
  };
}
