import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { BuildInfo } from "./build-info.ts";

/** What a daemon gets from the process that runs it. */
export interface DaemonContext {
  /** Fires when the process is asked to stop. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly clock: Clock;
  /** gives [0, 1) */
  readonly random: () => number;
  readonly build: BuildInfo;
}

/** What is known once a daemon listens. */
export interface DaemonEndpoint {
  /** What it is, e.g. "icq-relayer HTTP". */
  readonly name: string;
  /** Where it listens, e.g. "http://127.0.0.1:9999". */
  readonly url: string;
}
