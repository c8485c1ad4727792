interface ErrorFacts {
  readonly code: string;
}

/**
 * An error with a message for people and facts for programs. Each area declares `class XError extends CodedError<XErrorFacts>` with
 * a union of `{code, …facts}`. Neither the message nor the facts contain a secret or a full URL.
 */
export class CodedError<Facts extends ErrorFacts> extends Error {
  readonly facts: Facts;

  constructor(facts: Facts, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.facts = facts;
  }
}

/** Returns a thrown value's message, followed by its causes' messages, separated by colons. */
export function errorText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown === "string" ? thrown : JSON.stringify(thrown);
  const cause = thrown.cause === undefined ? "" : `: ${errorText(thrown.cause)}`;
  return `${thrown.message}${cause}`;
}

/** Returns a thrown value's message without the messages of its causes. */
export function errorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Returns the result of `work`, or undefined if `work` throws. Use this function only where the cause of the error is irrelevant. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Throws an error for a state that the types allow but that a correct program never reaches. */
export function unreachable(what: string): never {
  throw new Error(`this is a bug: ${what}`);
}

/** A value or an error, for operations whose failure is an expected outcome. */
export type Result<T, F> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: F };

export function good<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function bad<F>(error: F): { readonly ok: false; readonly error: F } {
  return { ok: false, error };
}

/** Exit codes that all Relaywatch processes use. */
export const EXIT = {
  /** Success: the work is done, a check found no problem, or a daemon stopped on request. */
  ok: 0,
  /** Fatal error, an interrupted command, or a problem found by a check. */
  fatal: 1,
  /** The command line is invalid. */
  usage: 2,
  /** A check could not read the data that it needs. */
  unseen: 3,
  /** Temporary failure, after which a supervisor should restart the process. */
  tryAgain: 75,
  /** Bad configuration, after which a supervisor must not restart the process. */
  badConfig: 78,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Error that ends a command with a message on stderr and an exit code. */
export class CliError extends CodedError<{ readonly code: "cli"; readonly exitCode: ExitCode }> {
  constructor(exitCode: ExitCode, message: string, options?: { readonly cause?: unknown }) {
    super({ code: "cli", exitCode }, message, options);
  }
}

/** Error that ends a check with an exit code and no message, because the check has already printed its findings. */
export class CheckExit extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super("the check found a problem");
    this.exitCode = exitCode;
  }
}
