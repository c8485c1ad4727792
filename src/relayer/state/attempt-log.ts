import {
  bigintOf,
  numberOf,
  type SqlDatabase,
  type SqlRow,
  type SqlSession,
  type SqlValue,
  textOf,
} from "../../platform/storage/sql-database.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import type { WriteQueue } from "../../platform/storage/write-queue.ts";
import {
  type Attempt,
  ATTEMPT_OUTCOMES,
  type AttemptFilter,
  type AttemptLog,
  type AttemptOutcome,
  type AttemptSummary,
  type DailyCost,
  dayOf,
  MAX_ATTEMPTS_READ,
} from "./attempt.ts";

export interface AttemptLogDeps {
  readonly database: SqlDatabase;
  readonly queue: Pick<WriteQueue, "offer">;
  readonly nowMs: () => number;
  /**
   * Returns the local chain's time as Unix time in ms; defaults to this machine's time. Chain time prevents early deletion of
   * attempts if this machine's clock is fast.
   */
  readonly localTimeMs?: () => number;
}

/** Maximum length of a stored reason, because a chain's log may contain a whole stack trace. */
const MAX_REASON = 500;
/** Number of rows per INSERT, chosen so that SQLite and PostgreSQL accept the number of parameters. */
const ROWS_PER_INSERT = 100;
/** Number of attempts between two deletions of old rows. */
const PRUNE_EVERY = 1_000;
/** Maximum number of attempts in one pending write. */
const MAX_BATCH = 500;
const COST_DAYS = 400;

const COLUMNS =
  "chain, query_id, connection_id, owner, type, started_at_ms, due_height, remote_height, tx_hash, outcome, reason, local_height, gas, fee, simulations";
const PLACEHOLDERS = `(${COLUMNS.split(", ")
  .map(() => "?")
  .join(", ")})`;

/** Creates one local chain's log in an open store (`openStore`). */
export function createAttemptLog(
  chain: string,
  limits: RelayerConfig["history"],
  deps: AttemptLogDeps,
): AttemptLog {
  const { database, queue, nowMs, localTimeMs = nowMs } = deps;
  // The first write also deletes old rows, because a process that often restarts may never reach {@link PRUNE_EVERY}.
  let sincePrune = PRUNE_EVERY;
  /** The batch of attempts whose write has not started. Batches are used because separate writes would take too long. */
  let open: Attempt[] | undefined;
  const enqueue = (attempts: readonly Attempt[]): void => {
    if (open !== undefined && open.length < MAX_BATCH) {
      open.push(...attempts);
      return;
    }
    const batch = [...attempts];
    open = batch;
    queue.offer(async (session) => {
      if (open === batch) open = undefined;
      await insert(session, chain, batch);
      await addCosts(session, chain, batch);
    });
  };
  return {
    note: (attempts) => {
      if (attempts.length === 0) return;
      enqueue(attempts);
      sincePrune += attempts.length;
      if (sincePrune < PRUNE_EVERY) return;
      sincePrune = 0;
      const at = Math.min(nowMs(), localTimeMs());
      queue.offer((session) => prune(session, chain, limits, at));
    },
    find: async (filter) => (await select(database, chain, filter)).map(toAttempt),
    summary: (range) => summarize(database, chain, range),
    costs: async ({ from, to }) => {
      const rows = await database.run(
        "SELECT * FROM cost WHERE chain = ? AND day >= ? AND day <= ? ORDER BY day, owner",
        [chain, from, to],
      );
      return rows.map(toCost);
    },
  };
}

async function insert(session: SqlSession, chain: string, attempts: readonly Attempt[]): Promise<void> {
  for (let start = 0; start < attempts.length; start += ROWS_PER_INSERT) {
    const part = attempts.slice(start, start + ROWS_PER_INSERT);
    const rows = part.map(() => PLACEHOLDERS).join(", ");
    await session.run(
      `INSERT INTO attempts (${COLUMNS}) VALUES ${rows}`,
      part.flatMap((attempt) => toValues(chain, attempt)),
    );
  }
}

function toValues(chain: string, attempt: Attempt): readonly SqlValue[] {
  return [
    chain,
    attempt.queryId,
    attempt.connectionId,
    attempt.owner,
    attempt.type,
    attempt.startedAtMs,
    attempt.dueHeight,
    attempt.remoteHeight,
    attempt.txHash ?? null,
    attempt.outcome,
    attempt.reason?.slice(0, MAX_REASON) ?? null,
    attempt.localHeight ?? null,
    attempt.gas,
    `${attempt.fee}`,
    attempt.simulations,
  ];
}

/** Adds attempts to the daily costs, in code because SQL integers are too small. Only the leader writes, so no update is lost. */
async function addCosts(session: SqlSession, chain: string, attempts: readonly Attempt[]): Promise<void> {
  for (const cost of sums(attempts)) {
    const [row] = await session.run(
      "SELECT attempts, included, gas, fee FROM cost WHERE chain = ? AND day = ? AND owner = ?",
      [chain, cost.day, cost.owner],
    );
    await session.run(
      "INSERT INTO cost (chain, day, owner, attempts, included, gas, fee) VALUES (?, ?, ?, ?, ?, ?, ?) " +
        "ON CONFLICT (chain, day, owner) DO UPDATE SET attempts = excluded.attempts, included = excluded.included, gas = excluded.gas, fee = excluded.fee",
      [
        chain,
        cost.day,
        cost.owner,
        numberOf(row, "attempts") + cost.attempts,
        numberOf(row, "included") + cost.included,
        (bigintOf(row, "gas") ?? 0n) + cost.gas,
        `${(bigintOf(row, "fee") ?? 0n) + cost.fee}`,
      ],
    );
  }
}

function sums(attempts: readonly Attempt[]): readonly DailyCost[] {
  const byKey = new Map<string, DailyCost>();
  for (const { startedAtMs, owner, outcome, gas, fee } of attempts) {
    const day = dayOf(startedAtMs);
    const key = `${day} ${owner}`;
    const sum = byKey.get(key) ?? { day, owner, attempts: 0, included: 0, gas: 0n, fee: 0n };
    byKey.set(key, {
      ...sum,
      attempts: sum.attempts + 1,
      included: sum.included + (outcome === "included" ? 1 : 0),
      gas: sum.gas + gas,
      fee: sum.fee + fee,
    });
  }
  return [...byKey.values()];
}

async function prune(
  session: SqlSession,
  chain: string,
  limits: RelayerConfig["history"],
  nowMs: number,
): Promise<void> {
  const [oldest] = await session.run(
    "SELECT started_at_ms FROM attempts WHERE chain = ? ORDER BY started_at_ms DESC LIMIT 1 OFFSET ?",
    [chain, limits.max_attempts],
  );
  // Also delete all rows that have the first surplus row's timestamp, so that at most `max_attempts` remain.
  const cut = Math.max(
    nowMs - limits.max_age,
    oldest === undefined ? 0 : numberOf(oldest, "started_at_ms") + 1,
  );
  await session.run("DELETE FROM attempts WHERE chain = ? AND started_at_ms < ?", [chain, cut]);
  await session.run("DELETE FROM cost WHERE chain = ? AND day < ?", [chain, dayOf(nowMs) - COST_DAYS]);
}

function select(
  database: SqlSession,
  chain: string,
  { queryId, connectionId, owner, outcome, sinceMs, untilMs, limit }: AttemptFilter,
): Promise<readonly SqlRow[]> {
  const conditions: readonly (readonly [string, SqlValue | undefined])[] = [
    ["chain = ?", chain],
    ["query_id = ?", queryId],
    ["connection_id = ?", connectionId],
    ["owner = ?", owner],
    ["outcome = ?", outcome],
    ["started_at_ms >= ?", sinceMs],
    ["started_at_ms < ?", untilMs],
  ];
  const used = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  const where = used.map(({ sql }) => sql).join(" AND ");
  return database.run(
    `SELECT ${COLUMNS} FROM attempts WHERE ${where} ORDER BY started_at_ms DESC, query_id LIMIT ?`,
    [...used.map(({ value }) => value), Math.min(limit, MAX_ATTEMPTS_READ)],
  );
}

async function summarize(
  database: SqlSession,
  chain: string,
  { fromMs, toMs, parts }: Parameters<AttemptLog["summary"]>[0],
): Promise<AttemptSummary> {
  const where = "WHERE chain = ? AND started_at_ms >= ? AND started_at_ms < ?";
  const [from, length] = [BigInt(fromMs), BigInt(toMs - fromMs)];
  const range = [chain, from, BigInt(toMs)];
  const outcomes = await database.run(
    `SELECT outcome, (started_at_ms - ?) * ? / ? AS part, COUNT(*) AS attempts FROM attempts ${where} GROUP BY outcome, part`,
    [from, BigInt(parts), length, ...range],
  );
  const lateness = await database.run(
    `SELECT local_height - due_height AS blocks, COUNT(*) AS attempts FROM attempts ${where} AND local_height IS NOT NULL GROUP BY blocks`,
    range,
  );
  return {
    outcomes: outcomes.map((row) => ({
      outcome: toOutcome(textOf(row, "outcome")),
      part: numberOf(row, "part"),
      attempts: numberOf(row, "attempts"),
    })),
    lateness: lateness.map((row) => ({
      blocks: numberOf(row, "blocks"),
      attempts: numberOf(row, "attempts"),
    })),
  };
}

function toAttempt(row: SqlRow): Attempt {
  return {
    queryId: bigintOf(row, "query_id") ?? 0n,
    connectionId: textOf(row, "connection_id") ?? "",
    owner: textOf(row, "owner") ?? "",
    type: textOf(row, "type") === "tx" ? "tx" : "kv",
    startedAtMs: numberOf(row, "started_at_ms"),
    dueHeight: bigintOf(row, "due_height") ?? 0n,
    remoteHeight: bigintOf(row, "remote_height") ?? 0n,
    txHash: textOf(row, "tx_hash"),
    outcome: toOutcome(textOf(row, "outcome")),
    reason: textOf(row, "reason"),
    localHeight: bigintOf(row, "local_height"),
    gas: bigintOf(row, "gas") ?? 0n,
    fee: bigintOf(row, "fee") ?? 0n,
    simulations: numberOf(row, "simulations"),
  };
}

/** Converts a stored outcome, or returns "not-broadcast" for an unknown outcome that a newer program version wrote. */
function toOutcome(text: string | undefined): AttemptOutcome {
  return ATTEMPT_OUTCOMES.find((outcome) => outcome === text) ?? "not-broadcast";
}

function toCost(row: SqlRow): DailyCost {
  return {
    day: numberOf(row, "day"),
    owner: textOf(row, "owner") ?? "",
    attempts: numberOf(row, "attempts"),
    included: numberOf(row, "included"),
    gas: bigintOf(row, "gas") ?? 0n,
    fee: bigintOf(row, "fee") ?? 0n,
  };
}
