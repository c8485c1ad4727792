import { CommanderError } from "commander";
import { CodedError, errorText, EXIT, type ExitCode } from "../base/errors.ts";
import { StopRequest } from "../process/shutdown.ts";
import { CheckExit } from "./check-exit.ts";
import { CliError } from "./cli-error.ts";

/** Error codes caused by the configuration. A supervisor must not restart the process. */
const BAD_CONFIG: ReadonlySet<string> = new Set([
  "bad-config",
  "wrong-chain",
  "bad-key",
  "bad-endpoint",
  "other-genesis",
  "home-unusable",
  "missing-module",
  "missing-upgrade",
  "state-unusable",
  "storage-unreadable",
  "bad-genesis",
  "log-output",
]);

/** Maps a command's error to the process exit code and the message for stderr, if any. */
export function toExit(error: unknown): {
  readonly exitCode: ExitCode;
  readonly message: string | undefined;
} {
  if (error instanceof StopRequest) return { exitCode: EXIT.ok, message: undefined };
  if (error instanceof CheckExit) return { exitCode: error.exitCode, message: undefined };
  if (error instanceof CliError) return { exitCode: error.facts.exitCode, message: errorText(error) };
  if (error instanceof CommanderError) {
    // Commander has already printed the help, the version or the error.
    return { exitCode: error.exitCode === 0 ? EXIT.ok : EXIT.usage, message: undefined };
  }
  if (error instanceof CodedError && isBadConfig(error.facts)) {
    return { exitCode: EXIT.badConfig, message: error.message };
  }
  return { exitCode: EXIT.fatal, message: errorText(error) };
}

function isBadConfig(facts: unknown): boolean {
  if (typeof facts !== "object" || facts === null || !("code" in facts)) return false;
  return typeof facts.code === "string" && BAD_CONFIG.has(facts.code);
}
