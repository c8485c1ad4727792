import { createObjectSlot } from "../../../../platform/base/caches.ts";
import { attribute, type ChainEvent } from "../../runtime/events.ts";
import { MODULE_NAME, pairOf } from "./keys.ts";
import type { TradePairId } from "./types.ts";

// Lists of attributes are spelled out where events are made: V8 grows a list with spreads step by step, and events are a good
// part of what a message allocates.

/** One attribute of an event. */
export type Attribute = ChainEvent["attributes"][number];

/** The first attribute of all events of the module. */
export const MODULE_ATTRIBUTE: Attribute = attribute("module", MODULE_NAME);

/** The attributes of a side of a pair: its tokens in byte order, and the one that the maker sells. */
type SideAttributes = readonly [zero: Attribute, one: Attribute, tokenIn: Attribute];

const sideAttributes = createObjectSlot<TradePairId, SideAttributes>("attributes of the side");

/** Returns the attributes of a side. Every saved record names its side, and all records of a side share few objects. */
export function attributesOf(tradePairId: TradePairId): SideAttributes {
  const known = sideAttributes.get(tradePairId);
  if (known !== undefined) return known;
  const { token0, token1 } = pairOf(tradePairId);
  const attributes = [
    attribute("TokenZero", token0),
    attribute("TokenOne", token1),
    attribute("TokenIn", tradePairId.makerDenom),
  ] as const;
  sideAttributes.set(tradePairId, attributes);
  return attributes;
}
