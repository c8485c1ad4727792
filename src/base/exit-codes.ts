/** Exit codes of every Relaywatch process (DESIGN: "Faces and defaults"). */
export const EXIT = {
  /** asked to stop, or the check is fine */
  ok: 0,
  /** a fatal error; for checks: a problem was found */
  fatal: 1,
  /** wrong command line */
  usage: 2,
  /** for checks: cannot see */
  unseen: 3,
  /** try again: a supervisor restarts */
  tryAgain: 75,
  /** bad configuration: do not restart */
  badConfig: 78,
} as const;

/** One of the values of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
