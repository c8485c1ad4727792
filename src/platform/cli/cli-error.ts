import { CodedError, type ExitCode } from "../base/errors.ts";

/** Ends a command with a message on stderr and an exit code. */
export class CliError extends CodedError<{ readonly code: "cli"; readonly exitCode: ExitCode }> {
  constructor(exitCode: ExitCode, message: string, options?: { readonly cause?: unknown }) {
    super({ code: "cli", exitCode }, message, options);
  }
}
