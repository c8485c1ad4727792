import { errorText } from "../base/errors.ts";
import { stringifyJson, valueAt } from "../base/json.ts";
import type { LogLevel } from "../base/logger.ts";
import { type ParsedConfig, readConfig, withValue } from "./config.ts";
import type { ConfigKind } from "./daemon-config.ts";
import { keyFingerprints } from "./effective-config.ts";
import { keyLeaves, type KeyLeaf, keySchema } from "./key-schema.ts";

/** A reload's effects, with changed keys as paths such as "gas.max_price". */
export interface ReloadPlan<Config> {
  /** The new settings, in which keys in `needRestart` keep their current values. */
  readonly config: Config;
  /** Changed keys that require the services to restart. */
  readonly services: readonly string[];
  /** Changed keys that take effect while the services run. */
  readonly live: readonly string[];
  /** Changed keys that take effect only in a new process. */
  readonly needRestart: readonly string[];
  /** Makes these settings the current ones for later plans. Returns a function that restores the previous settings. */
  readonly accept: () => () => void;
}

export interface ConfigReloads<Config> {
  /**
   * Plans a reload of the current configuration. Throws a configuration error, such as `ConfigError`. Unless `isForced`, also throws
   * if the file appears half-written, because it contains no settings or lacks a setting in use.
   */
  readonly plan: (isForced?: boolean) => Promise<ReloadPlan<Config>>;
  /** Returns the log level from the command-line option or, without the option, from the configuration. */
  readonly levelOf: (config: Config) => LogLevel;
}

/** A configuration and its kind, which also determines the source of secrets. */
export interface ReadConfig<Config> {
  readonly kind: ConfigKind<Config>;
  readonly parsed: ParsedConfig<Config>;
}

interface Present<Config> {
  readonly config: Config;
  readonly input: ParsedConfig<unknown>["input"];
  readonly fingerprints: ReadonlyMap<string, string>;
}

/**
 * `first` contains the settings at startup, and `readAgain` reads the configuration again. `lossOf` describes settings that a
 * reload would remove, probably by mistake, or returns undefined if no settings would be lost.
 */
export function createConfigReloads<Config>(
  first: ReadConfig<Config>,
  readAgain: () => ReadConfig<Config> | Promise<ReadConfig<Config>>,
  levelOf: (config: Config) => LogLevel,
  lossOf: (before: Config, after: Config) => string | undefined = () => undefined,
): ConfigReloads<Config> {
  let present = toPresent(first);
  const plan = async (isForced = false): Promise<ReloadPlan<Config>> => {
    const given = await readAgain();
    const lost = isForced
      ? undefined
      : (emptinessOf(present.input, given.parsed.input) ?? lossOf(present.config, given.parsed.config));
    if (lost !== undefined) throw new Error(`${lost}; if that is intended, reload with --force`);
    // Read the secrets now, because a secret file may change again before the services run.
    const read = toPresent(given);
    const changed = changedLeaves(present, read, given.kind);
    const fixed = changed.filter(({ reload }) => reload === "process");
    const next = fixed.length === 0 ? given : withPresent(present, given, fixed);
    const accepted = fixed.length === 0 ? read : toPresent(next);
    return {
      config: next.parsed.config,
      services: namesOf(changed, "services"),
      live: namesOf(changed, "live"),
      needRestart: namesOf(changed, "process"),
      accept: () => {
        const before = present;
        present = accepted;
        return () => {
          present = before;
        };
      },
    };
  };
  return { plan, levelOf };
}

function emptinessOf(before: object, after: object): string | undefined {
  const isLost = Object.keys(after).length === 0 && Object.keys(before).length > 0;
  return isLost ? "the configuration is empty, but the running one is not" : undefined;
}

function toPresent<Config>({ kind, parsed }: ReadConfig<Config>): Present<Config> {
  return { config: parsed.config, input: parsed.input, fingerprints: keyFingerprints(kind, parsed) };
}

function changedLeaves(
  present: Present<unknown>,
  next: Present<unknown>,
  kind: Pick<ConfigKind<unknown>, "schema">,
): readonly KeyLeaf[] {
  const schema = keySchema(kind.schema);
  const leaves = [present.input, next.input].flatMap((input) => keyLeaves(schema, input));
  const byName = new Map(leaves.map((leaf) => [nameOf(leaf), leaf]));
  return [...byName].flatMap(([name, leaf]) =>
    present.fingerprints.get(name) === next.fingerprints.get(name) ? [] : [leaf],
  );
}

/** Returns the new settings, but with the current values of keys that require a new process. */
function withPresent<Config>(
  present: Present<Config>,
  { kind, parsed }: ReadConfig<Config>,
  fixed: readonly KeyLeaf[],
): ReadConfig<Config> {
  const input = fixed.reduce<unknown>(
    (values, { path }) => withValue(values, path, valueAt(present.input, path)),
    parsed.input,
  );
  try {
    const text = stringifyJson(input);
    return { kind, parsed: readConfig({ file: "present settings", text }, kind.schema) };
  } catch (cause) {
    const names = fixed.map(nameOf).join(", ");
    throw new Error(
      `the new settings are incompatible with the current ${names}; restart the process: ${errorText(cause)}`,
      {
        cause,
      },
    );
  }
}

function namesOf(leaves: readonly KeyLeaf[], reload: KeyLeaf["reload"]): readonly string[] {
  return leaves.filter((leaf) => leaf.reload === reload).map(nameOf);
}

function nameOf({ path }: KeyLeaf): string {
  return path.join(".");
}
