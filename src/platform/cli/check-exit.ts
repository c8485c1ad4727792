import type { ExitCode } from "../base/errors.ts";

/** Ends a check with an exit code. Its findings are already printed, so there is no message. */
export class CheckExit extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super("the check found a problem");
    this.exitCode = exitCode;
  }
}
