import type { Command, Option } from "commander";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { httpUrl, withoutSecrets } from "../../platform/config/config-fields.ts";
import { loadDaemonConfig } from "../../platform/config/daemon-config.ts";
import { askDaemon, type DaemonRequest } from "../../platform/cli/daemon-request.ts";
import { daemonUrlOption, portOffsetOption } from "../../platform/cli/options.ts";
import { controlToken, controlTokenFile, readSecret, readTokenFile } from "../../platform/cli/state-home.ts";
import { valueAt } from "../../platform/base/json.ts";
import { tokenFileIn } from "../../platform/process/private-file.ts";
import { relayerConfigKind } from "../config/relayer-config.ts";
import { jsonOption } from "../../platform/cli/cli-context.ts";

export interface RelayerApiOptions {
  readonly url?: string;
  /** Port offset of this machine's relayer, for use without a URL. Default: 0. */
  readonly portOffset?: number;
  readonly json?: true;
}

export function addRelayerApiOptions(command: Command): Command {
  return command.addOption(urlOption("--url <url>")).addOption(portOffsetOption()).addOption(jsonOption());
}

export function urlOption(
  flags: string,
  description = "the relayer's HTTP API; default: the one on this machine",
): Option {
  return daemonUrlOption(flags, description);
}

/** Sends a GET request to the API. Throws `CliError`. */
export function readRelayer(options: RelayerApiOptions, path: string, signal: AbortSignal): Promise<unknown> {
  return askRelayer({ path }, options, signal);
}

export type RelayerRequest = Pick<DaemonRequest, "path" | "method" | "body" | "deadlineMs">;

/** Options for commands that change a running relayer. */
export interface RelayerControlOptions extends RelayerApiOptions {
  readonly config?: string;
  readonly tokenFile?: string;
}

export function addRelayerControlOptions(command: Command): Command {
  return addRelayerApiOptions(command)
    .option("--config <file>", "the relayer's configuration, for its address and the location of its token")
    .option("--token-file <file>", "file with the relayer's bearer token; default: the file in --config");
}

/** Sends a request to the API, with the relayer's token if the request changes something. Throws `CliError`. */
export function askRelayer(
  asked: RelayerRequest,
  options: RelayerControlOptions,
  signal: AbortSignal,
): Promise<unknown> {
  const { url, token, tokenHint } = placeOf(options, asked.method !== undefined);
  const place = { daemon: "icq-relayer", url, hint: HINT, tokenHint };
  return askDaemon({ ...asked, ...place, ...(token === undefined ? {} : { token }) }, signal);
}

const HINT = "start it, or select another one with --url or --port-offset";

interface Place {
  readonly url: string;
  readonly token?: Secret | undefined;
  readonly tokenHint: string;
}

function placeOf(options: RelayerControlOptions, needsToken: boolean): Place {
  const { config, tokenFile, portOffset = 0 } = options;
  const configured = config === undefined ? undefined : readPlace(config);
  const url = options.url ?? configured?.url ?? relayerUrl(options);
  if (!needsToken) return { url, tokenHint: "" };
  if (tokenFile !== undefined)
    return { url, token: readTokenFile(tokenFile), tokenHint: `--token-file is ${tokenFile}` };
  if (configured !== undefined) return { url, ...configured.token() };
  if (options.url !== undefined) return { url, tokenHint: "name its file with --token-file" };
  const tokenHint = `the token in ${controlTokenFile(portOffset)} is for the localnet; name the configuration with --config`;
  return { url, token: controlToken(portOffset), tokenHint };
}

/** Returns the URL of the relayer that a file configures. Throws `ConfigError`. */
export function configuredUrl(file: string): string {
  return readPlace(file).url;
}

/** Reads the configured relayer's address and the reference to its token. Reads no other secret. Throws `ConfigError`. */
function readPlace(file: string): { readonly url: string; readonly token: () => Omit<Place, "url"> } {
  const { config, input } = withoutSecrets(() => loadDaemonConfig(relayerConfigKind(), file));
  const { listen } = config.http;
  const isEverywhere = listen.host === "0.0.0.0" || listen.host === "::";
  const token = (): Omit<Place, "url"> => {
    const reference = valueAt(input, ["http", "token"]);
    if (reference !== undefined)
      return {
        token: readSecret(reference, `${file}: http.token`),
        tokenHint: `http.token of ${file} was sent`,
      };
    if (config.state_dir === undefined)
      return { tokenHint: `${file} has neither http.token nor state_dir: send SIGHUP to reload` };
    const path = tokenFileIn(config.state_dir);
    return { token: readTokenFile(path), tokenHint: `the token in ${path} was sent` };
  };
  return { url: httpUrl(isEverywhere ? { ...listen, host: "127.0.0.1" } : listen), token };
}

/** Returns the selected URL. Default: the localnet's relayer at the port offset. */
export function relayerUrl({ url, portOffset = 0 }: RelayerApiOptions): string {
  return url ?? `http://127.0.0.1:${portsAt(portOffset).relayer}`;
}
