import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { ProfileName } from "../../src/localnet/chain/deviations/deviations.ts";
import { isRecord } from "../../src/platform/base/json.ts";

/** One line of a vectors file. */
export type VectorLine = Readonly<Record<string, unknown>> & { readonly id: string; readonly topic: string };

/** Reads vectors files, plain or gzipped, one JSON object per line. */
export function readVectorLines(paths: readonly string[]): readonly VectorLine[] {
  return paths.flatMap((path) => {
    const bytes = readFileSync(path);
    const text = (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString("utf8");
    return text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map(parseLine);
  });
}

function parseLine(text: string): VectorLine {
  const line: unknown = JSON.parse(text);
  if (!isRecord(line)) throw new Error("a JSON object was expected");
  const { id, topic } = line;
  if (typeof id !== "string" || typeof topic !== "string") throw new Error("a line has no id or no topic");
  return { ...line, id, topic };
}

/** The lines to run, and those whose outcome is in a file that was not read. */
export interface ChosenLines {
  readonly lines: readonly VectorLine[];
  readonly skipped: readonly VectorLine[];
}

const RANKS: readonly unknown[] = [undefined, "hard", "literal"];

/**
 * For each scenario the line that follows the profile. That of `deployed` is the original, that of `specification` the `literal` variant,
 * else `hard`, else the original.
 */
export function chooseLines(all: readonly VectorLine[], profile: ProfileName): ChosenLines {
  if (profile === "deployed")
    return { lines: all.filter((line) => line["variant"] === undefined), skipped: [] };
  const byBase = new Map<string, VectorLine>();
  const rank = (line: VectorLine): number => RANKS.indexOf(line["variant"]);
  for (const line of all) {
    const base = typeof line["base"] === "string" ? line["base"] : line.id;
    const known = byBase.get(base);
    if (known === undefined || rank(line) > rank(known)) byBase.set(base, line);
  }
  const chosen = [...byBase.values()];
  const isSkipped = (line: VectorLine): boolean => bestVariant(line) > rank(line);
  return { lines: chosen.filter((line) => !isSkipped(line)), skipped: chosen.filter(isSkipped) };
}

function bestVariant(line: VectorLine): number {
  const variants: unknown = line["variants"];
  return Array.isArray(variants) ? Math.max(0, ...variants.map((variant) => RANKS.indexOf(variant))) : 0;
}

/** Groups lines by topic, topics in the order of their first line. */
export function groupByTopic(lines: readonly VectorLine[]): ReadonlyMap<string, readonly VectorLine[]> {
  const topics = new Map<string, VectorLine[]>();
  for (const line of lines) {
    const known = topics.get(line.topic);
    if (known === undefined) topics.set(line.topic, [line]);
    else known.push(line);
  }
  return topics;
}
