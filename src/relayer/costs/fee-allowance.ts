import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { ClientError } from "../../cosmos/client-error.ts";
import type { Coin } from "../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import {
  AllowedMsgAllowance,
  BasicAllowance,
  PeriodicAllowance,
} from "../../cosmos/proto/gen/cosmos/feegrant/v1beta1/feegrant.ts";
import {
  QueryAllowanceRequest,
  QueryAllowanceResponse,
} from "../../cosmos/proto/gen/cosmos/feegrant/v1beta1/query.ts";
import type { Any } from "../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Timestamp } from "../../cosmos/proto/gen/google/protobuf/timestamp.ts";
import { joinNs, NS_PER_MS } from "../../platform/base/time.ts";

/** The amounts that a fee grant can still pay. */
export interface FeeAllowance {
  /** "BasicAllowance", "PeriodicAllowance", or a type unknown to this program. */
  readonly type: string;
  /** Total remaining amount in the fee denom; undefined if the grant is unlimited or its type is unknown. */
  readonly left: bigint | undefined;
  /** False if the allowance's type, and therefore its limit, is unknown. */
  readonly isKnown: boolean;
  /** Expiry of the grant, as Unix time in ms; undefined if the grant never expires. */
  readonly expiresAtMs: number | undefined;
  /** A periodic allowance's current period; undefined for other allowances. */
  readonly period:
    | {
        readonly ms: number;
        readonly limit: bigint;
        /** Remaining amount in the current period. */
        readonly left: bigint;
        /** Start of the next period, as Unix time in ms. */
        readonly resetAtMs: number | undefined;
      }
    | undefined;
}

/** Maximum nesting depth, since an `AllowedMsgAllowance` contains another allowance. */
const MAX_DEPTH = 4;

/**
 * Decodes an x/feegrant allowance. Considers only the fee denom. If a limit does not list this denom, the remaining amount is 0.
 * Throws if the bytes are invalid.
 */
export function decodeAllowance({ typeUrl, value }: Any, denom: string, depth = 0): FeeAllowance {
  const type = typeUrl.replace(/^.*\./, "").slice(0, 60);
  const none = { type, left: undefined, expiresAtMs: undefined, period: undefined };
  if (type === "BasicAllowance")
    return { ...none, ...basicOf(BasicAllowance.decode(value), denom), isKnown: true };
  if (type === "PeriodicAllowance") {
    const wire = PeriodicAllowance.decode(value);
    const period = {
      ms: Number(joinNs(wire.period) / NS_PER_MS),
      limit: amountOf(wire.periodSpendLimit, denom),
      left: amountOf(wire.periodCanSpend, denom),
      resetAtMs: timeOf(wire.periodReset),
    };
    const basic = wire.basic === undefined ? {} : basicOf(wire.basic, denom);
    return { ...none, ...basic, period, isKnown: true };
  }
  const inner = type === "AllowedMsgAllowance" ? AllowedMsgAllowance.decode(value).allowance : undefined;
  if (inner !== undefined && depth < MAX_DEPTH) return decodeAllowance(inner, denom, depth + 1);
  return { ...none, isKnown: false };
}

function basicOf(
  { spendLimit, expiration }: BasicAllowance,
  denom: string,
): Pick<FeeAllowance, "left" | "expiresAtMs"> {
  return {
    left: spendLimit.length === 0 ? undefined : amountOf(spendLimit, denom),
    expiresAtMs: timeOf(expiration),
  };
}

function amountOf(coins: readonly Coin[], denom: string): bigint {
  const amount = coins.find((coin) => coin.denom === denom)?.amount ?? "";
  return /^\d{1,78}$/.test(amount) ? BigInt(amount) : 0n;
}

function timeOf(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : Number(joinNs(time) / NS_PER_MS);
}

/** Reads a fee grant. Resolves with undefined if there is no grant. Rejects with `ClientError`. */
export async function readAllowance(
  client: Pick<ChainClient, "grpcQuery">,
  { granter, grantee, denom }: { readonly granter: string; readonly grantee: string; readonly denom: string },
  signal: AbortSignal,
): Promise<FeeAllowance | undefined> {
  const request = QueryAllowanceRequest.encode({ granter, grantee }).finish();
  const path = "/cosmos.feegrant.v1beta1.Query/Allowance";
  try {
    const { allowance } = QueryAllowanceResponse.decode(await client.grpcQuery(path, request, signal));
    const found = allowance?.allowance;
    return found === undefined ? undefined : decodeAllowance(found, denom);
  } catch (error) {
    if (error instanceof ClientError && error.facts.code === "abci") return undefined;
    throw error;
  }
}
