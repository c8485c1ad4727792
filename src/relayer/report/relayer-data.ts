import { z } from "zod";
import type { DeadLetter } from "../state/journal.ts";
import type { DisplayUnit } from "../../platform/base/display-unit.ts";
import {
  type Attempt,
  ATTEMPT_OUTCOMES,
  type AttemptLog,
  type AttemptSummary,
  type DailyCost,
  dayOf,
  MAX_ATTEMPTS_READ,
} from "../state/attempt.ts";

export interface RelayerData {
  readonly fromMs: number;
  readonly toMs: number;
  /** Counts of all stored attempts in {@link SUMMARY_PARTS} equal parts of the time range. */
  readonly summary: AttemptSummary;
  /** The attempts from which the report computes costs, newest first. */
  readonly attempts: readonly Attempt[];
  /** True if the range contains older attempts that were omitted. */
  readonly isCut: boolean;
  /** Costs by day and owner, for every day that overlaps the range. */
  readonly costs: readonly DailyCost[];
  /** Dead letters, newest first. */
  readonly deadLetters: readonly Omit<DeadLetter, "remoteHeight">[];
  /** Number of keys of each registered KV query, by id. */
  readonly keys: ReadonlyMap<bigint, number>;
  /** The fee denom and its display unit; undefined if the relayer does not report the denom. */
  readonly denom?: string | undefined;
  readonly unit?: DisplayUnit | undefined;
}

/** Number of equal parts into which a report's chart divides the time range. */
export const SUMMARY_PARTS = 48;

/** Maximum number of attempts in a report. Beyond this number, the costs come from the daily sums. */
const MAX_ATTEMPTS = 20_000;

/** Reads the attempts that started in a time range. */
export async function readRelayerData(
  log: Pick<AttemptLog, "find" | "costs" | "summary">,
  { deadLetters, ...more }: Pick<RelayerData, "deadLetters" | "keys" | "denom" | "unit">,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<RelayerData> {
  const attempts: Attempt[] = [];
  let untilMs = toMs;
  let isCut = false;
  for (;;) {
    const page = await log.find({ sinceMs: fromMs, untilMs, limit: MAX_ATTEMPTS_READ });
    attempts.push(...page);
    const oldest = page.at(-1);
    if (oldest === undefined || page.length < MAX_ATTEMPTS_READ) break;
    // The next page starts again at this page's oldest timestamp. Stop if a whole page shares one timestamp.
    isCut ||= attempts.length >= MAX_ATTEMPTS || page[0]?.startedAtMs === oldest.startedAtMs;
    if (isCut) break;
    while (attempts.at(-1)?.startedAtMs === oldest.startedAtMs) attempts.pop();
    untilMs = oldest.startedAtMs + 1;
  }
  return {
    fromMs,
    toMs,
    summary: await log.summary({ fromMs, toMs, parts: SUMMARY_PARTS }),
    attempts,
    isCut,
    costs: await log.costs({ from: dayOf(fromMs), to: dayOf(toMs) }),
    deadLetters: deadLetters.filter(({ atMs }) => atMs >= fromMs && atMs < toMs),
    ...more,
  };
}

const integer = z
  .string()
  .regex(/^\d{1,40}$/)
  .transform(BigInt);
const time = z.string().transform((text, context) => {
  const atMs = Date.parse(text);
  if (Number.isFinite(atMs)) return atMs;
  context.addIssue("expected an ISO 8601 time");
  return z.NEVER;
});

// A newer relayer may report an outcome that this version does not know.
const outcome = z.enum(ATTEMPT_OUTCOMES).catch("not-broadcast");
const count = z.int().min(0);
/** Schema of the response to a relayer's `GET /api/attempts/summary`. */
export const SUMMARY = z.object({
  outcomes: z.array(z.object({ outcome, part: count, attempts: count })),
  lateness: z.array(z.object({ blocks: z.int(), attempts: count })),
});
const attempt = z
  .object({
    query_id: integer,
    connection_id: z.string(),
    owner: z.string(),
    type: z.enum(["kv", "tx"]),
    started_at: time,
    due_height: integer,
    remote_height: integer.nullable(),
    tx_hash: z.string().nullable(),
    outcome,
    reason: z.string().nullable(),
    local_height: integer.nullable(),
    gas: integer,
    fee: integer,
    simulations: z.number(),
  })
  .transform(
    (wire): Attempt => ({
      queryId: wire.query_id,
      connectionId: wire.connection_id,
      owner: wire.owner,
      type: wire.type,
      startedAtMs: wire.started_at,
      dueHeight: wire.due_height,
      remoteHeight: wire.remote_height ?? 0n,
      txHash: wire.tx_hash ?? undefined,
      outcome: wire.outcome,
      reason: wire.reason ?? undefined,
      localHeight: wire.local_height ?? undefined,
      gas: wire.gas,
      fee: wire.fee,
      simulations: wire.simulations,
    }),
  );
/** Schema of the response to a relayer's `GET /api/attempts`. */
export const ATTEMPTS = z.array(attempt);
/** Schema of the response to a relayer's `GET /api/costs`. */
export const COSTS = z.array(
  z.object({
    day: z.number(),
    owner: z.string(),
    attempts: z.number(),
    included: z.number(),
    gas: integer,
    fee: integer,
  }),
);
/** Schema of the response to a relayer's `GET /unsuccessful-txs`. */
export const DEAD_LETTERS = z.array(
  z
    .object({ query_id: z.number(), submitted_tx_hash: z.string(), error_time: time, message: z.string() })
    .transform((wire): RelayerData["deadLetters"][number] => ({
      queryId: BigInt(wire.query_id),
      hash: wire.submitted_tx_hash,
      atMs: wire.error_time,
      reason: wire.message,
    })),
);

/** `key_count` is optional, because an older relayer does not report the number of keys. */
const queries = z.array(z.object({ id: integer, type: z.string(), key_count: z.number().optional() }));

/** Decodes the number of keys per KV query from a relayer's `GET /api/queries`. Throws a `ZodError`. */
export function parseKeyCounts(body: unknown): RelayerData["keys"] {
  return new Map(
    queries
      .parse(body)
      .flatMap(({ id, type, key_count: keys }) => (type === "kv" && keys !== undefined ? [[id, keys]] : [])),
  );
}
