import type Database from "libsql";
import { z } from "zod";
import { stringifyJson } from "../../platform/base/json.ts";
import type { LatencyTrail } from "../conditions/latency-trail.ts";
import type { NodeTrail, Trail } from "../conditions/trail.ts";

/** A bigint, stored as digits: JSON has no integers of that size. */
const digits = z
  .string()
  .regex(/^\d{1,30}$/)
  .transform(BigInt);

const progress = z.strictObject({
  height: digits.exactOptional(),
  firstSeenMs: z.number().exactOptional(),
  advancedAtMs: z.number().exactOptional(),
}) satisfies z.ZodType<Trail["chain"]>;

/** A map, stored as a list: names of nodes and providers are not keys of an object. */
const entries = <T>(value: z.ZodType<T>) =>
  z
    .array(z.object({ name: z.string(), value }))
    .transform((list) => new Map(list.map((one) => [one.name, one.value])));

const webSocket = z.strictObject({
  reads: digits,
  sinceMs: z.number(),
  lastReadMs: z.number().exactOptional(),
});

/** A list of bounds and counts. */
const within = z.array(z.tuple([z.number(), digits])).transform((list) => new Map(list));
const callTimes = { calls: digits, within };
const latency = z.strictObject({
  ...callTimes,
  recent: z.strictObject({ ...callTimes, atMs: z.number() }).exactOptional(),
}) satisfies z.ZodType<LatencyTrail>;

const nodeTrail = z.strictObject({
  progress,
  seenSinceMs: z.number().exactOptional(),
  seenMs: z.number().exactOptional(),
  success: digits.exactOptional(),
  failure: digits.exactOptional(),
  lastGoodMs: z.number().exactOptional(),
  lastBadMs: z.number().exactOptional(),
  latency: latency.exactOptional(),
  tick: z.strictObject({ value: z.number(), sinceMs: z.number(), hasChanged: z.boolean() }).exactOptional(),
  webSockets: entries(webSocket),
}) satisfies z.ZodType<NodeTrail>;

const storedTrail = z.strictObject({ nodes: entries(nodeTrail), chain: progress }) satisfies z.ZodType<Trail>;

const trailRow = z.object({ validator: z.string(), body: z.string() });

/** Trails by name of the validator. */
type Trails = ReadonlyMap<string, Trail>;

/** Reads what the last polls of all validators showed. */
export function readTrails(database: Database.Database): Trails {
  const rows = z.array(trailRow).parse(database.prepare("SELECT * FROM trails").all());
  return new Map(rows.map(({ validator, body }) => [validator, storedTrail.parse(JSON.parse(body))]));
}

/** Writes the trails that changed since `before`. Part of the caller's transaction. */
export function writeTrails(database: Database.Database, trails: Trails, before: Trails): void {
  const insert = database.prepare("INSERT OR REPLACE INTO trails VALUES (?, ?)");
  for (const [validator, trail] of trails)
    if (trail !== before.get(validator)) insert.run(validator, encodeTrail(trail));
}

function encodeTrail({ nodes, chain }: Trail): string {
  const all = new Map([...nodes].map(([name, node]) => [name, encodeNode(node)]));
  return stringifyJson({ nodes: encodeEntries(all), chain });
}

function encodeNode({ webSockets, latency: times, ...node }: NodeTrail) {
  return {
    ...node,
    ...(times === undefined ? {} : { latency: encodeLatency(times) }),
    webSockets: encodeEntries(webSockets),
  };
}

function encodeLatency({ recent, within: bounds, ...times }: LatencyTrail) {
  return {
    ...times,
    within: [...bounds],
    ...(recent === undefined ? {} : { recent: { ...recent, within: [...recent.within] } }),
  };
}

function encodeEntries<T>(map: ReadonlyMap<string, T>): readonly { name: string; value: T }[] {
  return [...map].map(([name, value]) => ({ name, value }));
}
