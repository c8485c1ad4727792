import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";

/** What is known of the balance that pays the fees. */
export interface ReserveStatus {
  /** Balance that is never spent. */
  readonly reserve: bigint;
  /** The last balance that was read, minus the fees admitted since; undefined before the first read. */
  readonly balance: bigint | undefined;
  /** Wall-clock time of that read, ms. */
  readonly readAtMs: number | undefined;
}

/** Keeps a balance from being spent. */
export interface Reserve {
  /** Returns why a fee must not be paid; undefined when it may. Reads the balance when the last read is old. */
  readonly check: (fee: bigint, signal: AbortSignal) => Promise<string | undefined>;
  /** Subtracts an admitted fee from the known balance. */
  readonly pay: (fee: bigint) => void;
  readonly status: () => ReserveStatus;
}

export interface ReserveDeps {
  /** Reads the balance of the account that pays. */
  readonly readBalance: (signal: AbortSignal) => Promise<bigint>;
  readonly clock: Clock;
}

/** Age at which the balance is read again. */
const FRESH_MS = 30_000;
/** Age after which a balance that cannot be read again counts as unknown. */
const MAX_AGE_MS = 300_000;
/** A balance below the reserve is read again soon, since somebody may have sent coins. */
const RETRY_MS = 5_000;

interface Reading {
  balance: bigint;
  readonly atMs: number;
  readonly wallMs: number;
}

/** Creates a guard of the balance. With a reserve of 0 it reads nothing: the chain itself refuses what cannot be paid. */
export function createReserve(reserve: bigint, { readBalance, clock }: ReserveDeps): Reserve {
  let last: Reading | undefined;
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
    check: async (fee, signal) => {
      if (reserve === 0n) return undefined;
      const isOld = ageMs() > FRESH_MS || !isEnough(fee);
      if (isOld && clock.monotonicMs() - triedAtMs >= RETRY_MS) await read(signal);
      if (last === undefined || ageMs() > MAX_AGE_MS)
        return `the balance cannot be read, so spending.reserve cannot be kept: ${error}`;
      if (isEnough(fee)) return undefined;
      return `the balance of ${last.balance} minus the fee of ${fee} is below spending.reserve of ${reserve}: send coins to the account`;
    },
    pay: (fee) => {
      if (last !== undefined) last.balance -= fee;
    },
    status: () => ({ reserve, balance: last?.balance, readAtMs: last?.wallMs }),
  };
}
