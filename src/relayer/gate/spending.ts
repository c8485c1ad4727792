import type { Clock } from "../../platform/base/clock.ts";
import { DAY_MS } from "../../platform/base/time.ts";
import { errorText } from "../../platform/base/errors.ts";
import { bigintOf, type SqlSession, textOf } from "../../platform/storage/sql-database.ts";
import { dayOf } from "../state/attempt.ts";
import type { RelayerStore } from "../state/store.ts";
import type { AdmissionRequest } from "../result/submit-gate.ts";

/** Spending limits per UTC day. An undefined field means no limit. */
export interface SpendingLimits {
  /** Maximum fees per day, in the fee denom's base unit. */
  readonly dailyFee: bigint | undefined;
  readonly dailyGasPerOwner: bigint | undefined;
  /** Maximum fees for urgent results per day, by the name of each urgency rule that has its own budget. */
  readonly dailyFeeByRule?: ReadonlyMap<string, bigint>;
}

/** The fees and gas of the transactions admitted on one UTC day. */
export interface DailySpending {
  /** The UTC day, as the number of days since 1970-01-01. */
  readonly day: number;
  readonly fee: bigint;
  readonly gasByOwner: ReadonlyMap<string, bigint>;
  /** The share of `fee` that pays for urgent results, by the name of each urgency rule that has its own budget. */
  readonly feeByRule: ReadonlyMap<string, bigint>;
}

/** The limit that a transaction would exceed. */
interface SpendingRefusal {
  readonly reason: string;
  /** The owners whose budgets are used up; undefined if the limit is not per owner. */
  readonly owners?: readonly string[];
  /** The urgency rules whose budgets are used up. */
  readonly rules?: readonly string[];
}

/**
 * Sums the daily cost of transactions before they are sent. An admission adds the whole fee, because the chain charges the fee in
 * full, and adds the gas limit to the query owners' totals.
 */
export type Spending = ReturnType<typeof createSpending>;

/** The fees that this process admitted in the last 24 hours, or since its start. */
export type RecentFees = ReturnType<Spending["lastDay"]>;

const MIN_RECENT_MS = 600_000;
const MINUTE_MS = 60_000;

export interface SpendingDeps {
  /** Address of the account that pays the fees. */
  readonly payer: string;
  readonly chainId: string;
  readonly store: Pick<RelayerStore, "queue" | "session">;
  /** Local chain time, as Unix time in ms, so that a jump of this machine's clock does not start a new day. */
  readonly localTimeMs: () => number;
  readonly clock: Pick<Clock, "monotonicMs">;
}

const STORED_DAYS = 8;
/** The `owner` of the row that contains the total fees. */
const ALL_OWNERS = "";
/** Prefix of the `owner` of a row that contains a rule's fees. The space avoids clashes with addresses. */
const RULE_PREFIX = "urgency ";

/** Returns a row's urgency rule; undefined if the row belongs to an owner. */
function ruleOf(owner: string): string | undefined {
  return owner.startsWith(RULE_PREFIX) ? owner.slice(RULE_PREFIX.length) : undefined;
}

interface Day {
  readonly day: number;
  fee: bigint;
  readonly gas: Map<string, bigint>;
  readonly feeByRule: Map<string, bigint>;
}

/** Creates the record of one payer's spending, which is empty until `load` is called. */
export function createSpending(limits: SpendingLimits, deps: SpendingDeps) {
  // Retain several days, in case the clock moves back past midnight.
  let days = new Map<number, Day>();
  let prunedDay = 0;
  const now = (): Day => {
    const day = dayOf(deps.localTimeMs());
    const known = days.get(day) ?? emptyDay(day);
    days.set(day, known);
    for (const old of days.keys()) if (days.size > STORED_DAYS && old !== day) days.delete(old);
    return known;
  };
  const startMs = deps.clock.monotonicMs();
  /** Recent fees by minute of this process's monotonic clock. */
  const recent = new Map<number, bigint>();
  const addRecent = (minute: number, fee: bigint): void => {
    recent.set(minute, (recent.get(minute) ?? 0n) + fee);
    for (const old of recent.keys()) if ((minute - old) * MINUTE_MS >= DAY_MS) recent.delete(old);
  };
  const write = (day: Day, { gasByOwner, feeByRule }: AdmissionRequest): void => {
    // Each write reads the values when it runs, so the last write stores the newest values.
    const rules = [...(feeByRule?.keys() ?? [])].map((rule) => `${RULE_PREFIX}${rule}`);
    for (const owner of [ALL_OWNERS, ...gasByOwner.keys(), ...rules])
      deps.store.queue.push((session) => put(session, deps, day, owner));
  };
  /** Deletes old days. A wrong clock on this machine cannot delete recent days, because `day` follows the chain's time. */
  const prune = ({ day }: Day): void => {
    if (day === prunedDay) return;
    prunedDay = day;
    deps.store.queue.push(async (session) => {
      await session.run("DELETE FROM spending WHERE chain = ? AND payer = ? AND day < ?", [
        deps.chainId,
        deps.payer,
        day - STORED_DAYS,
      ]);
    });
  };
  return {
    /** Reads the stored spending, which includes earlier processes' spending. */
    load: async (): Promise<void> => {
      days = await readDays(deps);
    },
    check: (request: AdmissionRequest): SpendingRefusal | undefined => check(now(), limits, request),
    /** Adds a transaction's cost, which is durable after the next flush. Call the returned function to subtract an unpaid cost. */
    charge: (request: AdmissionRequest): (() => void) => {
      const day = now();
      add(day, request, 1n);
      write(day, request);
      prune(day);
      const minute = Math.floor(deps.clock.monotonicMs() / MINUTE_MS);
      addRecent(minute, request.fee);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        add(day, request, -1n);
        addRecent(minute, -request.fee);
        write(day, request);
      };
    },
    today: (): DailySpending => {
      const { day, fee, gas, feeByRule } = now();
      return { day, fee, gasByOwner: gas, feeByRule };
    },
    lastDay: () => {
      const nowMs = deps.clock.monotonicMs();
      const fees = [...recent].map(([minute, fee]) => (nowMs - minute * MINUTE_MS < DAY_MS ? fee : 0n));
      return {
        fee: fees.reduce((sum, fee) => sum + fee, 0n),
        /**
         * Length of the period, ms. The length is at least ten minutes, so that the first fees are not extrapolated from seconds to
         * a day.
         */
        ms: Math.min(DAY_MS, Math.max(MIN_RECENT_MS, nowMs - startMs)),
      };
    },
  };
}

function emptyDay(day: number): Day {
  return { day, fee: 0n, gas: new Map(), feeByRule: new Map() };
}

function add(day: Day, { fee, gasByOwner, feeByRule = new Map() }: AdmissionRequest, sign: 1n | -1n): void {
  day.fee += sign * fee;
  for (const [owner, gas] of gasByOwner) day.gas.set(owner, (day.gas.get(owner) ?? 0n) + sign * gas);
  for (const [rule, part] of feeByRule)
    day.feeByRule.set(rule, (day.feeByRule.get(rule) ?? 0n) + sign * part);
}

function check(day: Day, limits: SpendingLimits, request: AdmissionRequest): SpendingRefusal | undefined {
  const { dailyFee, dailyGasPerOwner, dailyFeeByRule = new Map() } = limits;
  const feeByRule = request.feeByRule ?? new Map<string, bigint>();
  const rules = [...feeByRule]
    .filter(([rule, part]) => (day.feeByRule.get(rule) ?? 0n) + part > (dailyFeeByRule.get(rule) ?? 0n))
    .map(([rule]) => rule);
  if (rules.length > 0)
    return { rules, reason: `urgency: daily_fee of ${rules.join(", ")} is used up for today (UTC)` };
  const [spent, cost] = [day.fee - totalOf(day.feeByRule), request.fee - totalOf(feeByRule)];
  if (dailyFee !== undefined && spent + cost > dailyFee)
    return {
      reason: `spending.daily_fee is used up: ${spent} of ${dailyFee} were spent today (UTC), and the transaction costs ${cost}`,
    };
  if (dailyGasPerOwner === undefined) return undefined;
  const owners = [...request.gasByOwner]
    .filter(([owner, gas]) => (day.gas.get(owner) ?? 0n) + gas > dailyGasPerOwner)
    .map(([owner]) => owner);
  if (owners.length === 0) return undefined;
  const used = owners.map((owner) => `${owner} used ${day.gas.get(owner) ?? 0n}`).join(", ");
  return {
    owners,
    reason: `spending.daily_gas_per_owner of ${dailyGasPerOwner} is used up for today (UTC): ${used}`,
  };
}

function totalOf(amounts: ReadonlyMap<string, bigint>): bigint {
  return [...amounts.values()].reduce((total, amount) => total + amount, 0n);
}

async function put(session: SqlSession, deps: SpendingDeps, day: Day, owner: string): Promise<void> {
  const fee = owner === ALL_OWNERS ? day.fee : (day.feeByRule.get(ruleOf(owner) ?? "") ?? 0n);
  await session.run(
    "INSERT INTO spending (chain, payer, day, owner, gas, fee) VALUES (?, ?, ?, ?, ?, ?) " +
      "ON CONFLICT (chain, payer, day, owner) DO UPDATE SET gas = excluded.gas, fee = excluded.fee",
    [deps.chainId, deps.payer, day.day, owner, day.gas.get(owner) ?? 0n, `${fee}`],
  );
}

async function readDays({ store, chainId, payer }: SpendingDeps): Promise<Map<number, Day>> {
  const days = new Map<number, Day>();
  const rows = await store.session.run(
    "SELECT day, owner, gas, fee FROM spending WHERE chain = ? AND payer = ? ORDER BY day",
    [chainId, payer],
  );
  for (const row of rows) {
    const day = Number(bigintOf(row, "day") ?? 0n);
    const found = days.get(day) ?? emptyDay(day);
    days.set(day, found);
    const owner = textOf(row, "owner") ?? ALL_OWNERS;
    const rule = ruleOf(owner);
    if (owner === ALL_OWNERS) found.fee = bigintOf(row, "fee") ?? 0n;
    else if (rule !== undefined) found.feeByRule.set(rule, bigintOf(row, "fee") ?? 0n);
    else found.gas.set(owner, bigintOf(row, "gas") ?? 0n);
  }
  return days;
}

/** Maximum number of owners in status and metrics, which show only the owners with the most gas. */
const NAMED_OWNERS = 100;

/** Returns the owners with the most gas, in descending order. The entry "other" contains the sum of all other owners. */
export function namedOwners(gasByOwner: ReadonlyMap<string, bigint>): readonly (readonly [string, bigint])[] {
  const sorted = [...gasByOwner].toSorted(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0));
  const rest = sorted.slice(NAMED_OWNERS).reduce((sum, [, gas]) => sum + gas, 0n);
  const named = sorted.slice(0, NAMED_OWNERS);
  return rest === 0n ? named : [...named, ["other", rest]];
}

export interface ReserveStatus {
  /** Minimum balance, which the relayer never spends. */
  readonly reserve: bigint;
  /** The last balance read, minus the fees admitted since then; undefined before the first read. */
  readonly balance: bigint | undefined;
  /** Wall-clock time of the last read, ms. */
  readonly readAtMs: number | undefined;
}

/** Refuses fees that would reduce the balance below the reserve. */
export type Reserve = ReturnType<typeof createReserve>;

interface ReserveDeps {
  readonly readBalance: (signal: AbortSignal) => Promise<bigint>;
  readonly clock: Clock;
}

/** Age above which the balance is read again. */
const FRESH_MS = 30_000;
/** Age above which the last balance is treated as unknown. */
const MAX_AGE_MS = 300_000;
/** Interval between reads of a balance below the reserve, because someone may send coins to the account. */
const RETRY_MS = 5_000;

interface BalanceReading {
  /** The balance read, minus each fee admitted since the read. */
  balance: bigint;
  /** Monotonic time at which the balance was read, ms. */
  readonly atMs: number;
  readonly wallMs: number;
}

/** Creates the check of `spending.reserve`. With a reserve of 0, the check reads nothing, because the chain refuses unpayable fees. */
export function createReserve(reserve: bigint, { readBalance, clock }: ReserveDeps) {
  let last: BalanceReading | undefined;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let error = "";
  const ageMs = (): number =>
    last === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() - last.atMs;
  const isEnough = (fee: bigint): boolean => last !== undefined && last.balance - fee >= reserve;
  const read = async (signal: AbortSignal): Promise<void> => {
    triedAtMs = clock.monotonicMs();
    try {
      last = { balance: await readBalance(signal), atMs: clock.monotonicMs(), wallMs: clock.nowMs() };
    } catch (thrown) {
      signal.throwIfAborted();
      error = errorText(thrown);
    }
  };
  return {
    /** Returns why a fee must not be paid; undefined if the fee may be paid. Reads the balance again if the last read is old. */
    check: async (fee: bigint, signal: AbortSignal): Promise<string | undefined> => {
      if (reserve === 0n) return undefined;
      const isOld = ageMs() > FRESH_MS || !isEnough(fee);
      if (isOld && clock.monotonicMs() - triedAtMs >= RETRY_MS) await read(signal);
      if (last === undefined || ageMs() > MAX_AGE_MS)
        return `cannot check spending.reserve, because the balance is unknown: ${error}`;
      if (isEnough(fee)) return undefined;
      return `balance ${last.balance} minus fee ${fee} is below spending.reserve ${reserve}; send coins to the account`;
    },
    /** Subtracts an admitted fee from the known balance. */
    pay: (fee: bigint): void => {
      if (last !== undefined) last.balance -= fee;
    },
    status: (): ReserveStatus => ({ reserve, balance: last?.balance, readAtMs: last?.wallMs }),
  };
}
