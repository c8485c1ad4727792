/** Parts of an error that its text alone does not tell apart. */
export interface ErrorOrigin {
  readonly description: string;
  readonly wraps?: readonly string[];
}

/**
 * A failure that belongs to a transaction or query: it fails with this codespace, code and text.
 * Any other exception in chain code is a bug of ours and stops the machine.
 */
export class ModuleError extends Error {
  readonly codespace: string;
  readonly code: number;
  /** The registered description of (codespace, code), always the last part of the text. */
  readonly description: string;
  /** What was put in front of the description, the inner words first; words of one wrap may hold ": " themselves. */
  readonly wraps: readonly string[];

  /**
   * `text` is the whole ABCI log, wraps first: "outer: inner: description". `origin` is the description, by default the
   * last part of the text, or that and the wraps.
   */
  constructor(codespace: string, code: number, text: string, origin?: string | ErrorOrigin) {
    super(text);
    this.name = "ModuleError";
    this.codespace = codespace;
    this.code = code;
    const known = typeof origin === "string" ? { description: origin } : origin;
    this.description = known?.description ?? text.slice(text.lastIndexOf(": ") + 1).trim();
    this.wraps = known?.wraps ?? wordsBefore(text, this.description);
  }

  /** The same error with words put in front, as Go's `Wrap` does: "words: text". */
  wrap(words: string): ModuleError {
    const { description } = this;
    const wraps = [...this.wraps, words];
    return new ModuleError(this.codespace, this.code, `${words}: ${this.message}`, { description, wraps });
  }
}

function wordsBefore(text: string, description: string): readonly string[] {
  const suffix = `: ${description}`;
  return text.endsWith(suffix) ? [text.slice(0, -suffix.length)] : [];
}

/** A registered error kind; call it to make an error of it with a wrap text ("text: description"), or bare. */
export type ErrorKind = (text?: string) => ModuleError;

/** Declares an error kind as Go's `errors.Register` does. */
export function registerError(codespace: string, code: number, description: string): ErrorKind {
  return (text) =>
    new ModuleError(
      codespace,
      code,
      text === undefined ? description : `${text}: ${description}`,
      description,
    );
}
