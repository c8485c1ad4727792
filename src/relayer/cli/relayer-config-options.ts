import { parseEnv } from "node:util";
import { type Command, Option } from "commander";
import { CliError, errorText, EXIT, unreachable } from "../../platform/base/errors.ts";
import { LOCALNET_RELAYER_MNEMONIC, type Ports, portsAt } from "../../platform/base/localnet-defaults.ts";
import type { LogLevel } from "../../platform/base/logger.ts";
import { MAX_SETTINGS_BYTES, readTextFile } from "../../platform/base/read-text.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { daemonContext } from "../../platform/cli/process-context.ts";
import { parseUint64, portOffsetOption } from "../../platform/cli/options.ts";
import { controlToken } from "../../platform/cli/state-home.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { processSecretSource, type SecretSource } from "../../platform/config/config-fields.ts";
import { type ParsedConfig, readConfig, readConfigText } from "../../platform/config/config.ts";
import {
  type ConfigEnvironment,
  type ConfigKind,
  givesVariables,
  readDaemonConfig,
} from "../../platform/config/daemon-config.ts";
import { type DaemonContext, LISTEN_KEY } from "../../platform/process/daemon-context.ts";
import { type RelayerConfig, relayerConfigKind, relayerConfigSchema } from "../config/relayer-config.ts";
import {
  envYaml,
  findChainIds,
  parseEnvYaml,
  requireUsable,
  UnknownChainError,
} from "../from-env/config-from-env.ts";
import { readEnv } from "../from-env/read-env.ts";
import { nameVariables } from "../from-env/variables.ts";

export interface RelayerConfigOptions {
  readonly config?: string;
  /** Source of the Go relayer's variables: the process environment (`true`), or a file plus the process environment (a path). */
  readonly fromEnv?: true | string;
  readonly portOffset: number;
  readonly stateDir?: string;
  /** Maximum wait for the chains' endpoints, in ms; applies only if `fromEnv` is set. */
  readonly wait?: number;
  /** True if the localnet's relayer uses the token of the localnet's control API. */
  readonly withToken?: true;
}

export function addRelayerConfigOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--config <file>",
        "the relayer's YAML configuration; default: a configuration for the localnet on this machine",
      ).conflicts(["fromEnv"]),
    )
    .option(
      "--from-env [file]",
      "read the configuration from the Go relayer's RELAYER_* and LOGGER_* variables, in the environment or an .env file",
    )
    .option("--state-dir <dir>", "directory for the relayer's state; applies only if --config is omitted")
    .addOption(portOffsetOption());
}

/** A relayer's configuration, and the setting names that its messages use. */
export interface SelectedConfig extends Pick<DaemonContext, "portOption" | "nameSettings"> {
  readonly config: RelayerConfig;
  readonly parsed: ParsedConfig<RelayerConfig>;
  readonly kind: ConfigKind<RelayerConfig>;
}

/** Loads the configuration that the options select. Throws `ConfigError` or `EnvironmentError`, or `CliError` if a chain is down. */
export async function selectRelayerConfig(
  options: RelayerConfigOptions,
  context: CliContext,
): Promise<SelectedConfig> {
  const kind = relayerConfigKind();
  if (options.fromEnv !== undefined) return selectFromEnv(options.fromEnv, context, options.wait);
  if (options.config !== undefined || givesVariables(kind, options)) {
    const source = options.config === undefined ? undefined : readConfigText(options.config);
    const parsed = readDaemonConfig(kind, source);
    return { config: parsed.config, parsed, kind };
  }
  const token = options.withToken ? controlToken(options.portOffset) : undefined;
  const parsed = localnetRelayerConfig(portsAt(options.portOffset), options.stateDir, { token });
  return { config: parsed.config, parsed, kind, portOption: "--port-offset" };
}

/** Maximum wait for the chains' endpoints. After this time the process exits, and its supervisor restarts it. */
const CHAIN_ID_WAIT_MS = 60_000;

async function selectFromEnv(
  source: true | string,
  context: CliContext,
  waitMs = CHAIN_ID_WAIT_MS,
): Promise<SelectedConfig> {
  const environment = readEnvironment(source);
  const yaml = await yamlFromEnv(environment, context, waitMs);
  const secrets = secretsOf(environment);
  const parsed = parseEnvYaml(yaml, secrets, environment);
  return {
    config: parsed.config,
    parsed,
    kind: relayerConfigKind(secrets),
    portOption: nameVariables(LISTEN_KEY),
    nameSettings: nameVariables,
  };
}

/** Returns the variables in the file `source`, merged with the process environment, which takes precedence. */
export function readEnvironment(source: true | string): ConfigEnvironment {
  if (source === true) return process.env;
  try {
    return { ...parseEnv(readTextFile(source, MAX_SETTINGS_BYTES)), ...process.env };
  } catch (cause) {
    throw new CliError(EXIT.badConfig, `cannot read ${source}: ${errorText(cause)}`, { cause });
  }
}

/** Creates a secret source that reads variables from `environment`. */
export function secretsOf(environment: ConfigEnvironment): SecretSource {
  return { ...processSecretSource, environment: (name) => environment[name] };
}

/** Converts environment variables to YAML. Logs warnings instead of printing them, because stdout may be redirected to a file. */
export async function yamlFromEnv(
  environment: ConfigEnvironment,
  context: CliContext,
  waitMs: number,
): Promise<string> {
  const env = readEnv(environment);
  const daemon = await daemonContext(context, "warn");
  for (const warning of env.warnings) daemon.logger.warn("environment", { warning });
  requireUsable(env);
  return envYaml(env, await chainIds(env, daemon, waitMs));
}

async function chainIds(
  env: ReturnType<typeof readEnv>,
  daemon: DaemonContext,
  waitMs: number,
): Promise<Readonly<Record<"local" | "remote", string>>> {
  try {
    return await findChainIds(env, daemon, waitMs);
  } catch (error) {
    if (error instanceof UnknownChainError) throw new CliError(EXIT.tryAgain, error.message);
    throw error;
  }
}

/** Creates a daemon's context. If `level` is undefined, the logger uses the configured log level. */
export async function relayerContext(
  { config, ...names }: SelectedConfig,
  level: LogLevel | undefined,
  context: CliContext,
): Promise<DaemonContext> {
  const daemon = await daemonContext(context, level ?? config.log.level, config.log);
  return { ...daemon, ...names };
}

/** Creates the option `--query IDS`, which selects queries by comma-separated ids. Default: all queries. */
export function queryIdsOption(): Option {
  return new Option("--query <ids>", "include only the queries with these comma-separated ids").argParser(
    (text) => text.split(",").map((part) => parseUint64(part.trim())),
  );
}

const TOKEN_VARIABLE = "LOCALNET_CONTROL_TOKEN";

interface LocalnetOfRelayer {
  readonly chainIds: Readonly<Record<"local" | "remote", string>>;
  /** A public test mnemonic, with which anyone can sign. */
  readonly mnemonic: string;
  readonly prefix: string;
  readonly denom: string;
}

const DEFAULT_LOCALNET: LocalnetOfRelayer = {
  chainIds: { local: "local-1", remote: "remote-1" },
  mnemonic: LOCALNET_RELAYER_MNEMONIC,
  prefix: "neutron",
  denom: "untrn",
};

/**
 * Creates the relayer's configuration for a localnet on the given ports. In the default localnet, the public test account `relayer`
 * signs transactions.
 *
 * Requests that change something need `token`, except for requests that resubmit dead letters.
 */
export function localnetRelayerConfig(
  ports: Ports,
  stateDir: string | undefined,
  { hosts = [], token }: { readonly hosts?: readonly string[]; readonly token?: Secret | undefined } = {},
  localnet: LocalnetOfRelayer = DEFAULT_LOCALNET,
): ParsedConfig<RelayerConfig> {
  const { chainIds: ids, mnemonic, prefix, denom } = localnet;
  const text = `
chain: { id: ${JSON.stringify(ids.local)}, rpc: ["http://127.0.0.1:${ports.localRpc}"] }
signer: { mnemonic: { env: LOCALNET_RELAYER_MNEMONIC }, prefix: ${prefix} }
gas: { denom: ${JSON.stringify(denom)} }
connections:
  - { id: connection-0, chain_id: ${JSON.stringify(ids.remote)}, rpc: ["http://127.0.0.1:${ports.remoteRpc}"] }
http:
  listen: "127.0.0.1:${ports.relayer}"
  hosts: ${JSON.stringify(hosts)}
  open_resubmit: true
  ${token === undefined ? "" : `token: { env: ${TOKEN_VARIABLE} }`}
${stateDir === undefined ? "" : `state_dir: ${JSON.stringify(stateDir)}`}
`;
  const secrets: SecretSource = {
    environment: (name) => (name === TOKEN_VARIABLE ? token?.reveal() : mnemonic),
    file: () => unreachable("no file is named"),
  };
  return readConfig({ file: "localnet relayer", text }, relayerConfigSchema(secrets));
}
