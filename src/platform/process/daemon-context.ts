import type { Clock } from "../base/clock.ts";
import type { Logger, LogLevelControl } from "../base/logger.ts";
import type { BuildInfo } from "./build-info.ts";
import type { ServiceManager } from "./service-manager.ts";

export interface DaemonContext {
  /** Aborts when the process receives SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  readonly build: BuildInfo;
  /** Changes the log level; absent if the level is fixed. */
  readonly logLevel?: LogLevelControl;
  /** Calls `listener` on each SIGHUP, and returns a function that removes the listener. */
  readonly onHangup?: (listener: () => void) => () => void;
  /** The service manager that started the process, if any. */
  readonly serviceManager?: ServiceManager;
  /** Option that changes the port of the daemon's HTTP server; by default, the configuration key `http.listen`. */
  readonly portOption?: string;
  /** Replaces configuration keys in a message with the names by which the operator set them. If absent, messages show the keys. */
  readonly nameSettings?: (text: string) => string;
}

export const LISTEN_KEY = "http.listen";

export interface DaemonEndpoint {
  /** Name of the endpoint, for example "icq-relayer HTTP". */
  readonly name: string;
  /** URL of the endpoint, for example "http://127.0.0.1:9999". */
  readonly url: string;
}
