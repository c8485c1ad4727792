import type { RelayerData } from "../../../src/relayer/report/relayer-data.ts";
import type { Attempt } from "../../../src/relayer/state/attempt.ts";

const MINUTE = 60_000;

/** A day of a relayer: two owners, one query whose proof fails, one dead letter. */
export function sampleRelayerData(toMs: number): RelayerData {
  const fromMs = toMs - 1440 * MINUTE;
  const attempts = Array.from({ length: 480 }, (_, index) => attempt(index, fromMs + index * 3 * MINUTE));
  return {
    fromMs,
    toMs,
    attempts: attempts.toReversed(),
    isCut: false,
    costs: [],
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

function attempt(index: number, startedAtMs: number): Attempt {
  const isFailed = index % 60 === 59;
  const dueHeight = 1_000_000n + BigInt(index * 180);
  return {
    queryId: BigInt(1 + (index % 3)),
    connectionId: "connection-0",
    owner: index % 3 === 0 ? "neutron1contract-a" : "neutron1contract-b",
    type: "kv",
    startedAtMs,
    dueHeight,
    remoteHeight: 77_000n + BigInt(index),
    txHash: isFailed ? undefined : "CD".repeat(32),
    outcome: isFailed ? "absence-not-provable" : "included",
    reason: isFailed ? "a neighbouring key has an empty value" : undefined,
    localHeight: isFailed ? undefined : dueHeight + BigInt(index % 40 === 7 ? 9 : 2),
    gas: isFailed ? 0n : 29_100n + BigInt(index % 7) * 100n,
    fee: isFailed ? 0n : 75n,
    simulations: 1,
  };
}
