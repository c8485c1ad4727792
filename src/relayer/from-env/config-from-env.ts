import { stringify } from "yaml";
import { CodedError } from "../../platform/base/errors.ts";
import type { SecretSource } from "../../platform/config/config-fields.ts";
import { ConfigError, type ConfigIssue, parseConfig } from "../../platform/config/config.ts";
import { type RelayerConfig, relayerConfigSchema } from "../config.ts";
import type { EnvConfig } from "./read-env.ts";
import { ENV_VARIABLES } from "./variables.ts";

/** Environment variables that cannot be used. The message has one line for each. */
export class EnvironmentError extends CodedError<{
  readonly code: "bad-config";
  readonly problems: readonly string[];
}> {
  constructor(problems: readonly string[]) {
    super({ code: "bad-config", problems }, problems.join("\n"));
  }
}

/** Throws {@link EnvironmentError} when a variable is wrong or missing. */
export function requireUsable({ problems }: EnvConfig): void {
  if (problems.length > 0) throw new EnvironmentError(problems);
}

/** Returns the YAML of a configuration that was read from the environment. Secrets stay references. */
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
 * Checks the YAML of {@link envYaml}. Throws {@link EnvironmentError} with the names of the variables instead of the keys.
 */
export function parseEnvYaml(yaml: string, secrets: SecretSource): RelayerConfig {
  try {
    return parseConfig({ file: "environment", text: yaml }, relayerConfigSchema(secrets));
  } catch (error) {
    if (error instanceof ConfigError) throw new EnvironmentError(error.facts.errors.map(problemOf));
    throw error;
  }
}

function problemOf({ path, text }: ConfigIssue): string {
  const variable = ENV_VARIABLES.find(
    ({ key }) => key !== "" && (path === key || path.startsWith(`${key}.`)),
  );
  return `${variable?.name ?? path}: ${text}`;
}
