import { type RelayerData, SUMMARY_PARTS } from "../../../src/relayer/report/relayer-data.ts";
import type { Attempt, AttemptSummary, AttemptLog } from "../../../src/relayer/state/attempt.ts";

const MINUTE = 60_000;

/**
 * A day of a relayer: two owners, of which one has expensive callbacks and queries with two keys, attempts whose proof fails, one dead
 * letter. A transaction has 20 results.
 */
export function sampleRelayerData(toMs: number): RelayerData {
  const fromMs = toMs - 1440 * MINUTE;
  const attempts = Array.from({ length: 480 }, (_, index) => attempt(index, fromMs + index * 3 * MINUTE));
  return {
    fromMs,
    toMs,
    summary: summaryOf(attempts, { fromMs, toMs, parts: SUMMARY_PARTS }),
    attempts: attempts.toReversed(),
    isCut: false,
    costs: [],
    keys: new Map([1n, 2n, 3n].map((id) => [id, id === 2n ? 2 : 1])),
    deadLetters: [
      {
        queryId: 4n,
        hash: "ab".repeat(32),
        reason: "rejected by its contract: \u001b[31mno such | denom",
        atMs: fromMs + 600 * MINUTE,
      },
    ],
  };
}

/** Counts attempts as a relayer does. */
export function summaryOf(
  all: readonly Attempt[],
  { fromMs, toMs, parts }: Parameters<AttemptLog["summary"]>[0],
): AttemptSummary {
  const own = all.filter(({ startedAtMs }) => startedAtMs >= fromMs && startedAtMs < toMs);
  return {
    outcomes: own.map(({ outcome, startedAtMs }) => ({
      outcome,
      part: Math.floor(((startedAtMs - fromMs) * parts) / (toMs - fromMs)),
      attempts: 1,
    })),
    lateness: own.flatMap(({ localHeight, dueHeight }) =>
      localHeight === undefined ? [] : [{ blocks: Number(localHeight - dueHeight), attempts: 1 }],
    ),
  };
}

function attempt(index: number, startedAtMs: number): Attempt {
  const isExpensive = index % 3 !== 0;
  const isFailed = index % 60 === 59;
  const dueHeight = 1_000_000n + BigInt(index * 180);
  return {
    queryId: BigInt(1 + (index % 3)),
    connectionId: "connection-0",
    owner: isExpensive ? "neutron1contract-b" : "neutron1contract-a",
    type: "kv",
    startedAtMs,
    dueHeight,
    remoteHeight: 77_000n + BigInt(Math.floor(index / 20)),
    txHash: isFailed ? undefined : `${Math.floor(index / 20)}`.padStart(64, "CD"),
    outcome: isFailed ? "absence-not-provable" : "included",
    reason: isFailed ? "a neighbouring key has an empty value" : undefined,
    localHeight: isFailed ? undefined : dueHeight + BigInt(index % 40 === 7 ? 9 : 2),
    gas: isFailed ? 0n : (isExpensive ? 121_000n : 33_000n) + BigInt(index % 7) * 100n,
    fee: isFailed ? 0n : isExpensive ? 318n : 87n,
    simulations: 1,
  };
}
