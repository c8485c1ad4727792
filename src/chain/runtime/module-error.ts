/**
 * A failure that belongs to a transaction or query: it fails with this codespace, code and text.
 * Any other exception in chain code is a bug of ours and stops the machine.
 */
export class ModuleError extends Error {
  readonly codespace: string;
  readonly code: number;
  /** The registered description of (codespace, code), always the last part of the text. */
  readonly description: string;

  /** `text` is the whole ABCI log, wraps first: "outer: inner: description". `description` defaults to its last part. */
  constructor(codespace: string, code: number, text: string, description?: string) {
    super(text);
    this.name = "ModuleError";
    this.codespace = codespace;
    this.code = code;
    this.description = description ?? text.slice(text.lastIndexOf(": ") + 1).trim();
  }

  /** The same error with words put in front, as Go's `Wrap` does: "words: text". */
  wrap(words: string): ModuleError {
    return new ModuleError(this.codespace, this.code, `${words}: ${this.message}`, this.description);
  }
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
