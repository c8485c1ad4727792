import { CommanderError } from "commander";
import { CodedError, errorText } from "../base/errors.ts";
import { EXIT, type ExitCode } from "../base/exit-codes.ts";
import { ConfigError } from "../ops/config-error.ts";
import { StopRequest } from "../ops/shutdown.ts";
import { CliError } from "./cli-error.ts";

/** Codes of faults that come from what was configured: starting again would not help. */
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

/** What a command's fault means for the process: its exit code, and the words for stderr (none when all was said). */
export function toExit(fault: unknown): {
  readonly exitCode: ExitCode;
  readonly message: string | undefined;
} {
  if (fault instanceof StopRequest) return { exitCode: EXIT.ok, message: undefined };
  if (fault instanceof CliError) return { exitCode: fault.facts.exitCode, message: errorText(fault) };
  if (fault instanceof CommanderError) {
    // Commander has printed help, version or the mistake already.
    return { exitCode: fault.exitCode === 0 ? EXIT.ok : EXIT.usage, message: undefined };
  }
  if (fault instanceof ConfigError) return { exitCode: EXIT.badConfig, message: fault.message };
  if (fault instanceof CodedError && isBadConfig(fault.facts)) {
    return { exitCode: EXIT.badConfig, message: fault.message };
  }
  return { exitCode: EXIT.fatal, message: errorText(fault) };
}

function isBadConfig(facts: unknown): boolean {
  if (typeof facts !== "object" || facts === null || !("code" in facts)) return false;
  return typeof facts.code === "string" && BAD_CONFIG.has(facts.code);
}
