import { parseDec18 } from "../../platform/base/decimal.ts";
import type { JsonField } from "../../platform/base/json.ts";
import type { RevenueParams, RevenueStats } from "./observation.ts";

/** Parses the response from `/neutron/revenue/params`. Throws the invalid field's error if a field is missing or malformed. */
export function toRevenueParams(root: JsonField): RevenueParams {
  const params = root.member("params").required();
  const blocks = params.member("blocks_performance_requirement").required();
  const votes = params.member("oracle_votes_performance_requirement").required();
  const quote = params.member("reward_quote").required();
  return {
    blocksAllowedToMiss: asDecimal(blocks.member("allowed_to_miss").required()),
    blocksRequired: asDecimal(blocks.member("required_at_least").required()),
    votesAllowedToMiss: asDecimal(votes.member("allowed_to_miss").required()),
    votesRequired: asDecimal(votes.member("required_at_least").required()),
    baseCompensation: quote.member("amount").required().asInt64(),
    quoteAsset: quote.member("asset").required().asText(),
    schedule: scheduleOf(params.member("payment_schedule_type").required()),
  };
}

/** Parses the response from `/neutron/revenue/validator_stats`. The chain's field names spell "committed" as "commited". */
export function toRevenueStats(root: JsonField): RevenueStats {
  const stats = root.member("stats").required();
  const info = stats.member("validator_info").required();
  const count = (name: string): bigint => info.member(name).asInt64();
  return {
    committedBlocks: count("commited_blocks_in_period"),
    committedVotes: count("commited_oracle_votes_in_period"),
    inActiveSet: count("in_active_valset_for_blocks_in_period"),
    totalBlocks: stats.member("total_produced_blocks_in_period").asInt64(),
  };
}

function scheduleOf(type: JsonField): RevenueParams["schedule"] {
  if (type.member("monthly_payment_schedule_type").isPresent()) return "monthly";
  return type.member("block_based_payment_schedule_type").isPresent() ? "block-based" : "empty";
}

function asDecimal(field: JsonField): bigint {
  try {
    return parseDec18(field.asText());
  } catch {
    throw field.error(field.path, "a decimal");
  }
}
