/** What every coded error carries: a machine code and the facts that belong to it. */
export interface ErrorFacts {
  readonly code: string;
}

/**
 * An error for a person (message) and a program (facts). Each area declares `class XError extends CodedError<XErrorFacts>`
 * with a union of `{code, …facts}`. Neither message nor facts hold a secret or a full URL.
 */
export class CodedError<Facts extends ErrorFacts> extends Error {
  readonly facts: Facts;

  constructor(facts: Facts, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.facts = facts;
  }
}

/** The message of anything that was thrown; `cause` messages follow, joined by ": ". */
export function errorText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown === "string" ? thrown : JSON.stringify(thrown);
  const cause = thrown.cause === undefined ? "" : `: ${errorText(thrown.cause)}`;
  return `${thrown.message}${cause}`;
}

/** Throws: for states that the types allow and the program does not. */
export function unreachable(what: string): never {
  throw new Error(`this is a bug: ${what}`);
}
