import { z } from "zod";
import type { Baseline } from "../ledger/counter-state.ts";
import type { Processes } from "../ledger/ledger-events.ts";
import { LEDGER_SOURCES, type LedgerSource } from "../ledger/ledger-view.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { EMPTY_SOURCE, type SourceLedger } from "../ledger/source-ledger.ts";

const integer = z.string().transform((text, context) => {
  if (/^-?\d{1,30}$/.test(text)) return BigInt(text);
  context.addIssue("not a whole number");
  return z.NEVER;
});
/** A key that may be absent or null. */
const optional = <T extends z.ZodType>(type: T) => type.nullish().transform((value) => value ?? undefined);

const baseline = z
  .object({
    chainId: z.string(),
    success: integer,
    failure: integer,
    height: optional(integer),
    processStartMs: optional(z.number()),
    atMs: z.number(),
  })
  .transform(
    ({ height, processStartMs, ...rest }): Baseline => ({
      ...rest,
      ...(height === undefined ? {} : { height }),
      ...(processStartMs === undefined ? {} : { processStartMs }),
    }),
  );
// Older programs stored the last reading only, and took each change for two nodes.
const conflict = z
  .object({ first: baseline.optional(), last: baseline, alternates: z.boolean().default(true) })
  .transform(({ first, ...rest }) => ({ ...rest, first: first ?? rest.last }));
const counterState = z
  .object({ baseline, conflict: optional(conflict), replacedAtMs: optional(z.number()) })
  .transform(({ baseline: last, conflict: present, replacedAtMs }) => ({
    baseline: last,
    ...(present === undefined ? {} : { conflict: present }),
    ...(replacedAtMs === undefined ? {} : { replacedAtMs }),
  }));
const checkpoint = z
  .object({ atMs: z.number(), timeMs: z.number(), height: optional(integer), node: z.string() })
  .transform(({ height, ...rest }) => ({ ...rest, ...(height === undefined ? {} : { height }) }));
// The stored names differ from those of the code: a state file of every version must stay readable.
const source = z.object({ tracks: z.record(z.string(), counterState), cursor: optional(checkpoint) });
const anchor = z.object({ timeMs: z.number(), height: integer });
const progress = z
  .object({ height: integer, sinceMs: z.number(), haltId: optional(z.number()) })
  .transform(({ haltId, ...rest }) => ({ ...rest, ...(haltId === undefined ? {} : { haltId }) }));
const processes = z.object({
  sidecarSeenMs: z.number().exactOptional(),
  sidecarStartMs: z.number().exactOptional(),
  sidecarVersion: z.string().exactOptional(),
  nodeVersion: z.string().exactOptional(),
  changedMs: z.number().exactOptional(),
}) satisfies z.ZodType<Processes>;
const body = z.object({
  chainId: optional(z.string()),
  sources: z.partialRecord(z.enum(LEDGER_SOURCES), source),
  anchors: z.array(anchor).default([]),
  progress: optional(progress),
  params: optional(z.string()),
  processes: z.array(z.object({ node: z.string(), value: processes })).default([]),
  nextEventId: z.number().default(1),
});

/** Encodes everything in a ledger except its months, rollups and events, as JSON. Block numbers are strings. */
export function encodeLedgerBody(ledger: Ledger): string {
  const { chainId, sources, anchors, progress: reached, params, events } = ledger;
  const value = {
    chainId,
    sources: Object.fromEntries(
      Object.entries(sources).map(([name, { counterStates, checkpoint: at }]) => [
        name,
        { tracks: Object.fromEntries(counterStates), cursor: at },
      ]),
    ),
    anchors,
    progress: reached,
    params,
    processes: [...ledger.processes].map(([node, seen]) => ({ node, value: seen })),
    nextEventId: events.nextId,
  };
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? String(part) : part));
}

/** Decodes the output of {@link encodeLedgerBody}. Throws for any other text. */
export function decodeLedgerBody(text: string): Ledger {
  const parsed = body.parse(JSON.parse(text));
  const { chainId, sources, anchors, progress: reached, params, nextEventId } = parsed;
  const sourceOf = (name: LedgerSource): SourceLedger => {
    const stored = sources[name];
    if (stored === undefined) return EMPTY_SOURCE;
    const counterStates = new Map(Object.entries(stored.tracks));
    return {
      ...EMPTY_SOURCE,
      counterStates,
      ...(stored.cursor === undefined ? {} : { checkpoint: stored.cursor }),
    };
  };
  return {
    ...(chainId === undefined ? {} : { chainId }),
    sources: { calls: sourceOf("calls"), votes: sourceOf("votes"), revenue: sourceOf("revenue") },
    anchors,
    ...(reached === undefined ? {} : { progress: reached }),
    ...(params === undefined ? {} : { params }),
    processes: new Map(parsed.processes.map(({ node, value }) => [node, value])),
    events: { recent: [], nextId: nextEventId },
    misses: [],
  };
}
