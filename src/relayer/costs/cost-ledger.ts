import {
  bigintOf,
  numberOf,
  type SqlRow,
  type SqlSession,
  type SqlValue,
  textOf,
} from "../../platform/storage/sql-database.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../platform/base/time.ts";
import type { RelayerStore } from "../state/store.ts";
import { addAmounts } from "../result/amounts.ts";
import { attributeCost, type CostPart, type CostSum, type SharingQuery } from "./payment.ts";
import type { PaidTransaction } from "../result/submit-gate.ts";

/** Lengths of the stored time spans, in ms. */
export const SPANS = { minutes: 5 * MINUTE_MS, hour: HOUR_MS, day: DAY_MS } as const;

/** Age at which the ledger deletes spans of each length, in ms. 62 days cover this calendar month and the last 30 days. */
const STORED_MS: readonly (readonly [span: number, ms: number])[] = [
  [SPANS.minutes, 70 * MINUTE_MS],
  [SPANS.hour, 3 * DAY_MS],
  [SPANS.day, 62 * DAY_MS],
];

/** A query's total cost over a time range. */
export interface QuerySum extends CostPart {}

export interface SpanSum {
  readonly startMs: number;
  readonly fee: bigint;
  readonly gas: bigint;
}

/**
 * The durable record of the relayer's payments by query and time span. Each transaction is added exactly once, because its hash is
 * stored in the same database transaction. A query has at most 14 five-minute, 72 hourly and 62 daily rows.
 */
export type CostLedger = ReturnType<typeof createCostLedger>;

export interface CostLedgerDeps {
  readonly chainId: string;
  /** Address of the account that pays the fees. */
  readonly payer: string;
  readonly store: Pick<RelayerStore, "queue" | "session">;
  /** Returns the queries that share a connection's light client. */
  readonly sharing: (connectionId: string) => readonly SharingQuery[];
  readonly nowMs: () => number;
  /**
   * Returns the local chain's time as Unix time in ms; defaults to this machine's time. Chain time prevents early deletion of spans
   * if this machine's clock is fast.
   */
  readonly localTimeMs?: () => number;
}

/** A transaction with its cost shares that has not been written to the store. */
interface Entry {
  readonly hash: string;
  readonly height: bigint;
  readonly atMs: number;
  readonly parts: readonly CostPart[];
}

/** Number of blocks for which the ledger stores transaction hashes. No transaction stays in flight for so long. */
const STORED_BLOCKS = 1_000n;

/** Creates one payer's ledger in an open store. */
export function createCostLedger(deps: CostLedgerDeps) {
  const { store, chainId, payer, nowMs, localTimeMs = nowMs } = deps;
  const key = [chainId, payer] as const;
  let open: Entry[] | undefined;
  let prunedAt = Number.NEGATIVE_INFINITY;
  /** Records the current time and local height as the start of the sums. Only the first call has an effect. */
  const begin = (height: bigint): void => {
    const atMs = nowMs();
    store.queue.push((session) => put(session, BEGIN, [...key, atMs, height]));
  };
  const since = async (): Promise<SqlRow | undefined> => {
    const [row] = await store.session.run(SINCE, key);
    return row;
  };
  /** Records a payment that was made at `atMs`, as Unix time in ms. */
  const recordAt = (transaction: PaidTransaction, atMs: number): void => {
    const { hash, height } = transaction;
    const entry = { hash, height, atMs, parts: attributeCost(transaction, deps.sharing) };
    if (open !== undefined) return void open.push(entry);
    const batch = [entry];
    open = batch;
    store.queue.push(async (session) => {
      if (open === batch) open = undefined;
      await write(session, key, batch);
    });
    if (nowMs() - prunedAt < SPANS.minutes) return;
    prunedAt = nowMs();
    store.queue.push((session) => prune(session, key, Math.min(nowMs(), localTimeMs())));
  };
  return {
    recordAt,
    record: (transaction: PaidTransaction): void => recordAt(transaction, nowMs()),
    begin,
    /** Returns the time that `begin` recorded, as Unix time in ms; undefined before the call of `begin`. */
    sinceMs: async (): Promise<number | undefined> => {
      const row = await since();
      return row === undefined ? undefined : numberOf(row, "since_ms");
    },
    /** Returns the height that `begin` recorded; undefined before the call, or if an older program version started the sums. */
    sinceHeight: async (): Promise<bigint | undefined> => bigintOf(await since(), "since_height"),
    /** Returns the height of the newest transaction; undefined if there is none. */
    newestHeight: async (): Promise<bigint | undefined> => {
      const [row] = await store.session.run(
        "SELECT MAX(height) AS height FROM paid_tx WHERE chain = ? AND payer = ?",
        key,
      );
      return bigintOf(row, "height");
    },
    /** Returns each query's total cost in the stored time spans of this length that start at `fromMs` or later. */
    byQuery: async (span: number, fromMs: number): Promise<readonly QuerySum[]> => {
      const rows = await store.session.run(
        `SELECT query_id, MAX(owner) AS owner, SUM(results) AS results, ${SUMS} FROM query_cost WHERE chain = ? AND payer = ? AND span = ? AND start_ms >= ? GROUP BY query_id`,
        [...key, span, fromMs],
      );
      return rows.map(toQuerySum);
    },
    /** Returns the total cost of all queries in each stored time span, oldest first, without the spans that have no costs. */
    bySpan: async (span: number, fromMs: number): Promise<readonly SpanSum[]> => {
      const rows = await store.session.run(
        `SELECT start_ms, ${SUMS} FROM query_cost WHERE chain = ? AND payer = ? AND span = ? AND start_ms >= ? GROUP BY start_ms ORDER BY start_ms`,
        [...key, span, fromMs],
      );
      return rows.map((row) => ({
        startMs: numberOf(row, "start_ms"),
        fee: feeOf(row, "fee"),
        gas: bigintOf(row, "gas") ?? 0n,
      }));
    },
    /**
     * Deletes all records of the chain and begins again at height 0. Call `reset` after a reset of the local chain, because query
     * ids then identify different queries.
     */
    reset: (): void => {
      open = undefined;
      for (const table of ["query_cost", "paid_tx", "cost_since"])
        store.queue.push((session) => put(session, `DELETE FROM ${table} WHERE chain = ?`, [chainId]));
      begin(0n);
    },
  };
}

const BEGIN =
  "INSERT INTO cost_since (chain, payer, since_ms, since_height) VALUES (?, ?, ?, ?) ON CONFLICT (chain, payer) DO NOTHING";
const SINCE = "SELECT since_ms, since_height FROM cost_since WHERE chain = ? AND payer = ?";

const AMOUNTS = ["fee", "update", "failed"] as const;
const SUMS = [
  "SUM(gas) AS gas",
  ...AMOUNTS.flatMap((name) => ["high", "low"].map((part) => `SUM(${name}_${part}) AS ${name}_${part}`)),
].join(", ");

/** A fee is stored as high × `LOW` + low. A query has so few transactions per day that the sum of low parts stays below 2^63. */
const LOW = 1_000_000_000_000n;

function feeOf(row: SqlRow | undefined, name: (typeof AMOUNTS)[number]): bigint {
  return (bigintOf(row, `${name}_high`) ?? 0n) * LOW + (bigintOf(row, `${name}_low`) ?? 0n);
}

function toQuerySum(row: SqlRow): QuerySum {
  return {
    queryId: bigintOf(row, "query_id") ?? 0n,
    owner: textOf(row, "owner") ?? "",
    results: numberOf(row, "results"),
    gas: bigintOf(row, "gas") ?? 0n,
    fee: feeOf(row, "fee"),
    updateFee: feeOf(row, "update"),
    failedFee: feeOf(row, "failed"),
  };
}

async function put(session: SqlSession, sql: string, values: readonly SqlValue[]): Promise<void> {
  await session.run(sql, values);
}

type Key = readonly [chain: string, payer: string];

/** Adds transactions to the sums. Skips transactions that the sums already contain. */
async function write(session: SqlSession, key: Key, batch: readonly Entry[]): Promise<void> {
  const sums = new Map<string, Row>();
  for (const { hash, height, atMs, parts } of batch) {
    const [known] = await session.run("SELECT 1 FROM paid_tx WHERE chain = ? AND payer = ? AND hash = ?", [
      ...key,
      hash,
    ]);
    if (known !== undefined) continue;
    await session.run("INSERT INTO paid_tx (chain, payer, hash, height) VALUES (?, ?, ?, ?)", [
      ...key,
      hash,
      height,
    ]);
    for (const part of parts) for (const [span] of STORED_MS) addPart(sums, part, span, atMs);
  }
  const rows = [...sums.values()];
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    const some = rows.slice(start, start + ROWS_PER_INSERT);
    const values = some.flatMap((row) => [...key, ...toValues(row)]);
    await session.run(`${INSERT} ${some.map(() => PLACEHOLDERS).join(", ")} ${ON_CONFLICT}`, values);
  }
}

interface Row extends SharingQuery {
  readonly span: number;
  readonly startMs: number;
  readonly sum: CostSum;
}

function addPart(rows: Map<string, Row>, part: CostPart, span: number, atMs: number): void {
  const { queryId, owner, ...sum } = part;
  const startMs = Math.floor(atMs / span) * span;
  const key = `${span} ${startMs} ${queryId}`;
  const known = rows.get(key);
  rows.set(key, {
    span,
    startMs,
    queryId,
    owner: owner || (known?.owner ?? ""),
    sum: known === undefined ? sum : addAmounts(known.sum, sum),
  });
}

/** Number of rows per INSERT, chosen so that SQLite and PostgreSQL accept the number of parameters. */
const ROWS_PER_INSERT = 100;
const ADDED = ["results", "gas", ...AMOUNTS.flatMap((name) => [`${name}_high`, `${name}_low`])];
const COLUMNS = ["chain", "payer", "span", "start_ms", "query_id", "owner", ...ADDED];
const INSERT = `INSERT INTO query_cost (${COLUMNS.join(", ")}) VALUES`;
const PLACEHOLDERS = `(${COLUMNS.map(() => "?").join(", ")})`;
const ON_CONFLICT = `ON CONFLICT (chain, payer, span, start_ms, query_id) DO UPDATE SET ${ADDED.map(
  (name) => `${name} = query_cost.${name} + excluded.${name}`,
).join(", ")}`;

function toValues({ span, startMs, queryId, owner, sum }: Row): readonly SqlValue[] {
  const amounts = [sum.fee, sum.updateFee, sum.failedFee].flatMap((fee) => [fee / LOW, fee % LOW]);
  return [span, startMs, queryId, owner, sum.results, sum.gas, ...amounts];
}

async function prune(session: SqlSession, key: Key, nowMs: number): Promise<void> {
  for (const [span, ms] of STORED_MS)
    await session.run("DELETE FROM query_cost WHERE chain = ? AND payer = ? AND span = ? AND start_ms < ?", [
      ...key,
      span,
      nowMs - ms,
    ]);
  const [newest] = await session.run(
    "SELECT MAX(height) AS height FROM paid_tx WHERE chain = ? AND payer = ?",
    key,
  );
  await session.run("DELETE FROM paid_tx WHERE chain = ? AND payer = ? AND height < ?", [
    ...key,
    (bigintOf(newest, "height") ?? 0n) - STORED_BLOCKS,
  ]);
}
