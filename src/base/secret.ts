import { inspect } from "node:util";

const REDACTED = "[redacted]";

/** A text that must not be seen: prints as `[redacted]` in JSON, logs, templates and the inspector. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The text itself, for the one place that sends it. */
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
