import { z } from "zod";
import { stringifyJson } from "../../platform/base/json.ts";
import type { Baseline } from "../ledger/counter-state.ts";
import type { Processes } from "../ledger/ledger-events.ts";
import { LEDGER_SOURCES, type LedgerSource } from "../ledger/ledger-view.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { EMPTY_SOURCE, type SourceLedger } from "../ledger/source-ledger.ts";

const integer = z.string().transform((text, context) => {
  if (/^-?\d{1,30}$/.test(text)) return BigInt(text);
  context.addIssue("not an integer");
  return z.NEVER;
});
const baseline = z.object({
  chainId: z.string(),
  success: integer,
  failure: integer,
  height: integer.exactOptional(),
  processStartMs: z.number().exactOptional(),
  atMs: z.number(),
}) satisfies z.ZodType<Baseline>;
// Older versions stored only the last reading of a conflict between two nodes, and treated every new process as a second node.
const conflict = z
  .object({ first: baseline.optional(), last: baseline, alternates: z.boolean().default(true) })
  .transform(({ first, ...rest }) => ({ ...rest, first: first ?? rest.last }));
const counterState = z.object({
  baseline,
  conflict: conflict.exactOptional(),
  replacedAtMs: z.number().exactOptional(),
});
const checkpoint = z.object({
  atMs: z.number(),
  timeMs: z.number(),
  height: integer.exactOptional(),
  node: z.string(),
});
// The stored keys keep their old names, because state files of every version must stay readable.
const source = z.object({ tracks: z.record(z.string(), counterState), cursor: checkpoint.exactOptional() });
const processes = z.object({
  sidecarSeenMs: z.number().exactOptional(),
  sidecarStartMs: z.number().exactOptional(),
  sidecarVersion: z.string().exactOptional(),
  nodeVersion: z.string().exactOptional(),
  changedMs: z.number().exactOptional(),
}) satisfies z.ZodType<Processes>;
const body = z.object({
  chainId: z.string().exactOptional(),
  sources: z.partialRecord(z.enum(LEDGER_SOURCES), source),
  anchors: z.array(z.object({ timeMs: z.number(), height: integer })).default([]),
  progress: z
    .object({ height: integer, sinceMs: z.number(), haltId: z.number().exactOptional() })
    .exactOptional(),
  params: z.string().exactOptional(),
  processes: z.array(z.object({ node: z.string(), value: processes })).default([]),
  nextEventId: z.number().default(1),
});

/** Encodes a ledger as JSON, without its months, rollups, miss ranges and events. Block counts and heights are strings. */
export function encodeLedgerBody(ledger: Ledger): string {
  const { chainId, sources, anchors, progress, params, events } = ledger;
  return stringifyJson({
    chainId,
    sources: Object.fromEntries(
      Object.entries(sources).map(([name, { counterStates, checkpoint: cursor }]) => [
        name,
        { tracks: Object.fromEntries(counterStates), cursor },
      ]),
    ),
    anchors,
    progress,
    params,
    processes: [...ledger.processes].map(([node, value]) => ({ node, value })),
    nextEventId: events.nextId,
  });
}

/** Decodes the output of {@link encodeLedgerBody}, including older versions' output. Throws if the text has another format. */
export function decodeLedgerBody(text: string): Ledger {
  // Drop nulls, because a migration stored them for absent keys.
  const json: unknown = JSON.parse(text, (_key, value: unknown) => value ?? undefined);
  const { sources, processes: seen, nextEventId, ...rest } = body.parse(json);
  const sourceOf = (name: LedgerSource): SourceLedger => {
    const { tracks = {}, cursor } = sources[name] ?? {};
    return {
      ...EMPTY_SOURCE,
      counterStates: new Map(Object.entries(tracks)),
      ...(cursor === undefined ? {} : { checkpoint: cursor }),
    };
  };
  return {
    ...rest,
    sources: { calls: sourceOf("calls"), votes: sourceOf("votes"), revenue: sourceOf("revenue") },
    processes: new Map(seen.map(({ node, value }) => [node, value])),
    events: { recent: [], nextId: nextEventId },
    misses: [],
  };
}
