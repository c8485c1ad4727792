import type { AnteStep, TxEnvironment } from "../../runtime/ante/ante-step.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { unregisteredError } from "../../runtime/module-error.ts";
import { ErrInvalidGasLimit } from "../../runtime/sdk-errors.ts";
import { feeOf } from "../../runtime/tx.ts";
import { wrapErrors } from "../../runtime/wrap-errors.ts";
import { type FeeDeps, offeredFee } from "./ante.ts";
import { feePaid, tipPaid } from "./events.ts";
import { enabledHeight, gasPriceIn, splitFee, storedParams, storedState } from "./keeper.ts";
import { ESCROW_NAME } from "./keys.ts";
import { addUse, type State } from "./market.ts";
import type { Params } from "./params.ts";

/** What a simulation is charged for the movements of a fee that it does not know (x/feemarket `BankSendGasConsumption`). */
const SIMULATED_SETTLEMENT_GAS = 12_490n;

/** What settling fees calls; `feeRecipient` names the module account that gets them. */
export interface SettleDeps extends FeeDeps {
  readonly feeRecipient: string;
}

/**
 * Settles the escrowed fee after the messages: the price of the gas that was used goes to the chain, the rest is a tip
 * to the proposer; counts the gas into the block (x/feemarket v1.1.1 `FeeMarketDeductDecorator`).
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
    countUse(context, state, used, params);
    if (isSimulation) context.gas.consume(SIMULATED_SETTLEMENT_GAS, "simulation send gas consumption");
  };
}

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

function countUse(context: Context, state: State, gas: bigint, params: Params): void {
  const counted = addUse(state, gas, params);
  if ("tooMuch" in counted) {
    const words = `block utilization of ${counted.tooMuch} cannot exceed max block utilization of ${params.maxBlockUtilization}`;
    throw unregisteredError(`unable to update fee market state: ${words}`);
  }
  storedState.set(context, counted.state);
}
