import { CodedError } from "../base/errors.ts";

/** One error in a configuration file. `line` and `column` count from 1. */
export interface ConfigIssue {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Keys from the root, joined by dots. Empty for an error of the file itself. */
  readonly path: string;
  /** "is a number (expected text)". Never contains the value, which may be a secret. */
  readonly text: string;
}

/** An invalid configuration. The message has one line for each error. */
export class ConfigError extends CodedError<{
  readonly code: "bad-config";
  readonly errors: readonly ConfigIssue[];
}> {
  constructor(errors: readonly ConfigIssue[], options?: { readonly cause?: unknown }) {
    super({ code: "bad-config", errors }, errors.map(formatConfigIssue).join("\n"), options);
  }
}

/** Formats an error as `file:line:column: path: text`. */
export function formatConfigIssue(error: ConfigIssue): string {
  const place = `${error.file}:${error.line}:${error.column}`;
  return error.path === "" ? `${place}: ${error.text}` : `${place}: ${error.path}: ${error.text}`;
}
