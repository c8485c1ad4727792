import { CodedError } from "../base/errors.ts";

/** One thing that is wrong in a configuration file. `line` and `column` count from 1. */
export interface ConfigFault {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Keys from the top joined by dots; empty for the file as a whole. */
  readonly path: string;
  /** What is wrong, then in brackets what was expected. Never the value itself. */
  readonly text: string;
}

/** A configuration that cannot be used; the message lists every fault, one a line. */
export class ConfigError extends CodedError<{
  readonly code: "bad-config";
  readonly faults: readonly ConfigFault[];
}> {
  constructor(faults: readonly ConfigFault[], options?: { readonly cause?: unknown }) {
    super({ code: "bad-config", faults }, faults.map(formatConfigFault).join("\n"), options);
  }
}

/** `file:line:column: path: what is wrong (what was expected)`. */
export function formatConfigFault(fault: ConfigFault): string {
  const place = `${fault.file}:${fault.line}:${fault.column}`;
  return fault.path === "" ? `${place}: ${fault.text}` : `${place}: ${fault.path}: ${fault.text}`;
}
