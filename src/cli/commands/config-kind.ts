import { Option } from "commander";
import { chainConfigKind } from "../../localnet/cli/chain-config.ts";
import { ConfigError, type ConfigText } from "../../platform/config/config.ts";
import { readDaemonConfig } from "../../platform/config/daemon-config.ts";
import { type EffectiveConfig, effectiveConfig } from "../../platform/config/effective-config.ts";
import { relayerConfigKind } from "../../relayer/config/relayer-config.ts";
import { watchdogConfigKind } from "../../watchdog/config/config.ts";

/** The daemons with a configuration file. The file of `localnet` is the chain file. */
export const DAEMONS = ["oracle-watchdog", "icq-relayer", "localnet"] as const;
export type DaemonName = (typeof DAEMONS)[number];

/** Reads a configuration as the daemon does, and returns a function that returns the effective values. Throws `ConfigError`. */
export function readAs(kind: DaemonName, source?: ConfigText): () => EffectiveConfig {
  if (kind === "icq-relayer") {
    const relayer = relayerConfigKind();
    const parsed = readDaemonConfig(relayer, source);
    return () => effectiveConfig(relayer, parsed);
  }
  if (kind === "localnet") {
    const parsed = readDaemonConfig(chainConfigKind, source);
    return () => effectiveConfig(chainConfigKind, parsed);
  }
  const parsed = readDaemonConfig(watchdogConfigKind, source);
  return () => effectiveConfig(watchdogConfigKind, parsed);
}

export function kindOption(): Option {
  return new Option("--kind <daemon>", "the daemon; default: detected from the configuration keys").choices(
    DAEMONS,
  );
}

/** Without a kind, reads the file as the kind whose schema recognizes most of its keys. Throws that kind's `ConfigError`. */
export function readBest(source: ConfigText, kind: DaemonName | undefined): () => EffectiveConfig {
  const { result } = bestOf(source, kind === undefined ? DAEMONS : [kind]);
  if (result instanceof ConfigError) throw result;
  return result;
}

/** Returns the daemon whose schema recognizes most of the file's keys. */
export function kindOf(source: ConfigText): DaemonName {
  return bestOf(source, DAEMONS).kind;
}

interface ReadResult {
  readonly kind: DaemonName;
  readonly result: (() => EffectiveConfig) | ConfigError;
}

function bestOf(source: ConfigText, kinds: readonly DaemonName[]): ReadResult {
  const failed: { readonly kind: DaemonName; readonly result: ConfigError }[] = [];
  for (const kind of kinds) {
    try {
      return { kind, result: readAs(kind, source) };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      failed.push({ kind, result: error });
    }
  }
  const [best] = failed.toSorted(
    (a, b) =>
      unknownKeys(a.result) - unknownKeys(b.result) ||
      a.result.facts.errors.length - b.result.facts.errors.length,
  );
  if (best === undefined) throw new Error("a configuration has a kind");
  return best;
}

function unknownKeys({ facts }: ConfigError): number {
  return facts.errors.filter(({ text }) => text.startsWith("unknown key")).length;
}
