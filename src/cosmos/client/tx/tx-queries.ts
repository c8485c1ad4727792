import { accountFromAny } from "@cosmjs/stargate";
import { ceilDec18, type Dec18, formatDec18, mulDec18, parseDec18 } from "../../../platform/base/decimal.ts";
import { QueryAccountRequest, QueryAccountResponse } from "../../proto/gen/cosmos/auth/v1beta1/query.ts";
import { SimulateRequest, SimulateResponse } from "../../proto/gen/cosmos/tx/v1beta1/service.ts";
import { PermanentLockedAccount } from "../../proto/gen/cosmos/vesting/v1beta1/vesting.ts";
import { GasPriceRequest, GasPriceResponse } from "../../proto/gen/feemarket/feemarket/v1/query.ts";
import { TYPE_URL } from "../../proto/registry.ts";
import type { ChainClient } from "../chain-client.ts";
import { isRequestTooLarge } from "../answers.ts";
import { ClientError, refusalLog } from "../../client-error.ts";
import { badResponse } from "../rpc-response.ts";
import type { SimulationOutcome, TxFailure } from "./tx-types.ts";

/**
 * The SDK's error code for a transaction that is too large. The client uses the same code if the node refuses a request because of
 * its size.
 */
export const TX_TOO_LARGE = { codespace: "sdk", code: 21 } as const;

/**
 * Simulates an encoded transaction. If the application refuses the transaction, or if the request exceeds the node's size limit
 * ({@link TX_TOO_LARGE}), returns the failure as an outcome. Throws all other errors.
 */
export async function simulateTransaction(
  client: Pick<ChainClient, "grpcQuery">,
  txBytes: Uint8Array,
  signal: AbortSignal,
): Promise<SimulationOutcome> {
  const request = SimulateRequest.encode({ tx: undefined, txBytes }).finish();
  try {
    const response = await client.grpcQuery("/cosmos.tx.v1beta1.Service/Simulate", request, signal);
    const { gasInfo } = SimulateResponse.decode(response);
    if (gasInfo === undefined) throw badResponse("chain", "gas_info", "is missing from a simulation");
    return { ok: true, gasUsed: gasInfo.gasUsed };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (isRequestTooLarge(error))
      return { ok: false, ...TX_TOO_LARGE, log: error.message, failedMessage: undefined };
    if (error.facts.code !== "abci") throw error;
    const { abciCode, codespace, log } = error.facts;
    return { ok: false, code: abciCode, codespace, log, failedMessage: failedMessageIndex(log) };
  }
}

/** Returns true if a localnet node ended a simulation because the simulation took too long. */
export function endedAtDeadline({ log }: { readonly log: string }): boolean {
  return log.includes("code = DeadlineExceeded");
}

/** Returns the index of the message that failed according to the log, or undefined if the log contains no index. */
export function failedMessageIndex(log: string): number | undefined {
  const match = /failed to execute message; message index: (\d{1,6})/.exec(log);
  return match === null ? undefined : Number(match[1]);
}

/** Code of the error "account sequence mismatch" in codespace `sdk`. */
const SEQUENCE_MISMATCH = 32;

/** Returns true if CheckTx refused a transaction because of its sequence. */
export function isSequenceMismatch({ codespace, code }: TxFailure): boolean {
  return codespace === "sdk" && code === SEQUENCE_MISMATCH;
}

/** Returns the expected sequence from a log such as "account sequence mismatch, expected 5, got 4", or undefined for any other log. */
export function expectedSequence(log: string): bigint | undefined {
  const match = /account sequence mismatch, expected (\d{1,20}), got \d{1,20}/.exec(log);
  return match === null ? undefined : BigInt(match[1] ?? "0");
}

/** Rules for choosing a transaction's gas price. */
export interface GasPricePolicy {
  /** Denom in which fees are paid. */
  readonly denom: string;
  /** Multiplier for the chain's price, at least 1, to cover price increases before the transaction is included. */
  readonly multiplier: Dec18;
  /** Maximum price per unit of gas. */
  readonly cap: Dec18;
  /** Price to offer on a chain without a fee market. If undefined, a missing fee market is an error. */
  readonly fallback?: Dec18;
}

/** Reads the fee market's price and applies the policy; see {@link planGasPrice}. */
export async function readGasPrice(
  client: Pick<ChainClient, "grpcQuery">,
  policy: GasPricePolicy,
  signal: AbortSignal,
): Promise<Dec18> {
  const request = GasPriceRequest.encode({ denom: policy.denom }).finish();
  try {
    const response = await client.grpcQuery("/feemarket.feemarket.v1.Query/GasPrice", request, signal);
    return planGasPrice(decodeGasPrice(response), policy);
  } catch (error) {
    if (policy.fallback !== undefined && refusalLog(error) !== undefined) return policy.fallback;
    throw error;
  }
}

/**
 * Decodes a `GasPriceResponse`. On the wire, a decimal is an integer in units of 10^-18, but text such as "0.0025" is accepted too.
 */
export function decodeGasPrice(response: Uint8Array): Dec18 {
  const amount = GasPriceResponse.decode(response).price?.amount ?? "";
  if (/^\d{1,60}$/.test(amount)) return BigInt(amount);
  if (/^\d{1,40}\.\d{1,18}$/.test(amount)) return parseDec18(amount);
  throw badResponse("chain", "price.amount", "is not a decimal number");
}

/**
 * Returns the chain's price times the multiplier, up to the cap. Throws `gas-price-above-cap` if the chain's price alone exceeds
 * the cap, because the chain would refuse a transaction at the cap.
 */
export function planGasPrice(basePrice: Dec18, policy: GasPricePolicy): Dec18 {
  if (basePrice > policy.cap)
    throw new ClientError(
      {
        code: "gas-price-above-cap",
        denom: policy.denom,
        price: formatDec18(basePrice),
        cap: formatDec18(policy.cap),
      },
      `the chain's gas price ${formatDec18(basePrice)}${policy.denom} exceeds the cap of ${formatDec18(policy.cap)}`,
    );
  const wanted = mulDec18(basePrice, policy.multiplier);
  return wanted > policy.cap ? policy.cap : wanted;
}

/** Returns the fee for a gas limit, rounded up to whole coins. */
export function feeFor(gasPrice: Dec18, gasLimit: bigint): bigint {
  return ceilDec18(gasPrice * gasLimit);
}

/** An account's number and next sequence. */
export interface AccountState {
  readonly accountNumber: bigint;
  readonly sequence: bigint;
}

/**
 * Reads an account in the latest state, including vesting and module accounts. Throws `no-account` if the account does not exist.
 */
export async function readAccount(
  client: Pick<ChainClient, "grpcQuery">,
  address: string,
  signal: AbortSignal,
): Promise<AccountState> {
  const request = QueryAccountRequest.encode({ address }).finish();
  try {
    return decodeAccount(await client.grpcQuery("/cosmos.auth.v1beta1.Query/Account", request, signal));
  } catch (cause) {
    if (!/not found/i.test(refusalLog(cause) ?? "")) throw cause;
    throw new ClientError(
      { code: "no-account", address },
      `account ${address} does not exist on the chain yet; send it some coins`,
      { cause },
    );
  }
}

/** Decodes a `QueryAccountResponse`. Throws `bad-answer` if CosmJS does not support the account type. */
export function decodeAccount(response: Uint8Array): AccountState {
  const { account } = QueryAccountResponse.decode(response);
  if (account === undefined) throw badResponse("chain", "account", "is missing");
  // CosmJS's account parser does not support PermanentLockedAccount.
  if (account.typeUrl === TYPE_URL.permanentLockedAccount) {
    const base = PermanentLockedAccount.decode(account.value).baseVestingAccount?.baseAccount;
    if (base === undefined) throw badResponse("chain", "account", "has no base_account");
    const { accountNumber, sequence } = base;
    return { accountNumber, sequence };
  }
  try {
    const { accountNumber, sequence } = accountFromAny(account);
    return { accountNumber: BigInt(accountNumber), sequence: BigInt(sequence) };
  } catch {
    throw badResponse("chain", "account", `has an unknown type: ${account.typeUrl}`);
  }
}
