import { CodedError, type ExitCode } from "../base/errors.ts";

/** Ends a command with a message on stderr and an exit code. */
export class CliError extends CodedError<{ readonly code: "cli"; readonly exitCode: ExitCode }> {
  constructor(exitCode: ExitCode, message: string, options?: { readonly cause?: unknown }) {
    super({ code: "cli", exitCode }, message, options);
  }
}

/** Ends a check with an exit code. The check has already printed its findings, so there is no message. */
export class CheckExit extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super("the check found a problem");
    this.exitCode = exitCode;
  }
}
