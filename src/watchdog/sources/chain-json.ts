import {
  asInt64,
  asText,
  asTimeNs,
  elements,
  isPresent,
  type JsonField,
  member,
  required,
} from "../../platform/base/json.ts";
import { parseDec18 } from "../../platform/base/decimal.ts";
import type { ChainPrice, RevenueParams, RevenueStats } from "../observation.ts";
import { SourceError } from "./source-failure.ts";

/** A block, as far as the watchdog needs it. */
export interface BlockJson {
  readonly chainId: string;
  readonly height: bigint;
  readonly timeMs: number;
  /** Addresses of the validators that signed the block before, base64. */
  readonly signers: ReadonlySet<string>;
}

/** A member of the validator set. */
export interface MemberJson {
  /** Bech32 consensus address. */
  readonly address: string;
  readonly votingPower: bigint;
}

/** Starts the check of a response. Errors name the field. */
export function responseField(text: string): JsonField {
  try {
    return { value: JSON.parse(text), path: "", error: fieldError };
  } catch {
    throw fieldError("", "JSON");
  }
}

function fieldError(path: string, expected: string): SourceError {
  return new SourceError(
    { code: "not-a-chain" },
    `the response is not a chain's: ${path === "" ? "it" : path} is not ${expected}`,
  );
}

/** Reads `/cosmos/base/tendermint/v1beta1/blocks/…`. */
export function toBlock(root: JsonField): BlockJson {
  const block = required(member(root, "block"));
  const header = required(member(block, "header"));
  const signatures = elements(member(required(member(block, "last_commit")), "signatures"));
  return {
    chainId: asText(required(member(header, "chain_id"))),
    height: asInt64(required(member(header, "height"))),
    timeMs: Number(asTimeNs(required(member(header, "time"))) / 1_000_000n),
    signers: new Set(
      signatures
        .filter((signature) => asText(member(signature, "block_id_flag")) === "BLOCK_ID_FLAG_COMMIT")
        .map((signature) => asText(member(signature, "validator_address"))),
    ),
  };
}

/** Reads `/cosmos/base/tendermint/v1beta1/validatorsets/latest`. */
export function toValidatorSet(root: JsonField): readonly MemberJson[] {
  return elements(required(member(root, "validators"))).map((validator) => ({
    address: asText(required(member(validator, "address"))),
    votingPower: asInt64(member(validator, "voting_power")),
  }));
}

/** Reads `…/get_prices` for these pairs, in their order. */
export function toChainPrices(root: JsonField, pairs: readonly string[]): readonly ChainPrice[] {
  const prices = elements(required(member(root, "prices")));
  return prices.slice(0, pairs.length).map((entry, index) => {
    const price = member(entry, "price");
    const height = isPresent(price) ? asInt64(member(price, "block_height")) : 0n;
    return {
      pair: pairs[index] ?? "",
      height,
      blockTimeMs:
        height === 0n ? undefined : Number(asTimeNs(required(member(price, "block_timestamp"))) / 1_000_000n),
      price: isPresent(price) ? asInteger(member(price, "price")) : 0n,
    };
  });
}

/** Reads `/neutron/revenue/params`. */
export function toRevenueParams(root: JsonField): RevenueParams {
  const params = required(member(root, "params"));
  const blocks = required(member(params, "blocks_performance_requirement"));
  const votes = required(member(params, "oracle_votes_performance_requirement"));
  const quote = required(member(params, "reward_quote"));
  return {
    blocksAllowedToMiss: asDecimal(required(member(blocks, "allowed_to_miss"))),
    blocksRequired: asDecimal(required(member(blocks, "required_at_least"))),
    votesAllowedToMiss: asDecimal(required(member(votes, "allowed_to_miss"))),
    votesRequired: asDecimal(required(member(votes, "required_at_least"))),
    baseCompensation: asInt64(required(member(quote, "amount"))),
    quoteAsset: asText(required(member(quote, "asset"))),
    schedule: scheduleOf(required(member(params, "payment_schedule_type"))),
  };
}

/** Reads `/neutron/revenue/validator_stats`. The chain spells "commited" with one t. */
export function toRevenueStats(root: JsonField): RevenueStats {
  const stats = required(member(root, "stats"));
  const info = required(member(stats, "validator_info"));
  const count = (name: string): bigint => asInt64(member(info, name));
  return {
    committedBlocks: count("commited_blocks_in_period"),
    committedVotes: count("commited_oracle_votes_in_period"),
    inActiveSet: count("in_active_valset_for_blocks_in_period"),
    totalBlocks: asInt64(member(stats, "total_produced_blocks_in_period")),
  };
}

function scheduleOf(type: JsonField): RevenueParams["schedule"] {
  if (isPresent(member(type, "monthly_payment_schedule_type"))) return "monthly";
  return isPresent(member(type, "block_based_payment_schedule_type")) ? "block-based" : "empty";
}

function asDecimal(field: JsonField): bigint {
  try {
    return parseDec18(asText(field));
  } catch {
    throw field.error(field.path, "a decimal");
  }
}

/** Prices can exceed 64 bits. */
function asInteger(field: JsonField): bigint {
  const text = asText(field);
  if (/^\d{1,78}$/.test(text)) return BigInt(text);
  throw field.error(field.path, "a whole number");
}
