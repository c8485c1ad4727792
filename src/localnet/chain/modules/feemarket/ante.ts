import { goString } from "../../../../platform/base/bytes.ts";
import type { AnteStep } from "../../runtime/ante-step.ts";
import { type Coin, parseCoins } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidGasLimit, ErrNotFound, ErrUnknownAddress, wrapErrors } from "../../runtime/errors.ts";
import { parseSigner } from "../../runtime/signature-steps.ts";
import { type DecodedTx, feeOf, feePayerOf } from "../../runtime/tx.ts";
import { ErrNoFeeCoins, ErrTooManyFeeCoins } from "./errors.ts";
import { type FeeAccounts, type FeeBank, gasPriceIn, splitFee } from "./keeper.ts";
import { ESCROW_NAME } from "./keys.ts";
import { storedParams } from "./params.ts";

export interface FeeDeps {
  readonly bank: FeeBank;
  readonly accounts: FeeAccounts;
}

/**
 * Creates the ante step that checks the offered fee against the price of the gas limit and moves the complete offer into
 * escrow (x/feemarket v1.1.1 `FeeMarketCheckDecorator`). The gas that the messages will use is not known yet, so
 * the post step splits the offer into fee and tip.
 *
 * Two reads look superfluous: the first read of the parameters, and the gas price at the end. The Go code makes both,
 * and each read consumes gas.
 */
export function createTakeFee(deps: FeeDeps): AnteStep {
  return (context, tx) => {
    storedParams.get(context);
    if (context.height === 0n) return; // Transactions of genesis pay no fee.
    const isSimulation = context.mode === "simulate";
    const { gasLimit } = feeOf(tx);
    if (!isSimulation && gasLimit === 0n) throw ErrInvalidGasLimit("must provide positive gas");
    const { feeDenom } = storedParams.get(context);
    const offered = offeredFee(tx, feeDenom, isSimulation);
    const price = wrapErrors(
      (error) => error.wrap(`unable to get min gas price for denom ${offered.denom}`),
      () => gasPriceIn(context, offered.denom),
    );
    // A simulation may offer less than the price: the client simulates before it knows the fee.
    if (!isSimulation) {
      const used = context.gas.used();
      wrapErrors(
        (error) => error.wrap("error checking fee"),
        () => splitFee(offered, price, { limit: gasLimit, used, charged: gasLimit }),
      );
    }
    wrapErrors(
      (error) => error.wrap("error escrowing funds"),
      () => escrow(context, tx, offered, deps),
    );
    gasPriceIn(context, feeDenom);
  };
}

/** Returns the fee's only coin. A simulation may have no coin; it gets amount 0. Throws feemarket/1 and feemarket/2. */
export function offeredFee(tx: DecodedTx, feeDenom: string, isSimulation: boolean): Coin {
  const coins = parseCoins(feeOf(tx).amount);
  const [offered] = coins;
  if (coins.length > 1) throw ErrTooManyFeeCoins(`got length ${coins.length}`);
  if (offered !== undefined) return offered;
  if (!isSimulation) throw ErrNoFeeCoins("got length 0");
  return { denom: feeDenom, amount: 0n };
}

function escrow(context: Context, tx: DecodedTx, offered: Coin, deps: FeeDeps): void {
  const payer = parseSigner(deps.accounts, feePayerOf(tx));
  const granter = feeOf(tx).granter;
  if (granter !== "" && granter !== feePayerOf(tx)) rejectGrant(parseSigner(deps.accounts, granter), payer);
  if (deps.accounts.get(context, payer) === undefined)
    throw ErrUnknownAddress(`fee payer address: ${feePayerOf(tx)} does not exist`);
  deps.bank.sendToModule(context, payer, ESCROW_NAME, offered.amount === 0n ? [] : [offered]);
}

/** This chain has no fee grants. The text is that of a missing grant; Go prints both addresses as raw bytes. */
function rejectGrant(granter: Uint8Array, payer: Uint8Array): never {
  const text = `${goString(granter)} does not allow to pay fees for ${goString(payer)}`;
  throw ErrNotFound("fee-grant not found").wrap(text);
}
