import { type DisplayUnit, displayUnitOf } from "../../platform/base/display-unit.ts";
import { Query } from "../proto/gen/cosmos/bank/v1beta1/query.ts";
import { type ChainClient, queriesOf } from "./chain-client.ts";
import { refusalLog } from "../client-error.ts";

/**
 * Reads the display unit of a denomination from the chain's bank module. Resolves with undefined if the chain has no metadata for
 * the denomination, or if the metadata contains no display unit. Rejects with `ClientError` if the read fails.
 */
export async function readDisplayUnit(
  client: Pick<ChainClient, "grpcQuery">,
  denom: string,
  signal: AbortSignal,
): Promise<DisplayUnit | undefined> {
  try {
    const { metadata } = await queriesOf(client, Query)("DenomMetadata", { denom }, signal);
    return metadata === undefined ? undefined : displayUnitOf(metadata, denom);
  } catch (error) {
    // The application refuses the query if the chain has no metadata for this denomination.
    if (refusalLog(error) !== undefined) return undefined;
    throw error;
  }
}
