import { CommanderError } from "commander";
import { CodedError, errorText } from "../base/errors.ts";
import { EXIT, type ExitCode } from "../base/exit-codes.ts";
import { ConfigError } from "../ops/config-error.ts";
import { StopRequest } from "../ops/shutdown.ts";
import { CliError } from "./cli-error.ts";

/** Codes of errors that come from what was configured: starting again would not help. */
const BAD_CONFIG: ReadonlySet<string> = new Set([
  "bad-config",
  "wrong-chain",
  "bad-key",
  "bad-endpoint",
  "other-genesis",
  "home-unusable",
  "state-unusable",
  "bad-genesis",
]);

/** What a command's error means for the process: its exit code, and the words for stderr (none when all was said). */
export function toExit(error: unknown): {
  readonly exitCode: ExitCode;
  readonly message: string | undefined;
} {
  if (error instanceof StopRequest) return { exitCode: EXIT.ok, message: undefined };
  if (error instanceof CliError) return { exitCode: error.facts.exitCode, message: errorText(error) };
  if (error instanceof CommanderError) {
    // Commander has printed help, version or the mistake already.
    return { exitCode: error.exitCode === 0 ? EXIT.ok : EXIT.usage, message: undefined };
  }
  if (error instanceof ConfigError) return { exitCode: EXIT.badConfig, message: error.message };
  if (error instanceof CodedError && isBadConfig(error.facts)) {
    return { exitCode: EXIT.badConfig, message: error.message };
  }
  return { exitCode: EXIT.fatal, message: errorText(error) };
}

function isBadConfig(facts: unknown): boolean {
  if (typeof facts !== "object" || facts === null || !("code" in facts)) return false;
  return typeof facts.code === "string" && BAD_CONFIG.has(facts.code);
}
