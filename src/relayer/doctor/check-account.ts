import { ClientError } from "../../cosmos/client-error.ts";
import { targetOf } from "../../cosmos/fee-market/market.ts";
import { readAccount, readGasPrice } from "../../cosmos/client/tx/tx-queries.ts";
import { type Dec18, DEC18_ONE, formatDec18 } from "../../platform/base/decimal.ts";
import { formatAmount } from "../../platform/base/display-unit.ts";
import { errorText } from "../../platform/base/errors.ts";
import { maxInt } from "../../platform/base/integers.ts";
import { isoTime } from "../../platform/base/time.ts";
import { gasPricePolicy } from "../chain-access.ts";
import { readAllowance } from "../costs/fee-allowance.ts";
import type { Forecast } from "../forecast/forecast.ts";
import { adviseOnPrices, ceilingOf, transactionFee } from "../forecast/loads.ts";
import { type Preview, previewUnit, servedQueries } from "../preview/open-preview.ts";
import { advise, type Finding, good, problem, unseen } from "./endpoint-matrix.ts";
import { forecastPresent, previewMarket } from "../preview/preview-market.ts";
import { gasGuess } from "../result/proven-result.ts";

/** Checks the signer, the payer and the gas price. A failed check is a finding, so the promise rejects only on abort. */
export async function checkAccount(preview: Preview, signal: AbortSignal): Promise<readonly Finding[]> {
  const { config, account } = preview;
  const payer = config.signer.fee_granter ?? account.address;
  return Promise.all([
    checkExistence(preview, signal),
    checkBalance(preview, payer, signal),
    checkGasPrice(preview, signal),
    ...(config.signer.fee_granter === undefined
      ? []
      : [checkFeeGrant(preview, config.signer.fee_granter, signal)]),
  ]);
}

const NODE_ADVICE = "see the local chain's endpoints above";

async function checkExistence({ localClient, account }: Preview, signal: AbortSignal): Promise<Finding> {
  const subject = "account";
  try {
    const { sequence } = await readAccount(localClient, account.address, signal);
    return good(subject, `${account.address}, sequence ${sequence}`);
  } catch (error) {
    signal.throwIfAborted();
    const isNew = error instanceof ClientError && error.facts.code === "no-account";
    return isNew
      ? problem(subject, `${account.address} does not exist on the chain`, "send it some coins")
      : unseen(subject, errorText(error), NODE_ADVICE);
  }
}

/** Minimum number of transactions that the balance must cover, because a smaller balance would be spent within minutes. */
const MIN_TRANSACTIONS = 10n;

async function checkBalance(preview: Preview, payer: string, signal: AbortSignal): Promise<Finding> {
  const { local, config } = preview;
  const subject = "balance";
  const { denom } = config.gas;
  try {
    const amount = await local.balance(payer, denom, signal);
    const fee = await expectedFee(preview, signal);
    const unit = await previewUnit(preview, signal);
    const text = `${payer} has ${formatAmount(amount, denom, unit)}`;
    return amount >= MIN_TRANSACTIONS * maxInt(fee, 1n)
      ? good(subject, text)
      : problem(
          subject,
          `${text}, but a transaction costs about ${formatAmount(fee, denom, unit)}`,
          `send ${denom} to ${payer}`,
        );
  } catch (error) {
    signal.throwIfAborted();
    return unseen(subject, errorText(error), NODE_ADVICE);
  }
}

/**
 * Returns the expected fee for a transaction with one result per served KV query. A gas price above `gas.max_price` is capped,
 * because another check reports it.
 */
async function expectedFee(preview: Preview, signal: AbortSignal): Promise<bigint> {
  const { config, localClient, connections } = preview;
  const { max_price: cap } = config.gas;
  const [price, ...queries] = await Promise.all([
    readGasPrice(localClient, { ...gasPricePolicy(config.gas), multiplier: DEC18_ONE }, signal).catch(
      (error: unknown) => {
        if (isPriceAboveCap(error)) return cap;
        throw error;
      },
    ),
    ...connections.map(({ id }) => servedQueries(preview, id, [], signal)),
  ]);
  const kv = queries.flat().filter(({ type }) => type === "kv");
  return transactionFee(
    config,
    kv.map((query) => gasGuess(query, config.queries.allow_kv_callbacks)),
    { price },
  );
}

function isPriceAboveCap(error: unknown): error is ClientError {
  return error instanceof ClientError && error.facts.code === "gas-price-above-cap";
}

async function checkGasPrice({ localClient, config }: Preview, signal: AbortSignal): Promise<Finding> {
  const subject = "gas price";
  const { denom, max_price: cap } = config.gas;
  try {
    const found = await readGasPrice(localClient, gasPricePolicy(config.gas), signal);
    return good(subject, `${priceText(found)} ${denom}, at most ${priceText(cap)}`);
  } catch (error) {
    signal.throwIfAborted();
    return isPriceAboveCap(error)
      ? problem(subject, error.message, "raise gas.max_price, or wait")
      : unseen(subject, errorText(error), NODE_ADVICE);
  }
}

async function checkFeeGrant(preview: Preview, granter: string, signal: AbortSignal): Promise<Finding> {
  const { localClient, account, config } = preview;
  const subject = "fee grant";
  const { denom } = config.gas;
  try {
    const allowance = await readAllowance(localClient, { granter, grantee: account.address, denom }, signal);
    if (allowance === undefined) return noGrant(subject, granter, account.address);
    const { type, left, isKnown, expiresAtMs } = allowance;
    const unit = await previewUnit(preview, signal);
    const amount =
      left === undefined ? (isKnown ? ", no total limit" : "") : `, ${formatAmount(left, denom, unit)} left`;
    const text = `${granter} grants ${type}${amount}${expiresAtMs === undefined ? "" : `, valid until ${isoTime(expiresAtMs)}`}`;
    const isUsedUp =
      left === 0n || (expiresAtMs !== undefined && expiresAtMs <= preview.context.clock.nowMs());
    return isUsedUp ? problem(subject, text, "renew or raise the fee grant") : good(subject, text);
  } catch (error) {
    signal.throwIfAborted();
    return unseen(subject, errorText(error), NODE_ADVICE);
  }
}

function noGrant(subject: string, granter: string, grantee: string): Finding {
  return problem(
    subject,
    `${granter} has no fee grant for ${grantee}`,
    "create the fee grant, or remove signer.fee_granter",
  );
}

/** Checks the configured prices against the fee market, and the market's capacity for the registered queries. Rejects only on abort. */
export async function checkMarket(preview: Preview, signal: AbortSignal): Promise<readonly Finding[]> {
  const subject = "fee market";
  try {
    const market = await previewMarket(preview, signal);
    if (market === undefined) return [good(subject, "the chain has none, so its gas price is constant")];
    const { params, price, othersGas } = market;
    const unit = await previewUnit(preview, signal);
    const text = `price ${priceText(price)}, minimum ${priceText(params.minBaseGasPrice)}, target ${targetOf(params)} gas per block, of which others use ${othersGas ?? "an unknown part, because the node does not store block results"}`;
    const { max_price: cap } = preview.config.gas;
    const advised = adviseOnPrices({ cap, ceiling: ceilingOf(preview.config, params) }, params);
    return [
      advised === undefined ? good(subject, text) : problem(subject, ...advised),
      checkDemand(await forecastPresent(preview, market, signal), (fee) =>
        formatAmount(fee, preview.config.gas.denom, unit),
      ),
    ];
  } catch (error) {
    signal.throwIfAborted();
    return [unseen(subject, errorText(error), NODE_ADVICE)];
  }
}

function checkDemand(found: Forecast, amountText: (fee: bigint) => string): Finding {
  const { demandGas, sustainableGas, lateBlocks, costPerDay } = found;
  const demand = `the KV queries need ${found.demandResults.toFixed(1)} results per block (${demandGas} gas)`;
  const cost = `${amountText(costPerDay)} a day`;
  if (lateBlocks === 0)
    return good("demand", `${demand}, the market bears ${found.sustainableResults.toFixed(1)}; ${cost}`);
  const late = lateBlocks === Infinity ? "not be answered" : `be ${lateBlocks.toFixed(1)} blocks late`;
  return advise(
    "demand",
    `${demand}, the market bears ${found.sustainableResults.toFixed(1)} (${sustainableGas} gas): each will ${late}, for ${cost}`,
    'use longer update periods or fewer queries; "relaywatch relayer plan" shows the cost of each remedy',
  );
}

/** Formats a price without trailing zeros. */
function priceText(amount: Dec18): string {
  return formatDec18(amount).replace(/\.?0+$/, "");
}
