/** Description and wraps of an error. Its text alone is ambiguous, since a wrap may contain ": ". */
export interface ErrorOrigin {
  readonly description: string;
  readonly wraps?: readonly string[];
}

/**
 * A failure of a transaction or query, as the SDK reports it: codespace, code and text. Any other exception in chain
 * code is a bug of ours and stops the machine.
 */
export class ModuleError extends Error {
  readonly codespace: string;
  readonly code: number;
  /** The registered description of (codespace, code). It is always the last part of the text. */
  readonly description: string;
  /** The texts in front of the description, innermost first. The text of one wrap may itself contain ": ". */
  readonly wraps: readonly string[];

  /**
   * `text` is the complete ABCI log with the outermost wrap first: "outer: inner: description". `origin` is the
   * description, or the description and the wraps; by default the description is what follows the last ": ".
   */
  constructor(codespace: string, code: number, text: string, origin?: string | ErrorOrigin) {
    super(text);
    this.name = "ModuleError";
    this.codespace = codespace;
    this.code = code;
    const given = typeof origin === "string" ? { description: origin } : origin;
    this.description = given?.description ?? text.slice(text.lastIndexOf(": ") + 1).trim();
    this.wraps = given?.wraps ?? wrapsBefore(text, this.description);
  }

  /** Returns the same error with a text in front, as Go's `errorsmod.Wrap`: "words: text". */
  wrap(words: string): ModuleError {
    const { description } = this;
    const wraps = [...this.wraps, words];
    return new ModuleError(this.codespace, this.code, `${words}: ${this.message}`, { description, wraps });
  }
}

function wrapsBefore(text: string, description: string): readonly string[] {
  const suffix = `: ${description}`;
  return text.endsWith(suffix) ? [text.slice(0, -suffix.length)] : [];
}

/** Creates an error of a registered kind: `ErrX()` is the bare description, `ErrX("words")` is "words: description". */
export type ErrorKind = (words?: string) => ModuleError;

/**
 * Registers an error kind, as Go's `errorsmod.Register`. Each module has its kinds in `errors.ts`, one constant for
 * each under its Go name: `export const ErrSendDisabled = registerError("bank", 5, "send transactions are disabled")`.
 * `throw ErrSendDisabled(words)` raises one.
 */
export function registerError(codespace: string, code: number, description: string): ErrorKind {
  return (words) =>
    new ModuleError(
      codespace,
      code,
      words === undefined ? description : `${words}: ${description}`,
      description,
    );
}

/** Creates an error that the Go code never registered (`errors.New`): ABCI reports it as code 1 of codespace "undefined". */
export function unregisteredError(text: string): ModuleError {
  return new ModuleError("undefined", 1, text, text);
}
