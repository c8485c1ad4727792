import { retry } from "../../platform/base/retry.ts";
import { stringify } from "yaml";
import { createChainClient } from "../../cosmos/client/create-chain-client.ts";
import { silentObserver } from "../../cosmos/client/rpc-caller.ts";
import { withTimeout } from "../../platform/base/abort.ts";
import { CodedError, errorText } from "../../platform/base/errors.ts";
import type { SecretSource } from "../../platform/config/config-fields.ts";
import {
  ConfigError,
  type ConfigIssue,
  formatConfigIssue,
  type ParsedConfig,
} from "../../platform/config/config.ts";
import { type ConfigEnvironment, readDaemonConfig } from "../../platform/config/daemon-config.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { type RelayerConfig, relayerConfigKind } from "../config/relayer-config.ts";
import { errorBackoff } from "../chain/relay-error.ts";
import type { EnvConfig } from "./read-env.ts";
import { ENV_VARIABLES } from "./variables.ts";

/** An error for invalid or missing environment variables, whose message has one line per variable. */
export class EnvironmentError extends CodedError<{
  readonly code: "bad-config";
  readonly problems: readonly string[];
}> {
  constructor(problems: readonly string[]) {
    super({ code: "bad-config", problems }, problems.join("\n"));
  }
}

/** Throws an {@link EnvironmentError} that lists all problems if a variable is invalid or missing. */
export function requireUsable({ problems }: EnvConfig): void {
  if (problems.length > 0) throw new EnvironmentError(problems);
}

/** Returns the YAML of a configuration read from the environment. Secrets remain references. */
export function envYaml(
  { tree }: EnvConfig,
  ids: { readonly local: string; readonly remote: string },
): string {
  const withIds = {
    ...tree,
    chain: { id: ids.local, ...section(tree["chain"]) },
    connections: list(tree["connections"]).map((one) => withChainId(section(one), ids.remote)),
  };
  return stringify(withIds, { lineWidth: 0 });
}

function withChainId(connection: object, remoteId: string): object {
  return { chain_id: remoteId, ...connection };
}

function section(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Parses the YAML from {@link envYaml}. The RELAYWATCH_RELAYER_… variables in `environment` take precedence over the YAML. Throws
 * {@link EnvironmentError}, which names the variables instead of the keys.
 */
export function parseEnvYaml(
  yaml: string,
  secrets: SecretSource,
  environment: ConfigEnvironment = {},
): ParsedConfig<RelayerConfig> {
  try {
    return readDaemonConfig(relayerConfigKind(secrets), { file: "environment", text: yaml }, environment);
  } catch (error) {
    if (error instanceof ConfigError) throw new EnvironmentError(error.facts.errors.map(problemOf));
    throw error;
  }
}

function problemOf(issue: ConfigIssue): string {
  const { path, text, line } = issue;
  // An issue without a line concerns this program's own variable, which takes precedence over the Go relayer's variable.
  if (line === 0) return formatConfigIssue(issue);
  const variable = ENV_VARIABLES.find(
    ({ key }) => key !== "" && (path === key || path.startsWith(`${key}.`)),
  );
  return `${variable?.name ?? path}: ${text}`;
}

/** Thrown if none of a chain's endpoints returns the chain id in time. */
export class UnknownChainError extends CodedError<{
  readonly code: "unknown-chain";
  readonly variable: string;
}> {}

/** The variable that contains each chain's endpoints, for error messages. */
const ENDPOINT_VARIABLES = {
  local: "RELAYER_NEUTRON_CHAIN_RPC_ADDR",
  remote: "RELAYER_TARGET_CHAIN_RPC_ADDR",
} as const;

/**
 * Returns both chain ids, from the environment or from an endpoint. Retries for `waitMs`, because the nodes may start at the same
 * time as the relayer. Throws {@link UnknownChainError} or the signal's reason.
 */
export async function findChainIds(
  { chains }: Pick<EnvConfig, "chains">,
  context: DaemonContext,
  waitMs: number,
): Promise<Readonly<Record<"local" | "remote", string>>> {
  const find = (part: "local" | "remote"): Promise<string> =>
    chains[part].id === undefined
      ? readChainId(part, chains[part].rpc, context, waitMs)
      : Promise.resolve(chains[part].id);
  const [local, remote] = await Promise.all([find("local"), find("remote")]);
  return { local, remote };
}

async function readChainId(
  part: "local" | "remote",
  rpc: readonly string[],
  context: DaemonContext,
  waitMs: number,
): Promise<string> {
  const { clock, random, logger, signal } = context;
  const endpoints = rpc.map((url) => ({ url }));
  const client = createChainClient(
    { endpoints, chainId: undefined },
    { clock, random, logger, observer: silentObserver },
  );
  let last: unknown;
  try {
    const onError = (error: unknown): void => {
      last = error;
    };
    const status = await withTimeout(waitMs, clock, signal, (inner) =>
      retry(() => client.status(inner), { backoff: errorBackoff, clock, random, signal: inner, onError }),
    );
    signal.throwIfAborted();
    if (status !== undefined) return status.chainId;
  } finally {
    client.close();
  }
  const variable = ENDPOINT_VARIABLES[part];
  throw new UnknownChainError(
    { code: "unknown-chain", variable },
    `cannot read the chain id from ${variable}: ${last === undefined ? "no response" : errorText(last)}; start the node, or set ${variable.replace("RPC_ADDR", "CHAIN_ID")}`,
  );
}
