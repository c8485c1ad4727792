/** Exit codes of every Relaywatch process. */
export const EXIT = {
  /** The process was asked to stop, or a check found no problem. */
  ok: 0,
  /** Fatal error, or a check found a problem. */
  fatal: 1,
  /** Wrong command line. */
  usage: 2,
  /** A check could not read what it needs. */
  unseen: 3,
  /** Temporary failure. A supervisor restarts the process. */
  tryAgain: 75,
  /** Bad configuration. A supervisor must not restart the process. */
  badConfig: 78,
} as const;

/** One of the values of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
