import { type Command, Option } from "commander";
import type { PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { type Inputs, toOption } from "./command-inputs.ts";

/** What to profile: an executed transaction, a transaction on the latest state, or a query. */
export type ProfileRequest =
  /** SHA-256 hash of the transaction, hex. */
  | { readonly kind: "tx"; readonly hash: string }
  /** Encoded transaction, base64. Signatures may be missing. */
  | { readonly kind: "simulation"; readonly tx: string }
  /** gRPC path, and the encoded request, base64. */
  | { readonly kind: "query"; readonly path: string; readonly request: string };

/** `json`: the complete tree. `speedscope`: for speedscope.app. `folded`: stacks for flamegraph.pl and similar programs. */
export const PROFILE_FORMATS = ["json", "speedscope", "folded"] as const;

/** Options of commands that call contracts. */
export interface ProfileOptions {
  /** The profile's file. Undefined: no profile is made. */
  readonly profile?: string;
  readonly profileFormat?: string;
  readonly json?: true;
}

/** Reports to commands where a contract call used its gas. The program supplies it. */
export interface GasReports {
  /** Writes the profile requested by `--profile`, and prints its table. Throws `CliError`. */
  readonly save: (
    client: PooledChainClient,
    request: ProfileRequest,
    options: ProfileOptions,
    context: CliContext,
  ) => Promise<void>;
  /** Returns the failed Wasm calls with the functions that were running; "" if nothing is known about them. */
  readonly stacks: (
    client: PooledChainClient,
    request: ProfileRequest,
    signal: AbortSignal,
  ) => Promise<string>;
}

interface ReportingContext extends CliContext {
  readonly gasReports: GasReports;
}

/** Returns a context whose commands have gas reports. */
export function withGasReports(context: CliContext, gasReports: GasReports): ReportingContext {
  return { ...context, gasReports };
}

/** Returns a context's gas reports; undefined if its program has none. */
export function gasReportsOf(context: CliContext): GasReports | undefined {
  return isReporting(context) ? context.gasReports : undefined;
}

function isReporting(context: CliContext): context is ReportingContext {
  return "gasReports" in context;
}

/** The options in {@link ProfileOptions}. They set no message field. */
export const PROFILE_OPTIONS = {
  "--profile": ["--profile <file>", "write where the gas was used, by function; local chains only"],
  "--profile-format": () =>
    new Option(
      "--profile-format <format>",
      "default: by the file's name, *.speedscope.json, *.folded, otherwise json",
    ).choices(PROFILE_FORMATS),
} as const satisfies Inputs["options"];

/** Adds the options in {@link ProfileOptions}. */
export function addProfileOptions(command: Command): Command {
  for (const option of Object.values(PROFILE_OPTIONS)) command.addOption(toOption(option));
  return command;
}
