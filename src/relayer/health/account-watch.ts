import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { LocalQueries } from "../local-queries.ts";

/** The account that pays the fees. */
export interface Account {
  /** bech32 */
  readonly address: string;
  readonly denom: string;
}

/** What is known about the balance of the account. */
export interface AccountView extends Account {
  /** undefined: not read yet. */
  readonly balance: bigint | undefined;
  /** Days until the balance is spent at the rate of the last day; undefined while nothing was spent. */
  readonly daysLeft: number | undefined;
  /** Time since the last successful read, or since the start; ms. */
  readonly sinceReadMs: number;
  /** Error of the last read; undefined after a successful one. */
  readonly error: string | undefined;
}

/** Reads the balance of the account. */
export interface AccountWatch {
  /** Reads the balance. Rejects on abort only. */
  readonly read: (signal: AbortSignal) => Promise<void>;
  readonly view: () => AccountView;
}

/** A decrease of the balance between two reads. */
interface Spending {
  readonly atMs: number;
  readonly amount: bigint;
}

const DAY_MS = 86_400_000;
/** Time that a rate must cover, so that the first transactions do not count for a whole day. */
const LEAST_PERIOD_MS = 600_000;

/** Creates a watch that has read nothing. */
export function createAccountWatch(
  local: Pick<LocalQueries, "balance">,
  account: Account,
  clock: Pick<Clock, "monotonicMs">,
): AccountWatch {
  const startMs = clock.monotonicMs();
  let balance: bigint | undefined;
  let error: string | undefined;
  let readAtMs = startMs;
  let spendings: readonly Spending[] = [];

  const noteBalance = (now: bigint): void => {
    readAtMs = clock.monotonicMs();
    const amount = balance === undefined ? 0n : balance - now;
    // An increase is a payment into the account. What was spent in the same minute is not visible then.
    const added = amount > 0n ? [{ atMs: readAtMs, amount }] : [];
    spendings = [...spendings.filter(({ atMs }) => readAtMs - atMs <= DAY_MS), ...added];
    balance = now;
  };

  const daysLeft = (): number | undefined => {
    const spent = spendings.reduce((sum, { amount }) => sum + amount, 0n);
    if (balance === undefined || spent === 0n) return undefined;
    const periodMs = Math.max(LEAST_PERIOD_MS, Math.min(DAY_MS, clock.monotonicMs() - startMs));
    return (Number(balance) / Number(spent)) * (periodMs / DAY_MS);
  };

  return {
    read: async (signal) => {
      try {
        noteBalance(await local.balance(account.address, account.denom, signal));
        error = undefined;
      } catch (thrown) {
        signal.throwIfAborted();
        error = errorText(thrown);
      }
    },
    view: () => ({
      ...account,
      balance,
      daysLeft: daysLeft(),
      sinceReadMs: clock.monotonicMs() - readAtMs,
      error,
    }),
  };
}
