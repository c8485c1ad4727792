import { expect, it } from "vitest";
import { fromBase64 } from "../../../src/platform/base/bytes.ts";
import { RECORDED_TXS, type RecordedTx, replayStake } from "../../support/recorded-stake.ts";

// SOURCE: test/fixtures/modules/staking-txs.json. The gas of a recorded transaction is that of its messages, its size, and the
// ante and post handlers of the deployed chain, which the replay does not run.

/** Ante and post handlers: what most transactions used besides their messages and their size. */
const HANDLERS = 105_097;
/** With hooks that call the echo contract, in the deployed VM. */
const HANDLERS_AND_HOOKS = { delegate: 233_318, undelegate: 297_065 };
const GAS_OF_BYTE = 10;

const replay = replayStake();

/** Gas of a recorded transaction without its messages, as they cost here, and without its size. */
function restOf(tx: RecordedTx): number {
  const ours = Number(replay.txs.get(tx.seq)?.gas ?? 0n);
  return Number(tx.gas_used) - ours - fromBase64(tx.tx_base64).length * GAS_OF_BYTE;
}

function callsOf({ events }: RecordedTx): number {
  return events.filter(({ type }) => type === "sudo").length;
}

/** Recorded gas beyond ours, by seq. A few digits of the fee change the handlers. */
function deviations(some: readonly RecordedTx[], expected: number): Readonly<Record<string, number>> {
  return Object.fromEntries(
    some.flatMap((tx) => {
      const deviation = restOf(tx) - expected;
      return Math.abs(deviation) <= 110 ? [] : [[`${tx.seq} ${tx.name}`, deviation]];
    }),
  );
}

it("gas of messages without hooks is that of the deployed chain", () => {
  // The contracts of the replay have no records, so that a subscription reads less.
  const isSubscription = ({ name }: RecordedTx): boolean => name.startsWith("harpoon");
  const some = RECORDED_TXS.filter(
    (tx) => tx.gas_used !== null && callsOf(tx) === 0 && !isSubscription(tx) && !tx.name.includes("balance"),
  );
  expect(some.length).toBe(26);
  expect(deviations(some, HANDLERS)).toEqual({
    // The recorded accounts are longer: they have keys, sequences and higher numbers.
    "91 delegate: with no hook subscribed (demo3 to val1)": 375,
  });
});

it.each([
  ["delegate", 2, 230],
  ["undelegate", 3, 60],
] as const)("gas of %s with %d hooks differs by the same amount", (name, calls, spread) => {
  const some = RECORDED_TXS.filter(
    (tx) => tx.code === 0 && tx.name.startsWith(`${name}:`) && callsOf(tx) === calls,
  );
  expect(some.length).toBeGreaterThan(5);
  for (const tx of some)
    expect(Math.abs(restOf(tx) - HANDLERS_AND_HOOKS[name]), tx.name).toBeLessThan(spread);
});
