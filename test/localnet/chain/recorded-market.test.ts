import { expect, it } from "vitest";
import { toWire } from "../../../src/cosmos/fee-market/market.ts";
import { StateRequest, StateResponse } from "../../../src/cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import { createAuthModule } from "../../../src/localnet/chain/modules/auth/module.ts";
import { createBankModule } from "../../../src/localnet/chain/modules/bank/module.ts";
import { createConsensusModule } from "../../../src/localnet/chain/modules/consensus/module.ts";
import {
  enabledHeight,
  storedState,
  ESCROW_NAME,
  storedParams,
  createFeemarketModule,
} from "../../../src/localnet/chain/modules/feemarket/module.ts";
import type { Application } from "../../../src/localnet/chain/runtime/abci.ts";
import { createAnteHandler } from "../../../src/localnet/chain/runtime/ante-handler.ts";
import { createApplication } from "../../../src/localnet/chain/runtime/application.ts";
import type { Context } from "../../../src/localnet/chain/runtime/context.ts";
import { createGasMeter } from "../../../src/localnet/chain/runtime/gas.ts";
import { toHex } from "../../../src/platform/base/bytes.ts";
import { ceilDec18 } from "../../../src/platform/base/decimal.ts";
import {
  genesisAfter,
  impliedGas,
  payingTxs,
  RECORDED_PARAMS,
  RECORDED_STEPS,
  type RecordedBlock,
  type RecordedStep,
  stateAfter,
} from "../../support/recorded-market.ts";
import { continueTestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx, sendMessage } from "../../support/test-tx.ts";

const RECIPIENT = "fees";
const alice = createTestKey("alice");
/** Mean gas of a payout on the recorded chain. */
const RECORDED_PAYOUT = 44_600n;
/** Stands in for the extended commit of a proposer. The chain cannot decode either. */
const NO_TRANSACTION = new Uint8Array([1, 2, 3]);

/**
 * Creates a chain of the modules consensus, auth, bank and feemarket. A transaction uses the gas that `nextGas` returns, as the market
 * counts it: before the settlement of its fee, it consumes what is missing.
 */
function createChain(nextGas: () => bigint): Application {
  const auth = createAuthModule({
    bech32Prefix: "neutron",
    moduleAccounts: { [ESCROW_NAME]: [], [RECIPIENT]: [] },
  });
  const bank = createBankModule({ blockedModules: [] }, auth.keeper);
  const feemarket = createFeemarketModule(
    { feeDenom: "untrn" },
    { bank: bank.keeper, accounts: auth.keeper, feeRecipient: RECIPIENT },
  );
  return createApplication({
    version: "1",
    appVersion: 0n,
    chainName: "neutron",
    modules: [createConsensusModule({ authority: "" }), auth, bank, feemarket],
    upgrades: [],
    endBlockOrder: [],
    ante: createAnteHandler({ accounts: auth.keeper, takeFee: feemarket.takeFee }),
    post: (context, tx, environment) => {
      const missing = nextGas() - context.gas.used() - firstReads(context);
      expect(missing).toBeGreaterThan(0n);
      context.gas.consume(missing, "test");
      feemarket.settleFee(context, tx, environment);
    },
    maxBlockGas: () => 0n,
    keepRecent: 10,
  });
}

/** Returns the gas of the reads of the settlement that still count into the block: parameters, height and state. */
function firstReads(context: Context): bigint {
  const meter = createGasMeter();
  const metered = context.withGas(meter);
  storedParams.get(metered);
  enabledHeight.get(metered);
  storedState.get(metered);
  return meter.used();
}

/**
 * Splits the gas that the market counted for a block into its transactions. The recording has no counted gas. Above the minimum, the
 * price shows the sum to the unit (`test/cosmos/fee-market/recorded-sequence.test.ts`), and each transaction has the same payout within
 * a unit.
 */
function countedGas(step: RecordedStep): readonly bigint[] {
  const used = payingTxs(step.block).map(({ gas_used }) => BigInt(gas_used));
  const [first, ...rest] = used;
  if (first === undefined) return [];
  const total = used.reduce((sum, gas) => sum + gas, 0n);
  // At the minimum price, a range of gas leads to the recorded state.
  const isMinimum = stateAfter(step.block).baseGasPrice === RECORDED_PARAMS.minBaseGasPrice;
  const payouts = isMinimum ? RECORDED_PAYOUT * BigInt(used.length) : total - impliedGas(step);
  const payout = payouts / BigInt(used.length);
  return [first - (payouts - payout * BigInt(rest.length)), ...rest.map((gas) => gas - payout)];
}

/** The two parts of the recording, each of consecutive heights. */
const PARTS = ["3412", "3298"].map((from) => {
  const start = RECORDED_STEPS.findIndex(({ previous }) => previous.height === from);
  const gap = RECORDED_STEPS.findIndex(
    ({ previous }, index) => index > start && previous !== RECORDED_STEPS[index - 1]?.block,
  );
  return { from, steps: RECORDED_STEPS.slice(start, gap < 0 ? undefined : gap) };
});

it("has two recorded parts", () => {
  expect(PARTS.map(({ steps }) => steps.length)).toEqual([88, 79]);
});

it.each(PARTS)("the chain repeats the part from height $from to the last byte", ({ steps }) => {
  const [first] = steps;
  if (first === undefined) throw new Error("no steps");
  const targets: bigint[] = [];
  const app = createChain(() => targets.shift() ?? 0n);
  const height = BigInt(first.block.height);
  const genesis = testGenesis([{ key: alice, untrn: 10n ** 15n }], {
    feemarket: genesisAfter(first.previous),
  });
  app.initChain({
    chainId: "test-1",
    timeNs: 0n,
    initialHeight: height,
    validators: [],
    appState: genesis,
  });
  const chain = continueTestChain(app, height - 1n);
  let sequence = 0n;
  for (const step of steps) {
    const { block, previous } = step;
    targets.push(...countedGas(step));
    const { txResults } = chain.block(
      ...block.txs.map(({ gas_wanted }) =>
        gas_wanted === "0" ? NO_TRANSACTION : payment(sequence++, BigInt(gas_wanted), previous),
      ),
    );
    // The recorded codes too: every payment passes, and the extended commit cannot be decoded.
    const codes = txResults.map(({ code, gasWanted }) => [code, gasWanted.toString()]);
    expect(codes, block.height).toEqual(block.txs.map(({ code, gas_wanted }) => [code, gas_wanted]));
    const expected = StateResponse.encode({ state: toWire(stateAfter(block)) }).finish();
    expect(toHex(readState(app)), block.height).toBe(toHex(expected));
  }
});

/** Signs a transaction with this gas limit. Its fee is the least that the price after a block allows. */
function payment(sequence: bigint, gas: bigint, previous: RecordedBlock): Uint8Array {
  const amount = ceilDec18(gas * stateAfter(previous).baseGasPrice).toString();
  const messages = [sendMessage(alice.address, alice.address, 1n)];
  return buildTx({ key: alice, sequence, gas, fee: [{ denom: "untrn", amount }], messages });
}

function readState(app: Application): Uint8Array {
  const path = "/feemarket.feemarket.v1.Query/State";
  const data = StateRequest.encode({}).finish();
  return app.query({ path, data, height: 0n, prove: false }).value;
}
