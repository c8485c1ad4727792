import { joinNs } from "../../../../platform/base/time.ts";
import { ConsensusParams } from "../../../../cosmos/proto/gen/tendermint/types/params.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { BLOCK_RECORD_STORE } from "../../runtime/block-record.ts";
import type { Context } from "../../runtime/context.ts";
import { createItem, messageCodec, rememberingCodec } from "../../store/collections.ts";

/** Name of the module and of its store. The runtime stores the record of the last block there too. */
export const MODULE_NAME = BLOCK_RECORD_STORE;

const PARAMS_KEY = utf8("Consensus");

/** Parameters of a genesis without any: those of the deployed chain, without vote extensions. */
export const DEFAULT_PARAMS: ConsensusParams = {
  block: { maxBytes: 22_020_096n, maxGas: 1_000_000_000n },
  evidence: {
    maxAgeNumBlocks: 100_000n,
    maxAgeDuration: { seconds: 172_800n, nanos: 0 },
    maxBytes: 1_048_576n,
  },
  validator: { pubKeyTypes: ["ed25519"] },
  version: { app: 0n },
  abci: { voteExtensionsEnableHeight: 0n },
};

export const storedParams = createItem(
  MODULE_NAME,
  PARAMS_KEY,
  rememberingCodec(messageCodec(ConsensusParams)),
);

/** Returns the stored parameters; before genesis, the defaults. */
export function consensusParams(context: Context): ConsensusParams {
  return storedParams.get(context) ?? DEFAULT_PARAMS;
}

/** Returns the gas that all transactions of a block may use together; 0 or less: no limit. */
export function maxBlockGas(context: Context): bigint {
  return consensusParams(context).block?.maxGas ?? -1n;
}

/** Types of consensus keys that validators may have. */
export function keyTypes(context: Context): readonly string[] {
  return consensusParams(context).validator?.pubKeyTypes ?? [];
}

/** Returns the age from which evidence no longer counts. It must exceed both bounds. */
export function evidenceAge(context: Context): { readonly blocks: bigint; readonly timeNs: bigint } {
  const { maxAgeNumBlocks = 0n, maxAgeDuration } = consensusParams(context).evidence ?? {};
  return { blocks: maxAgeNumBlocks, timeNs: joinNs(maxAgeDuration) };
}
