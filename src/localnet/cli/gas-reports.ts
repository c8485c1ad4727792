import { type Command, Option } from "commander";
import type { PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { type Inputs, toOption } from "./command-inputs.ts";

/** Selects what to profile: an executed transaction, a transaction simulated on the latest state, or a query. */
export type ProfileRequest =
  /** SHA-256 hash of the transaction, in hex. */
  | { readonly kind: "tx"; readonly hash: string }
  /** Encoded transaction in base64, signed or unsigned. */
  | { readonly kind: "simulation"; readonly tx: string }
  /** gRPC path and the encoded request, in base64. */
  | { readonly kind: "query"; readonly path: string; readonly request: string };

/** `json` is the complete tree, `speedscope` is for speedscope.app, and `folded` is for flamegraph.pl and similar programs. */
export const PROFILE_FORMATS = ["json", "speedscope", "folded"] as const;

/** Gas profile options of the commands that call contracts. */
export interface ProfileOptions {
  /** File to which the command writes the profile. If undefined, no profile is created. */
  readonly profile?: string;
  readonly profileFormat?: string;
  readonly json?: true;
}

/** Gas profiles and call stacks of contract calls. The program that registers the commands supplies the implementation. */
export interface GasReports {
  /** If `--profile` is set, writes the profile and, unless the output is JSON, prints its table. Throws `CliError`. */
  readonly save: (
    client: PooledChainClient,
    request: ProfileRequest,
    options: ProfileOptions,
    context: CliContext,
  ) => Promise<void>;
  /** Returns a text that lists the failed Wasm calls with their call stacks. Returns an empty string if the call stacks are unknown. */
  readonly stacks: (
    client: PooledChainClient,
    request: ProfileRequest,
    signal: AbortSignal,
  ) => Promise<string>;
}

interface ReportingContext extends CliContext {
  readonly gasReports: GasReports;
}

export function withGasReports(context: CliContext, gasReports: GasReports): ReportingContext {
  return { ...context, gasReports };
}

/** Returns a context's gas reports, or undefined if the program supplies none. */
export function gasReportsOf(context: CliContext): GasReports | undefined {
  return isReporting(context) ? context.gasReports : undefined;
}

function isReporting(context: CliContext): context is ReportingContext {
  return "gasReports" in context;
}

/** Command-line options for {@link ProfileOptions}. Their keys start with a dash, because the options set no message fields. */
export const PROFILE_OPTIONS = {
  "--profile": ["--profile <file>", "write a gas profile by function; local chains only"],
  "--profile-format": () =>
    new Option(
      "--profile-format <format>",
      "default: by file name (*.speedscope.json, *.folded), otherwise json",
    ).choices(PROFILE_FORMATS),
} as const satisfies Inputs["options"];

export function addProfileOptions(command: Command): Command {
  for (const option of Object.values(PROFILE_OPTIONS)) command.addOption(toOption(option));
  return command;
}
