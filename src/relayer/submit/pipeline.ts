import { isNewer, type RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import type { ExpectedResult, ProvenResult, ResultOutcome } from "../result/proven-result.ts";

/** A result's stage. Each result is in exactly one stage and is resolved once. */
export type Stage =
  /** A worker is reading and proving the result. */
  | { readonly kind: "expected"; readonly sinceHeight: bigint }
  /** The result is queued for a transaction. */
  | { readonly kind: "queued" }
  /** The result is in a transaction that is being simulated or awaits its broadcast. */
  | { readonly kind: "planned" }
  /** The result's transaction is being broadcast, and a block may already include it. */
  | ({ readonly kind: "broadcasting" } & Departure)
  /** A node has accepted the result's transaction. */
  | ({ readonly kind: "in-flight" } & Departure)
  /** The result has its outcome, which is undefined if the result was not proven. */
  | { readonly kind: "resolved"; readonly outcome: ResultOutcome | undefined };

interface Departure {
  /** Local height at which the result's transaction was broadcast. */
  readonly sentAt: bigint;
  /** Gas that the result's transaction is expected to use. */
  readonly gas: bigint;
}

type PipelineEvent =
  | { readonly kind: "prove" }
  | { readonly kind: "plan" }
  | ({ readonly kind: "broadcast" } & Departure)
  | { readonly kind: "accept" }
  /** The result's transaction was not broadcast, failed or was lost, and the result is retried. */
  | { readonly kind: "requeue" }
  | { readonly kind: "resolve"; readonly outcome: ResultOutcome | undefined };

/** Returns a result's stage after an event. Throws if the event is impossible in the present stage, which would be a bug. */
function nextStage(stage: Stage, event: PipelineEvent): Stage {
  switch (event.kind) {
    case "prove":
      if (stage.kind === "expected") return { kind: "queued" };
      break;
    case "plan":
      if (stage.kind === "queued") return { kind: "planned" };
      break;
    case "broadcast":
      if (stage.kind === "planned") return { kind: "broadcasting", sentAt: event.sentAt, gas: event.gas };
      break;
    case "accept":
      if (stage.kind === "broadcasting") return { ...stage, kind: "in-flight" };
      break;
    case "requeue":
      if (stage.kind === "planned" || stage.kind === "broadcasting" || stage.kind === "in-flight")
        return { kind: "queued" };
      break;
    case "resolve":
      if (stage.kind !== "resolved") return { kind: "resolved", outcome: event.outcome };
      break;
  }
  throw new Error(`event ${event.kind} is impossible in stage ${stage.kind}`);
}

/** An expected result, i.e. a result that a worker is still reading and proving. */
export interface ExpectedEntry {
  readonly id: number;
  readonly result: ExpectedResult;
  /** The result's current stage, which only the pipeline may change. */
  readonly stage: Stage;
}

/** A proven result, with the submitter's data about the result. */
export interface Entry {
  readonly id: number;
  readonly result: ProvenResult;
  readonly stage: Stage;
  /** Monotonic time at which the worker offered the result, ms. */
  readonly sinceMs: number;
  simulations: number;
}

/** A query's unresolved results, grouped by stage. */
export interface QueryEntries {
  /** Results that are being read, oldest first. */
  readonly expected: readonly ExpectedEntry[];
  /** Queued results. A KV query has at most one queued result, and a TX query's results are in chain order. */
  readonly queued: readonly Entry[];
  readonly planned: readonly Entry[];
  /** Results whose transaction is being broadcast or is in flight. */
  readonly sent: readonly Entry[];
}

/** Tracks each result from the start of its read until its outcome is known. */
export type Pipeline = ReturnType<typeof createPipeline>;

const NONE: QueryEntries = { expected: [], queued: [], planned: [], sent: [] };

type Place = keyof QueryEntries;

export function createPipeline() {
  const entries = new Map<number, ExpectedEntry | Entry>();
  const queries = new Map<bigint, QueryEntries>();
  const places: Record<Place, Set<ExpectedEntry | Entry>> = {
    expected: new Set(),
    queued: new Set(),
    planned: new Set(),
    sent: new Set(),
  };
  let lastId = 0;
  let bytes = 0;
  const ofQuery = (id: bigint): QueryEntries => queries.get(id) ?? NONE;
  const setQuery = (id: bigint, next: QueryEntries): void => {
    if (next.expected.length + next.queued.length + next.planned.length + next.sent.length > 0)
      queries.set(id, next);
    else queries.delete(id);
  };
  /** Removes an entry from its stage in all indices. */
  const leave = (entry: ExpectedEntry | Entry): void => {
    const place = placeOf(entry.stage);
    if (place === undefined || !places[place].delete(entry)) return;
    if (place === "queued" && isProven(entry)) bytes -= entry.result.message.length;
    const { id } = entry.result.query;
    const own = ofQuery(id);
    setQuery(id, { ...own, [place]: own[place].filter((other) => other.id !== entry.id) });
  };
  /** Puts an entry into a stage in all indices. */
  const enter = (entry: ExpectedEntry | Entry, stage: Stage, isFirst = false): void => {
    // No other code writes a stage.
    (entry as { stage: Stage }).stage = stage;
    const place = placeOf(stage);
    if (place === undefined) {
      entries.delete(entry.id);
      return;
    }
    entries.set(entry.id, entry);
    places[place].add(entry);
    if (place === "queued" && isProven(entry)) bytes += entry.result.message.length;
    const { id } = entry.result.query;
    const own = ofQuery(id);
    setQuery(id, { ...own, [place]: isFirst ? [entry, ...own[place]] : [...own[place], entry] });
  };
  /** Queues an entry. If a KV query then has two queued results, returns the older result, which the caller must resolve. */
  const enqueue = (entry: Entry, isFirst: boolean): Entry | undefined => {
    const { query, at } = entry.result;
    const [old] = ofQuery(query.id).queued;
    enter(entry, { kind: "queued" }, isFirst);
    if (query.type === "tx" || old === undefined) return undefined;
    return isNewer(at, old.result.at) ? old : entry;
  };
  const proven = (place: Place) => (): readonly Entry[] => [...places[place]].filter(isProven);
  return {
    /** Adds results that are being read and returns their ids. */
    expect: (results: readonly ExpectedResult[], height: bigint): readonly number[] =>
      results.map((result) => {
        lastId += 1;
        const stage: Stage = { kind: "expected", sinceHeight: height };
        enter({ id: lastId, result, stage }, stage);
        return lastId;
      }),
    /** Resolves expected results that have not been proven, and ignores the ids of other results. */
    giveUp: (ids: readonly number[]): void => {
      for (const id of ids) {
        const entry = entries.get(id);
        if (entry?.stage.kind !== "expected") continue;
        leave(entry);
        enter(entry, nextStage(entry.stage, { kind: "resolve", outcome: undefined }));
      }
    },
    /**
     * Queues a proven result behind its query's other results. `id` is the id of the expected result. Returns the new entry and, if
     * a KV query would have two queued results, the older entry, which must be resolved.
     */
    queue: (
      result: ProvenResult,
      sinceMs: number,
      id?: number,
    ): { readonly entry: Entry; readonly displaced: Entry | undefined } => {
      const expected = id === undefined ? undefined : entries.get(id);
      if (expected !== undefined) {
        nextStage(expected.stage, { kind: "prove" });
        leave(expected);
      }
      if (expected === undefined) lastId += 1;
      const entry: Entry = {
        id: expected?.id ?? lastId,
        result,
        stage: { kind: "queued" },
        sinceMs,
        simulations: 0,
      };
      return { entry, displaced: enqueue(entry, false) };
    },
    /**
     * Moves proven entries to a stage other than the queue. Throws on a bug: a KV query would have two results in flight, or a TX
     * result would overtake another result of its query.
     */
    apply: (
      moved: readonly Entry[],
      event: Exclude<PipelineEvent, { readonly kind: "prove" | "requeue" }>,
    ): void => {
      for (const entry of moved) {
        const stage = nextStage(entry.stage, event);
        const { id, type } = entry.result.query;
        if (event.kind === "broadcast" && type === "kv" && ofQuery(id).sent.length > 0)
          throw new Error(`query ${id} already has a result in flight`);
        if (event.kind === "broadcast" && type === "tx" && isBehind(entry, ofQuery(id)))
          throw new Error(`query ${id} has an earlier result in the queue`);
        leave(entry);
        enter(entry, stage);
      }
    },
    /** Puts entries back at the front of their queries' queues, in the same order. Returns superseded entries, which must be resolved. */
    requeue: (moved: readonly Entry[]): readonly Entry[] =>
      moved.toReversed().flatMap((entry) => {
        nextStage(entry.stage, { kind: "requeue" });
        leave(entry);
        return enqueue(entry, true) ?? [];
      }),
    ofQuery,
    expected: (): readonly ExpectedEntry[] => [...places.expected],
    planned: proven("planned"),
    sent: proven("sent"),
    /** Returns the first queued result of each query, in no particular order. */
    queuedHeads: (): readonly Entry[] => {
      const heads: Entry[] = [];
      for (const { queued } of queries.values()) if (queued[0] !== undefined) heads.push(queued[0]);
      return heads;
    },
    queued: proven("queued"),
    queuedCount: (): number => places.queued.size,
    /** Total size of the queued messages, in bytes. */
    queuedBytes: (): number => bytes,
  };
}

function placeOf({ kind }: Stage): Place | undefined {
  if (kind === "resolved") return undefined;
  return kind === "broadcasting" || kind === "in-flight" ? "sent" : kind;
}

/** Returns true if an earlier result for the same TX query must be sent first. Ids are in chain order, even after a requeue. */
function isBehind({ id }: Entry, { planned, queued }: QueryEntries): boolean {
  return [...planned, ...queued].some((other) => other.id < id);
}

/** Returns true if the entry's result has been proven. */
export function isProven(entry: ExpectedEntry | Entry): entry is Entry {
  return "sinceMs" in entry;
}

/** Returns the local height at which a query's result in flight was broadcast; undefined if no result is in flight. */
export function sentAtOf({ sent }: QueryEntries): bigint | undefined {
  const stage = sent.at(-1)?.stage;
  return stage?.kind === "broadcasting" || stage?.kind === "in-flight" ? stage.sentAt : undefined;
}

/** Returns the number of a query's results that have not been broadcast, and the remote height of the newest of these results. */
export function unsentOf({ planned, queued, expected }: QueryEntries): {
  readonly count: number;
  readonly newest: RemoteHeight | undefined;
} {
  const newest = expected.at(-1) ?? queued.at(-1) ?? planned.at(-1);
  return { count: planned.length + queued.length + expected.length, newest: newest?.result.at };
}
