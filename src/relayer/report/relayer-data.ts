import type { Attempt, AttemptLog, DailyCost } from "../state/attempt.ts";
import { dayOf, MAX_ATTEMPTS_READ } from "../state/attempt.ts";

/** A remote transaction that the relayer will not send again. */
export interface DeadLetter {
  readonly queryId: bigint;
  /** Hex SHA-256 of the remote transaction. */
  readonly hash: string;
  readonly reason: string;
  readonly atMs: number;
}

/** What the report reads of a relayer. */
export interface RelayerData {
  readonly fromMs: number;
  readonly toMs: number;
  /** Newest first. */
  readonly attempts: readonly Attempt[];
  /** Whether older attempts of the range were left out. */
  readonly isCut: boolean;
  /** Costs of all days that the range touches, by day and owner. */
  readonly costs: readonly DailyCost[];
  /** Newest first. */
  readonly deadLetters: readonly DeadLetter[];
}

/** Attempts that a report reads at most; more are summed from the daily costs. */
const MAX_ATTEMPTS = 20_000;

/** Reads the attempts that began in a range. */
export async function readRelayerData(
  log: Pick<AttemptLog, "find" | "costs">,
  deadLetters: readonly DeadLetter[],
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
    // The next page begins below the oldest instant of this one, which may have had more attempts than fit.
    isCut ||= attempts.length >= MAX_ATTEMPTS || page[0]?.startedAtMs === oldest.startedAtMs;
    if (isCut) break;
    while (attempts.at(-1)?.startedAtMs === oldest.startedAtMs) attempts.pop();
    untilMs = oldest.startedAtMs + 1;
  }
  return {
    fromMs,
    toMs,
    attempts,
    isCut,
    costs: await log.costs({ from: dayOf(fromMs), to: dayOf(toMs) }),
    deadLetters: deadLetters.filter(({ atMs }) => atMs >= fromMs && atMs < toMs),
  };
}
