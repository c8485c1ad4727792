import { cutText } from "../../platform/base/text.ts";
import type { JsonField } from "../../platform/base/json.ts";

/** A planned upgrade of the chain (`Plan` in `x/upgrade`), whose texts come from the governance proposal and are truncated. */
export interface UpgradePlan {
  readonly name: string;
  /** Every node must run the new version before this block. */
  readonly height: bigint;
  /** The plan's info, often a URL for the binaries; may be empty. */
  readonly info: string;
}

export interface UpgradeReading {
  /** The planned upgrade; undefined if no upgrade is planned. */
  readonly plan: UpgradePlan | undefined;
}

/** Parses the response from `/cosmos/upgrade/v1beta1/current_plan`. Throws the invalid field's error if the plan is invalid. */
export function toUpgradeReading(root: JsonField): UpgradeReading {
  const plan = root.member("plan");
  if (!plan.isPresent()) return { plan: undefined };
  const height = plan.member("height").required();
  if (height.asInt64() <= 0n) throw height.error(height.path, "a height");
  return {
    plan: {
      name: clipped(plan.member("name").asText(), 100) || "without a name",
      height: height.asInt64(),
      info: clipped(plan.member("info").asText(), 300),
    },
  };
}

/** Converts a text to one line of at most `max` characters, replacing control characters and text-direction marks with spaces. */
function clipped(text: string, max: number): string {
  const line = cutText(text, 4 * max)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return line.length > max ? `${cutText(line, max)}…` : line;
}
