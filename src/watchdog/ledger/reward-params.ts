import { isRecord } from "../../platform/base/json.ts";
import type { RevenueParams, RevenueView } from "../observation.ts";

const NO_PROGRAMME = "no reward programme";

/** How a parameter is named and shown to people. */
type ParamText = readonly [name: string, show: (value: string) => string];

const asIs = (value: string): string => value;
/** A share scaled by 10^18. */
const percent = (value: string): string => `${Number(value) / 1e16} %`;

const TEXTS: Readonly<Record<keyof RevenueParams, ParamText>> = {
  blocksAllowedToMiss: ["blocks that may be missed", percent],
  blocksRequired: ["blocks required for any pay", percent],
  votesAllowedToMiss: ["votes that may be missed", percent],
  votesRequired: ["votes required for any pay", percent],
  baseCompensation: ["pay of a full month", asIs],
  quoteAsset: ["unit of the pay", asIs],
  schedule: ["payment schedule", asIs],
};

/** Encodes the parameters of a chain, to compare them with later ones. */
export function encodeParams(revenue: RevenueView): string {
  if (revenue.programme === "none") return NO_PROGRAMME;
  return JSON.stringify(revenue.params, (_key, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
}

/** Says what differs between two encoded lists of parameters: "the pay of a full month from 2500 to 3000". */
export function paramsChange(before: string, after: string): string {
  if (after === NO_PROGRAMME) return "the chain has no reward programme any more";
  if (before === NO_PROGRAMME) return "the chain has a reward programme now";
  const [from, to] = [before, after].map((text): unknown => JSON.parse(text));
  const changes = Object.entries(TEXTS).flatMap(([key, [name, show]]) => {
    const [old, now] = [from, to].map((params) => (isRecord(params) ? String(params[key]) : ""));
    return old === undefined || now === undefined || old === now
      ? []
      : [`${name} from ${show(old)} to ${show(now)}`];
  });
  return `the reward parameters of the chain changed: ${changes.join(", ")}`;
}
