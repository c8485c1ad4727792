import { z } from "zod";
import { ATTEMPT_OUTCOMES, type Attempt, type DailyCost } from "../state/attempt.ts";
import type { DeadLetter } from "./relayer-data.ts";

const integer = z
  .string()
  .regex(/^\d{1,40}$/)
  .transform(BigInt);
const time = z.string().transform((text, context) => {
  const atMs = Date.parse(text);
  if (Number.isFinite(atMs)) return atMs;
  context.addIssue("a time in ISO 8601 was expected");
  return z.NEVER;
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
    // A newer relayer may have outcomes that this program does not know.
    outcome: z.enum(ATTEMPT_OUTCOMES).catch("not-broadcast"),
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
const attempts = z.array(attempt);
const costs = z.array(
  z.object({
    day: z.number(),
    owner: z.string(),
    attempts: z.number(),
    included: z.number(),
    gas: integer,
    fee: integer,
  }),
);
const deadLetters = z.array(
  z
    .object({ query_id: z.number(), submitted_tx_hash: z.string(), error_time: time, message: z.string() })
    .transform(
      (wire): DeadLetter => ({
        queryId: BigInt(wire.query_id),
        hash: wire.submitted_tx_hash,
        atMs: wire.error_time,
        reason: wire.message,
      }),
    ),
);

/** Decodes `GET /api/attempts` of a relayer. Throws a `ZodError`. */
export function parseAttempts(body: unknown): readonly Attempt[] {
  return attempts.parse(body);
}

/** Decodes `GET /api/costs` of a relayer. Throws a `ZodError`. */
export function parseCosts(body: unknown): readonly DailyCost[] {
  return costs.parse(body);
}

/** Decodes `GET /unsuccessful-txs` of a relayer. Throws a `ZodError`. */
export function parseDeadLetters(body: unknown): readonly DeadLetter[] {
  return deadLetters.parse(body);
}
