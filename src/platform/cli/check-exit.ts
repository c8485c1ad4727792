import type { ExitCode } from "../base/errors.ts";

/** Ends a check with an exit code. What it found is printed already, so there is no message. */
export class CheckExit extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super("the check found a problem");
    this.exitCode = exitCode;
  }
}
