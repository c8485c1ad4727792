/** Machine-readable part of an error: a code and the facts that belong to it. */
export interface ErrorFacts {
  readonly code: string;
}

/**
 * Error with a message for people and facts for programs. Each area declares `class XError extends
 * CodedError<XErrorFacts>` with a union of `{code, …facts}`. Neither message nor facts contain a secret or a full URL.
 */
export class CodedError<Facts extends ErrorFacts> extends Error {
  readonly facts: Facts;

  constructor(facts: Facts, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.facts = facts;
  }
}

/** Returns the message of a thrown value, followed by the messages of its causes, joined by ": ". */
export function errorText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown === "string" ? thrown : JSON.stringify(thrown);
  const cause = thrown.cause === undefined ? "" : `: ${errorText(thrown.cause)}`;
  return `${thrown.message}${cause}`;
}

/** Throws for a state that the types allow but the program never reaches. */
export function unreachable(what: string): never {
  throw new Error(`this is a bug: ${what}`);
}
