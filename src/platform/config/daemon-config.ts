import { parseDocument } from "yaml";
import type { z } from "zod";
import { editDistance } from "../base/did-you-mean.ts";
import {
  ConfigError,
  type ConfigIssue,
  type ConfigText,
  type ConfigVariable,
  issuesOf,
  issueWithoutLine,
  type ParsedConfig,
  readConfig,
  readConfigText,
} from "./config.ts";
import { issueText, type SecretSource } from "./config-fields.ts";
import { isSecret, type KeyLeaf, keyLeaves, keySchema, type KeySchema } from "./key-schema.ts";

export interface ConfigKind<Config> {
  readonly name: "icq-relayer" | "oracle-watchdog" | "localnet";
  /** The prefix of the daemon's environment variables, for example "RELAYWATCH_RELAYER_". */
  readonly prefix: string;
  readonly schema: z.ZodType<Config>;
  /** Source from which the schema reads secrets; by default, the process's environment and files. */
  readonly secrets?: SecretSource;
}

/** Environment variables by name, like `process.env`. */
export type ConfigEnvironment = Readonly<Record<string, string | undefined>>;

/** Name of the configuration in error messages if the settings come only from environment variables. */
const NO_FILE = "environment";

/** Returns the name of a key's environment variable, for example RELAYWATCH_RELAYER_GAS_MAX_PRICE for `gas.max_price`. */
export function variableName(
  { prefix }: Pick<ConfigKind<unknown>, "prefix">,
  path: readonly string[],
): string {
  return `${prefix}${path.join("_").replaceAll("-", "_").toUpperCase()}`;
}

/** Suffix of a variable that contains the path of a secret file. */
const FILE_SUFFIX = "_FILE";

/**
 * Reads a daemon's configuration. Environment variables take precedence over `source`, and both take precedence over the
 * defaults. If there is no `source`, the variables are the whole configuration. Throws a `ConfigError` that lists all problems.
 */
export function readDaemonConfig<Config>(
  kind: ConfigKind<Config>,
  source: ConfigText = { file: NO_FILE, text: "" },
  environment: ConfigEnvironment = process.env,
): ParsedConfig<Config> {
  const { variables, issues } = readVariables(kind, environment);
  if (issues.length === 0) return readConfig(source, kind.schema, variables);
  throw new ConfigError([...issues, ...issuesOf(() => readConfig(source, kind.schema, variables))]);
}

/** Reads a daemon's configuration from a file and the environment. Throws `ConfigError`. */
export function loadDaemonConfig<Config>(
  kind: ConfigKind<Config>,
  file: string,
  environment?: ConfigEnvironment,
): ParsedConfig<Config> {
  return readDaemonConfig(kind, readConfigText(file), environment);
}

/**
 * Returns true if an environment variable for the daemon is set, so that the daemon takes its settings from variables instead of a
 * localnet. Throws `ConfigError` if the command line also has a localnet option.
 */
export function givesVariables(
  kind: ConfigKind<unknown>,
  localnet: { readonly portOffset: number; readonly stateDir?: string },
  environment: ConfigEnvironment = process.env,
): boolean {
  const [first] = givenVariables(kind, environment);
  if (first === undefined) return false;
  if (localnet.portOffset === 0 && localnet.stateDir === undefined) return true;
  const text = issueText(
    "is a configuration variable and cannot be combined with --port-offset or --state-dir, which are for the localnet on this machine",
    "only one of the two",
  );
  throw new ConfigError([issueWithoutLine(first[0], "", text)]);
}

interface Variables {
  readonly variables: readonly ConfigVariable[];
  readonly issues: readonly ConfigIssue[];
}

function readVariables(kind: ConfigKind<unknown>, environment: ConfigEnvironment): Variables {
  const given = givenVariables(kind, environment);
  // Create the keys only if needed, because this takes a few milliseconds.
  if (given.length === 0) return { variables: [], issues: [] };
  const known = knownVariables(kind);
  const read = given.map(([name, text]) => readVariable({ name, text }, known));
  const variables = read.flatMap((one) => ("path" in one ? [one] : []));
  const issues = read.flatMap((one) =>
    ("path" in one ? [] : [one.text]).map((text) => issueWithoutLine(one.name, "", text)),
  );
  return { variables, issues: [...issues, ...doubledIssues(variables)] };
}

/** Returns the variables that set the daemon's keys, ignoring service links and the empty variables that Compose files pass. */
function givenVariables(
  { prefix }: ConfigKind<unknown>,
  environment: ConfigEnvironment,
): readonly (readonly [name: string, text: string])[] {
  return Object.entries(environment).flatMap(([name, text]) =>
    name.startsWith(prefix) &&
    text !== undefined &&
    text !== "" &&
    !isServiceLink(name.slice(prefix.length), text)
      ? [[name, text] as const]
      : [],
  );
}

/**
 * Returns true for a variable that Kubernetes or Docker sets for a service named "relaywatch-relayer", such as
 * RELAYWATCH_RELAYER_SERVICE_HOST or RELAYWATCH_RELAYER_PORT_9999_TCP.
 */
function isServiceLink(name: string, text: string): boolean {
  return (
    /^SERVICE_(?:HOST|PORT(?:_\w+)?)$/.test(name) ||
    (/^PORT(?:_\d+_(?:TCP|UDP))?$/.test(name) && /^(?:tcp|udp):\/\//.test(text)) ||
    /^PORT_\d+_(?:TCP|UDP)_(?:PROTO|PORT|ADDR)$/.test(name)
  );
}

/** A variable and the key that it sets. For a secret, one variable contains the secret, and another the path of its file. */
interface KnownVariable {
  readonly leaf: KeyLeaf;
  readonly namesFile: boolean;
}

function knownVariables(kind: ConfigKind<unknown>): ReadonlyMap<string, KnownVariable> {
  return new Map(
    keyLeaves(keySchema(kind.schema)).flatMap((leaf): (readonly [string, KnownVariable])[] => {
      const name = variableName(kind, leaf.path);
      const own = [name, { leaf, namesFile: false }] as const;
      return isSecret(leaf.schema) ? [own, [`${name}${FILE_SUFFIX}`, { leaf, namesFile: true }]] : [own];
    }),
  );
}

interface GivenVariable {
  readonly name: string;
  readonly text: string;
}

function readVariable(
  { name, text }: GivenVariable,
  known: ReadonlyMap<string, KnownVariable>,
): ConfigVariable | GivenVariable {
  const found = known.get(name);
  if (found === undefined) {
    const nearest = nearestText(name, [...known.keys()]);
    const path = known.get(nearest)?.leaf.path.join(".") ?? "";
    return { name, text: issueText("does not correspond to any key", `for example ${nearest}, for ${path}`) };
  }
  const { leaf, namesFile } = found;
  const value = isSecret(leaf.schema) ? secretReference(name, text, namesFile) : readValue(text, leaf.schema);
  if (value instanceof Error) return { name, text: issueText("is not YAML", "a value as in the YAML file") };
  return { name, path: leaf.path, value };
}

function secretReference(name: string, text: string, namesFile: boolean): unknown {
  return namesFile ? { file: text } : { env: name };
}

/** Parses an environment variable's value like YAML, as in `[a, b]`, except that the value of a text key is used literally. */
function readValue(text: string, schema: KeySchema): unknown {
  if (isText(schema)) return text;
  const document = parseDocument(text, { prettyErrors: false, stringKeys: true });
  const [error] = document.errors;
  return error ?? document.toJS({ maxAliasCount: 0 });
}

function isText({ type, enum: values }: KeySchema): boolean {
  return type === "string" || (values !== undefined && values.every((value) => typeof value === "string"));
}

function doubledIssues(variables: readonly ConfigVariable[]): readonly ConfigIssue[] {
  return variables.flatMap(({ name, path }) => {
    const isDoubled =
      name.endsWith(FILE_SUFFIX) && variables.some((one) => one.name === name.slice(0, -FILE_SUFFIX.length));
    if (!isDoubled) return [];
    const text = issueText(
      `cannot be combined with ${name.slice(0, -FILE_SUFFIX.length)}`,
      "only one of the two",
    );
    return [issueWithoutLine(name, path.join("."), text)];
  });
}

/** Returns the text in `candidates`, which must not be empty, with the smallest edit distance from `text`. */
function nearestText(text: string, candidates: readonly string[]): string {
  const distances = candidates.map((candidate) => ({
    candidate,
    distance: editDistance(text.slice(0, 200), candidate),
  }));
  return distances.reduce((best, one) => (one.distance < best.distance ? one : best)).candidate;
}
