import { writeFileSync } from "node:fs";
import type { PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import { ClientError } from "../../cosmos/client-error.ts";
import { fromUtf8, utf8 } from "../../platform/base/bytes.ts";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { formatCount } from "../../platform/base/text.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { column, formatTable } from "../../platform/cli/table.ts";
import {
  type GasReports,
  PROFILE_FORMATS,
  type ProfileOptions,
  type ProfileRequest,
} from "../../localnet/cli/gas-reports.ts";
import { chainGasText, gasByPlace, percentText, totalGas } from "../profile/gas-places.ts";
import {
  formatOfFile,
  formatProfile,
  parseProfileReport,
  PROFILE_PATH,
  type ProfileReport,
  profileRequestJson,
} from "../profile/profile-json.ts";

export const gasReports: GasReports = { save, stacks };

/** Requests a profile from a local chain's node. Throws `ClientError`. */
async function fetchProfile(
  client: PooledChainClient,
  request: ProfileRequest,
  signal: AbortSignal,
): Promise<ProfileReport> {
  const data = utf8(stringifyJson(profileRequestJson(request)));
  return parseProfileReport(JSON.parse(fromUtf8(await client.grpcQuery(PROFILE_PATH, data, signal, 0n))));
}

async function save(
  client: PooledChainClient,
  request: ProfileRequest,
  options: ProfileOptions,
  context: CliContext,
): Promise<void> {
  const { profile: file, profileFormat } = options;
  if (file === undefined) return;
  const report = await fetchProfile(client, request, context.signal).catch((error: unknown) => {
    throw toProfileError(error);
  });
  const title = request.kind === "tx" ? `transaction ${request.hash}` : request.kind;
  try {
    const format = PROFILE_FORMATS.find((one) => one === profileFormat) ?? formatOfFile(file);
    writeFileSync(file, formatProfile(report, format, title));
  } catch (cause) {
    throw new CliError(EXIT.badConfig, `cannot write ${file}`, { cause });
  }
  if (options.json === undefined) context.print(`\n${profileTable(report)}\nprofile in ${file}`);
}

function toProfileError(error: unknown): unknown {
  if (!(error instanceof ClientError) || error.facts.code !== "abci") return error;
  const { log } = error.facts;
  const text = isUnknownPath(error)
    ? "the node does not support profiles; only local chains of this version do"
    : log;
  return new CliError(EXIT.fatal, `no profile: ${text}`, { cause: error });
}

function isUnknownPath(error: unknown): boolean {
  return (
    error instanceof ClientError && error.facts.code === "abci" && /unknown query path/.test(error.facts.log)
  );
}

/** Formats failed Wasm calls and the functions running in them, or returns "" if no call failed or the node cannot make a profile. */
async function stacks(
  client: PooledChainClient,
  request: ProfileRequest,
  signal: AbortSignal,
): Promise<string> {
  try {
    return stacksText(await fetchProfile(client, request, signal));
  } catch (error) {
    // Ignore errors other than an abort, because the caller reports the transaction's error.
    if (signal.aborted) throw error;
    return "";
  }
}

/** Maximum number of functions to print per stack. */
const MAX_FRAMES = 30;

function stacksText({ failures }: ProfileReport): string {
  return failures
    .flatMap(({ error, stack }) => [
      error.replaceAll("\n", "\n  "),
      ...stack.slice(0, MAX_FRAMES).map((frame) => `    at ${frame}`),
      ...(stack.length > MAX_FRAMES ? [`    … ${stack.length - MAX_FRAMES} more`] : []),
    ])
    .map((line) => `\n  ${line}`)
    .join("");
}

const MAX_ROWS = 25;

/** Formats the places that used the most gas themselves, in the chain's gas, followed by the stacks of failed calls. */
function profileTable(report: ProfileReport): string {
  const whole = totalGas(report.root);
  const places = gasByPlace(report.root).filter(({ self }) => self !== 0n);
  const rows = places.slice(0, MAX_ROWS).map(({ place, name, calls, self, total }) => ({
    self: chainGasText(self),
    share: percentText(self, whole),
    total: chainGasText(total),
    calls: formatCount(calls),
    place,
    name,
  }));
  const table = formatTable(
    [
      column("SELF GAS", "self"),
      column("%", "share"),
      column("TOTAL GAS", "total"),
      column("CALLS", "calls"),
      column("PLACE", "place"),
      column("NAME", "name"),
    ],
    rows,
  );
  const more = places.length > MAX_ROWS ? `\n… and ${places.length - MAX_ROWS} more` : "";
  return `${table}${more}\ngas used: ${report.gasUsed}${stacksText(report)}`;
}
