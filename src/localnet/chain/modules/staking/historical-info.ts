import { compareBytes } from "../../../../platform/base/bytes.ts";
import { nsToTimestamp } from "../../../../cosmos/comet/timestamp.ts";
import { HistoricalInfo } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import { Header } from "../../../../cosmos/proto/gen/tendermint/types/types.ts";
import type { Context } from "../../runtime/context.ts";
import type { BlockInput } from "../../runtime/module.ts";
import { createMap, mappedCodec, messageCodec, textCodec } from "../../store/collections.ts";
import { HISTORICAL_INFO, MODULE_NAME } from "./keys.ts";
import { paramsOf } from "./params.ts";
import { consensusAddressOf, type Validator, validatorToWire } from "./records.ts";
import { potentialPower } from "./shares.ts";
import { lastPowers, requireValidator } from "./validators.ts";

// The SDK writes the height as text, so that the keys do not sort by height.
const heightKey = mappedCodec(textCodec, BigInt, (height: bigint) => height.toString());

/** Header and active set of the recent blocks, by height. */
export const historicalInfos = createMap(
  MODULE_NAME,
  HISTORICAL_INFO,
  heightKey,
  messageCodec<HistoricalInfo>(HistoricalInfo),
);

/**
 * Stores header and active set at the begin of a block, and deletes the entries that are more than `historical_entries` heights old.
 * The set is that of the last block, highest power first.
 */
export function trackHistoricalInfo(context: Context, block: BlockInput): void {
  const entries = BigInt(paramsOf(context).historicalEntries);
  // The entries to delete are neighbours: several only after the parameter became smaller.
  for (let old = context.height - entries; old >= 0n && historicalInfos.has(context, old); old -= 1n)
    historicalInfos.delete(context, old);
  if (entries === 0n) return;
  const valset = [...lastPowers.entries(context)].map(([operator]) => requireValidator(context, operator));
  historicalInfos.set(context, context.height, {
    header: headerOf(context, block),
    valset: valset.toSorted(byPower).map(validatorToWire),
  });
}

/** The order of CometBFT: power, then address. */
function byPower(a: Validator, b: Validator): number {
  const [powerA, powerB] = [potentialPower(a), potentialPower(b)];
  if (powerA !== powerB) return powerA > powerB ? -1 : 1;
  return compareBytes(consensusAddressOf(a), consensusAddressOf(b));
}

/** The parts of a header that the node gives to the application. The others are empty. */
function headerOf({ chainId, height, timeNs }: Context, block: BlockInput): Header {
  const none = new Uint8Array(0);
  const { nextValidatorsHash = none, appHash = none, proposerAddress = none } = block;
  return {
    ...Header.decode(none),
    version: { block: 0n, app: 0n },
    chainId,
    height,
    time: nsToTimestamp(timeNs),
    lastBlockId: { hash: none, partSetHeader: { total: 0, hash: none } },
    nextValidatorsHash,
    appHash,
    proposerAddress,
  };
}
