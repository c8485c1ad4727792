import { errorText } from "../base/errors.ts";
import { stringifyJson } from "../base/json.ts";
import type { LogLevel } from "../base/logger.ts";
import { type ParsedConfig, readConfig, withValue } from "./config.ts";
import type { ConfigKind } from "./daemon-config.ts";
import { keyFingerprints, valueAt } from "./effective-config.ts";
import { keyLeaves, type KeyLeaf, keySchema } from "./key-schema.ts";

/** What a reload changes. Keys are paths such as "gas.max_price". */
export interface ReloadPlan<Config> {
  /** The new settings. Keys of `needRestart` have their present values. */
  readonly config: Config;
  /** Changed keys for which the services start again. */
  readonly services: readonly string[];
  /** Changed keys that are set while the services run. */
  readonly live: readonly string[];
  /** Changed keys that need a new process. */
  readonly needRestart: readonly string[];
  /** Later plans compare with these settings. Returns a function that takes that back. */
  readonly accept: () => () => void;
}

/** Reads the configuration of a running daemon again. */
export interface ConfigReloads<Config> {
  /** Throws `ConfigError` and other errors of the configuration. */
  readonly plan: () => Promise<ReloadPlan<Config>>;
  /** The level that holds with a configuration: an option of the command line takes precedence. */
  readonly levelOf: (config: Config) => LogLevel;
}

/** A configuration with its kind, which also says where its secrets are. */
export interface ReadConfig<Config> {
  readonly kind: ConfigKind<Config>;
  readonly parsed: ParsedConfig<Config>;
}

/** The settings that a daemon runs with, for comparison. */
interface Present {
  readonly input: ParsedConfig<unknown>["input"];
  readonly fingerprints: ReadonlyMap<string, string>;
}

/** `first` are the settings of the start, and `readAgain` reads them again. */
export function createConfigReloads<Config>(
  first: ReadConfig<Config>,
  readAgain: () => ReadConfig<Config> | Promise<ReadConfig<Config>>,
  levelOf: (config: Config) => LogLevel,
): ConfigReloads<Config> {
  let present = toPresent(first);
  const plan = async (): Promise<ReloadPlan<Config>> => {
    const given = await readAgain();
    // Now, and not when the services run: until then, a file with a secret can change again.
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

function toPresent<Config>({ kind, parsed }: ReadConfig<Config>): Present {
  return { input: parsed.input, fingerprints: keyFingerprints(kind, parsed) };
}

function changedLeaves(
  present: Present,
  next: Present,
  kind: Pick<ConfigKind<unknown>, "schema">,
): readonly KeyLeaf[] {
  const schema = keySchema(kind.schema);
  const leaves = [present.input, next.input].flatMap((input) => keyLeaves(schema, input));
  const byName = new Map(leaves.map((leaf) => [nameOf(leaf), leaf]));
  return [...byName].flatMap(([name, leaf]) =>
    present.fingerprints.get(name) === next.fingerprints.get(name) ? [] : [leaf],
  );
}

/** The new settings with the present values of keys that need a new process. */
function withPresent<Config>(
  present: Present,
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
      `the new settings do not go with the present ${names}; restart the process: ${errorText(cause)}`,
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
