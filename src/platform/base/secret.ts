import { inspect } from "node:util";

const REDACTED = "[redacted]";

/** A string that prints as `[redacted]` in JSON, logs, templates and `util.inspect`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Returns the secret in plain text. Call this method only where the secret is sent. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}
