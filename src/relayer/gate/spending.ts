import type { RelayerStore } from "../state/store.ts";
import { dayOf } from "../state/attempt.ts";
import type { AdmissionRequest } from "../submit/submit-gate.ts";
import { bigintOf, type SqlSession, textOf } from "../../platform/storage/sql-database.ts";

/** Limits of one UTC day; undefined: none. */
export interface SpendingLimits {
  /** Fees in units of the fee denom. */
  readonly dailyFee: bigint | undefined;
  readonly dailyGasPerOwner: bigint | undefined;
}

/** What was admitted on one UTC day. */
export interface DailySpending {
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly fee: bigint;
  readonly gasByOwner: ReadonlyMap<string, bigint>;
}

/** Owners that status and metrics name, those with the most gas. */
const NAMED_OWNERS = 100;

/** Returns the gas of the owners with the most of it, and the sum of the others as "other". Most first. */
export function namedOwners(gasByOwner: ReadonlyMap<string, bigint>): readonly (readonly [string, bigint])[] {
  const sorted = [...gasByOwner].toSorted(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0));
  const rest = sorted.slice(NAMED_OWNERS).reduce((sum, [, gas]) => sum + gas, 0n);
  const named = sorted.slice(0, NAMED_OWNERS);
  return rest === 0n ? named : [...named, ["other", rest]];
}

/** Why a transaction would exceed a limit. */
interface SpendingRefusal {
  readonly reason: string;
  /** The owners whose budget is used up; undefined: the limit of all. */
  readonly owners?: readonly string[];
}

/**
 * Adds up what transactions cost before they are sent. The chain charges the whole fee of each transaction in a block, so
 * the fee of an admitted transaction counts in full, and its gas limit counts for the owners of its queries.
 */
export interface Spending {
  /** Reads what was spent today, by an earlier process too. */
  readonly load: () => Promise<void>;
  readonly check: (request: AdmissionRequest) => SpendingRefusal | undefined;
  /** Counts a transaction, durable with the next flush. Returns a function that takes it back when nothing was paid. */
  readonly charge: (request: AdmissionRequest) => () => void;
  readonly today: () => DailySpending;
}

export interface SpendingDeps {
  /** Address that pays the fees. */
  readonly payer: string;
  readonly chainId: string;
  readonly store: Pick<RelayerStore, "queue" | "session">;
  /** Wall-clock time, ms. */
  readonly nowMs: () => number;
}

/** Days for which the rows are kept. */
const KEPT_DAYS = 8;
/** The row with the fees of all owners. */
const ALL_OWNERS = "";

interface Day {
  readonly day: number;
  fee: bigint;
  readonly gas: Map<string, bigint>;
}

/** Creates the spending of one payer. It is 0 until `load`. */
export function createSpending(limits: SpendingLimits, deps: SpendingDeps): Spending {
  let current: Day = emptyDay(dayOf(deps.nowMs()));
  const now = (): Day => {
    const day = dayOf(deps.nowMs());
    if (day !== current.day) current = emptyDay(day);
    return current;
  };
  const write = (day: Day, owners: Iterable<string>): void => {
    // The values are read when the write runs, so that the last one has the newest.
    for (const owner of [ALL_OWNERS, ...owners])
      deps.store.queue.push((session) => put(session, deps, day, owner));
  };
  return {
    load: async () => {
      const day = dayOf(deps.nowMs());
      current = await read(deps, day);
      deps.store.queue.push(async (session) => {
        await session.run("DELETE FROM spending WHERE chain = ? AND payer = ? AND day < ?", [
          deps.chainId,
          deps.payer,
          day - KEPT_DAYS,
        ]);
      });
    },
    check: (request) => check(now(), limits, request),
    charge: (request) => {
      const day = now();
      add(day, request, 1n);
      write(day, request.gasByOwner.keys());
      let isTakenBack = false;
      return () => {
        if (isTakenBack) return;
        isTakenBack = true;
        add(day, request, -1n);
        write(day, request.gasByOwner.keys());
      };
    },
    today: () => {
      const { day, fee, gas } = now();
      return { day, fee, gasByOwner: gas };
    },
  };
}

function emptyDay(day: number): Day {
  return { day, fee: 0n, gas: new Map() };
}

function add(day: Day, { fee, gasByOwner }: AdmissionRequest, sign: 1n | -1n): void {
  day.fee += sign * fee;
  for (const [owner, gas] of gasByOwner) day.gas.set(owner, (day.gas.get(owner) ?? 0n) + sign * gas);
}

function check(day: Day, limits: SpendingLimits, request: AdmissionRequest): SpendingRefusal | undefined {
  const { dailyFee, dailyGasPerOwner } = limits;
  if (dailyFee !== undefined && day.fee + request.fee > dailyFee)
    return {
      reason: `spending.daily_fee is used up: ${day.fee} of ${dailyFee} were spent today (UTC), and the transaction costs ${request.fee}`,
    };
  if (dailyGasPerOwner === undefined) return undefined;
  const owners = [...request.gasByOwner]
    .filter(([owner, gas]) => (day.gas.get(owner) ?? 0n) + gas > dailyGasPerOwner)
    .map(([owner]) => owner);
  if (owners.length === 0) return undefined;
  const used = owners.map((owner) => `${owner} used ${day.gas.get(owner) ?? 0n}`).join(", ");
  return {
    owners,
    reason: `spending.daily_gas_per_owner of ${dailyGasPerOwner} is used up today (UTC): ${used}`,
  };
}

async function put(session: SqlSession, deps: SpendingDeps, day: Day, owner: string): Promise<void> {
  const isAll = owner === ALL_OWNERS;
  await session.run(
    "INSERT INTO spending (chain, payer, day, owner, gas, fee) VALUES (?, ?, ?, ?, ?, ?) " +
      "ON CONFLICT (chain, payer, day, owner) DO UPDATE SET gas = excluded.gas, fee = excluded.fee",
    [
      deps.chainId,
      deps.payer,
      day.day,
      owner,
      isAll ? 0n : (day.gas.get(owner) ?? 0n),
      isAll ? `${day.fee}` : "0",
    ],
  );
}

async function read({ store, chainId, payer }: SpendingDeps, day: number): Promise<Day> {
  const found = emptyDay(day);
  const rows = await store.session.run(
    "SELECT owner, gas, fee FROM spending WHERE chain = ? AND payer = ? AND day = ?",
    [chainId, payer, day],
  );
  for (const row of rows) {
    const owner = textOf(row, "owner") ?? ALL_OWNERS;
    if (owner === ALL_OWNERS) found.fee = bigintOf(row, "fee") ?? 0n;
    else found.gas.set(owner, bigintOf(row, "gas") ?? 0n);
  }
  return found;
}
