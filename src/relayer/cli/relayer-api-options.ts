import { type Command, InvalidArgumentError, Option } from "commander";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import { EXIT } from "../../platform/base/errors.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { isPlainHttpUrl, secretField } from "../../platform/config/config-fields.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { askDaemon, type DaemonRequest } from "../../platform/cli/daemon-request.ts";
import { portOffsetOption } from "../../platform/cli/options.ts";

/** Options that select a running relayer's HTTP API. */
export interface RelayerApiOptions {
  readonly url?: string;
  /** Without a URL: of the relayer on this machine. Default: 0. */
  readonly portOffset?: number;
  readonly json?: true;
}

/** Adds the options of {@link RelayerApiOptions} to a command. */
export function addRelayerApiOptions(command: Command): Command {
  return command
    .addOption(urlOption("--url <url>"))
    .addOption(portOffsetOption())
    .option("--json", "print JSON");
}

/** An option with the API's base URL. */
export function urlOption(
  flags: string,
  description = "the relayer's HTTP API; default: that on this machine",
): Option {
  return new Option(flags, description).argParser(parseUrl);
}

/** Reads an API path. Throws `CliError`. */
export function readRelayer(options: RelayerApiOptions, path: string, signal: AbortSignal): Promise<unknown> {
  return askRelayer({ path }, options, signal);
}

/** A request to the API. */
export type RelayerRequest = Pick<DaemonRequest, "path" | "method" | "body" | "deadlineMs">;

/** Sends a request to the API, with the token of the file if one is named. Throws `CliError`. */
export function askRelayer(
  asked: RelayerRequest,
  options: RelayerApiOptions & { readonly tokenFile?: string },
  signal: AbortSignal,
): Promise<unknown> {
  const token = readTokenFile(options.tokenFile);
  const place = { daemon: "icq-relayer", url: relayerUrl(options), hint: HINT };
  return askDaemon({ ...asked, ...place, ...(token === undefined ? {} : { token }) }, signal);
}

const HINT = "start it, or select another one with --url or --port-offset";

/** The selected URL. Default: the address in `http.listen`. */
export function relayerUrl({ url, portOffset = 0 }: RelayerApiOptions): string {
  return url ?? `http://127.0.0.1:${portsAt(portOffset).relayer}`;
}

function parseUrl(text: string): string {
  if (isPlainHttpUrl(text)) return text.replace(/\/+$/, "");
  throw new InvalidArgumentError("a URL such as http://127.0.0.1:9999 was expected");
}

/** Reads the token from the file `--token-file`. Throws `CliError`. */
export function readTokenFile(file: string | undefined): Secret | undefined {
  if (file === undefined) return undefined;
  const read = secretField().safeParse({ file });
  if (read.success) return read.data;
  throw new CliError(EXIT.badConfig, `--token-file: ${read.error.issues[0]?.message ?? "cannot be read"}`);
}
