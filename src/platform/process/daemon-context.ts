import type { Clock } from "../base/clock.ts";
import type { Logger, LogLevelControl } from "../base/logger.ts";
import type { BuildInfo } from "./build-info.ts";
import type { ServiceManager } from "./service-manager.ts";

/** Dependencies that the process passes to a daemon. */
export interface DaemonContext {
  /** Aborts when the process receives SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly build: BuildInfo;
  /** Absent: the log level is fixed. */
  readonly logLevel?: LogLevelControl;
  /** Calls `listener` at each SIGHUP. Returns a function that removes it. */
  readonly onHangup?: (listener: () => void) => () => void;
  /** Absent: no service manager has started the process. */
  readonly serviceManager?: ServiceManager;
  /** Option that moves the port of the daemon's HTTP server. Absent: the key `http.listen` of its configuration. */
  readonly portOption?: string;
  /** Replaces the configuration keys in a text by the names under which the operator has set them. Absent: the keys. */
  readonly nameSettings?: (text: string) => string;
}

/** Configuration key of the address of a daemon's HTTP server. */
export const LISTEN_KEY = "http.listen";

/** A listening server of a daemon. */
export interface DaemonEndpoint {
  /** e.g. "icq-relayer HTTP" */
  readonly name: string;
  /** e.g. "http://127.0.0.1:9999" */
  readonly url: string;
}
