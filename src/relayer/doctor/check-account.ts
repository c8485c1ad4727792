import { type Dec18, formatDec18 } from "../../platform/base/decimal.ts";
import { errorText } from "../../platform/base/errors.ts";
import { readAccount } from "../../cosmos/client/tx/account.ts";
import { readGasPrice } from "../../cosmos/client/tx/gas-price.ts";
import { ClientError } from "../../cosmos/client/errors.ts";
import {
  QueryAllowanceRequest,
  QueryAllowanceResponse,
} from "../../cosmos/proto/gen/cosmos/feegrant/v1beta1/query.ts";
import type { Preview } from "../preview/open-preview.ts";
import { type Finding, good, problem, unseen } from "./finding.ts";

/** Checks the account that signs, who pays, and the gas price. Throws only on abort. */
export async function checkAccount(preview: Preview, signal: AbortSignal): Promise<readonly Finding[]> {
  const { config, account } = preview;
  const payer = config.signer.fee_granter ?? account.address;
  return Promise.all([
    existence(preview, signal),
    balance(preview, payer, signal),
    price(preview, signal),
    ...(config.signer.fee_granter === undefined ? [] : [grant(preview, config.signer.fee_granter, signal)]),
  ]);
}

const NODE_ADVICE = "see the endpoints of the local chain";

async function existence({ localClient, account }: Preview, signal: AbortSignal): Promise<Finding> {
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

async function balance({ local, config }: Preview, payer: string, signal: AbortSignal): Promise<Finding> {
  const subject = "balance";
  const { denom } = config.gas;
  try {
    const amount = await local.balance(payer, denom, signal);
    const text = `${payer} has ${amount} ${denom}`;
    return amount > 0n ? good(subject, text) : problem(subject, text, `send ${denom} to ${payer}`);
  } catch (error) {
    signal.throwIfAborted();
    return unseen(subject, errorText(error), NODE_ADVICE);
  }
}

async function price({ localClient, config }: Preview, signal: AbortSignal): Promise<Finding> {
  const subject = "gas price";
  const { denom, price_multiplier: multiplier, max_price: cap, fallback_price: fallback } = config.gas;
  try {
    const found = await readGasPrice(localClient, { denom, multiplier, cap, fallback }, signal);
    return good(subject, `${priceText(found)} ${denom}, at most ${priceText(cap)}`);
  } catch (error) {
    signal.throwIfAborted();
    const isHigh = error instanceof ClientError && error.facts.code === "gas-price-above-cap";
    return isHigh
      ? problem(subject, error.message, "raise gas.max_price, or wait")
      : unseen(subject, errorText(error), NODE_ADVICE);
  }
}

async function grant(
  { localClient, account }: Preview,
  granter: string,
  signal: AbortSignal,
): Promise<Finding> {
  const subject = "fee grant";
  try {
    const request = QueryAllowanceRequest.encode({ granter, grantee: account.address }).finish();
    const path = "/cosmos.feegrant.v1beta1.Query/Allowance";
    const { allowance } = QueryAllowanceResponse.decode(await localClient.grpcQuery(path, request, signal));
    const type = allowance?.allowance?.typeUrl.replace(/^.*\./, "");
    if (type !== undefined) return good(subject, `${granter} grants ${type}`);
    return missing(subject, granter, account.address);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ClientError && error.facts.code === "abci")
      return missing(subject, granter, account.address, error.facts.log);
    return unseen(subject, errorText(error), NODE_ADVICE);
  }
}

function missing(subject: string, granter: string, grantee: string, log = ""): Finding {
  const reason = log === "" ? "" : ` (${log})`;
  return problem(
    subject,
    `${granter} grants no fees to ${grantee}${reason}`,
    "grant them, or remove signer.fee_granter",
  );
}

/** Without the zeros at the end, and without a point that they leave. */
function priceText(amount: Dec18): string {
  return formatDec18(amount).replace(/\.?0+$/, "");
}
