import type { AnteStep, TxEnvironment } from "../../runtime/ante-step.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { unregisteredError, ErrInvalidGasLimit, wrapErrors } from "../../runtime/errors.ts";
import { feeOf } from "../../runtime/tx.ts";
import { type FeeDeps, offeredFee } from "./ante.ts";
import { feePaid, tipPaid } from "./events.ts";
import { enabledHeight, gasPriceIn, splitFee, storedState } from "./keeper.ts";
import { ESCROW_NAME } from "./keys.ts";
import { addUtilization, type State } from "./market.ts";
import { type Params, storedParams } from "./params.ts";

/**
 * Gas that a simulation consumes for the payouts (Go `BankSendGasConsumption`). A simulated transaction usually has no
 * fee, so the payouts themselves move no coins and consume too little.
 */
const SIMULATED_SETTLEMENT_GAS = 12_490n;

export interface SettleDeps extends FeeDeps {
  /** Module account that receives the fees. */
  readonly feeRecipient: string;
}

/**
 * Creates the post step that settles the fee in escrow: the fee for the used gas goes to the fee recipient, the remainder
 * to the proposer as a tip. It also adds the gas to the block (x/feemarket v1.1.1 `FeeMarketDeductDecorator`).
 */
export function createSettleFee(deps: SettleDeps): AnteStep {
  return (context, tx, environment) => {
    const isSimulation = context.mode === "simulate";
    const { gasLimit } = feeOf(tx);
    if (context.height === 0n) return;
    if (!isSimulation && gasLimit === 0n) throw ErrInvalidGasLimit("must provide positive gas");
    const params = storedParams.get(context);
    if (!params.enabled || context.height <= (enabledHeight.get(context) ?? -1n)) return;
    const state = storedState.get(context);
    // Read here, before the payouts: the gas of the payouts does not count into the block.
    const used = context.gas.used();
    const offered = offeredFee(tx, params.feeDenom, isSimulation);
    const price = wrapErrors(
      (error) => error.wrap(`unable to get min gas price for denom ${offered.denom}`),
      () => gasPriceIn(context, offered.denom),
    );
    const split = isSimulation
      ? { fee: offered, tip: { denom: offered.denom, amount: 0n } }
      : splitAtEnd(context, offered, price, gasLimit);
    payOut(context, split, environment, deps);
    countGas(context, state, used, params);
    if (isSimulation) context.gas.consume(SIMULATED_SETTLEMENT_GAS, "simulation send gas consumption");
  };
}

/** Splits the offer by the gas used so far, which includes the first reads of the settlement. */
function splitAtEnd(
  context: Context,
  offered: Coin,
  price: ReturnType<typeof gasPriceIn>,
  limit: bigint,
): { readonly fee: Coin; readonly tip: Coin } {
  const used = context.gas.used();
  return splitFee(offered, price, { limit, used, charged: used });
}

function payOut(
  context: Context,
  { fee, tip }: { readonly fee: Coin; readonly tip: Coin },
  { proposerAddress }: TxEnvironment,
  deps: SettleDeps,
): void {
  const { distributeFees, sendTipToProposer } = storedParams.get(context);
  if (distributeFees) deps.bank.sendBetweenModules(context, ESCROW_NAME, deps.feeRecipient, positive(fee));
  if (sendTipToProposer) deps.bank.sendFromModule(context, ESCROW_NAME, proposerAddress, positive(tip));
  context.emit(feePaid(fee));
  if (sendTipToProposer) context.emit(tipPaid(tip, deps.accounts.formatAddress(proposerAddress)));
}

function positive(coin: Coin): readonly Coin[] {
  return coin.amount > 0n ? [coin] : [];
}

/** Adds the gas to the current block. Fails the transaction when the block would exceed its maximum. */
function countGas(context: Context, state: State, gas: bigint, params: Params): void {
  const next = addUtilization(state, gas, params);
  if ("exceeded" in next) {
    const text = `block utilization of ${next.exceeded} cannot exceed max block utilization of ${params.maxBlockUtilization}`;
    throw unregisteredError(`unable to update fee market state: ${text}`);
  }
  storedState.set(context, next.state);
}
