import { inspect } from "node:util";

const REDACTED = "[redacted]";

/** A text that never shows in logs, errors or JSON: only {@link Secret.reveal} gives it. */
export interface Secret {
  /** The text itself; hand it on at once and keep no copy. */
  readonly reveal: () => string;
  readonly toString: () => string;
  readonly toJSON: () => string;
}

/** Wraps a secret text; printing, interpolating, inspecting or serialising the wrapper gives "[redacted]". */
export function createSecret(text: string): Secret {
  const secret = { reveal: () => text, toString: redacted, toJSON: redacted, [inspect.custom]: redacted };
  return Object.freeze(secret);
}

function redacted(): string {
  return REDACTED;
}
