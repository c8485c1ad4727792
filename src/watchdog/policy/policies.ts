import { DEC18_ONE } from "../../platform/base/decimal.ts";
import type { RevenueParams } from "../observation.ts";
import type { Policy } from "./assessment.ts";
import { SPECIFIED_LEAST } from "./reward-tier.ts";

/** 3000 currency units a month (chain-extension-modules.md, "Limits"). */
const SPECIFIED_REWARD_CENTS = 300_000n;

/** The specification's tiers, linear between the boundaries. Signed blocks: the documented 99.5 % and 95 %. */
export const SPECIFIED_POLICY: Policy = {
  curve: "linear",
  least: SPECIFIED_LEAST,
  leastSigned: { full: (DEC18_ONE * 995n) / 1000n, none: (DEC18_ONE * 95n) / 100n },
  fullRewardCents: SPECIFIED_REWARD_CENTS,
  source: "specification",
};

/** The policy by which a chain with these parameters pays. */
export function chainPolicy(params: RevenueParams): Policy {
  return {
    curve: "revenue-quadratic",
    least: { full: DEC18_ONE - params.votesAllowedToMiss, none: params.votesRequired },
    leastSigned: { full: DEC18_ONE - params.blocksAllowedToMiss, none: params.blocksRequired },
    fullRewardCents: params.baseCompensation * 100n,
    source: "chain",
  };
}
