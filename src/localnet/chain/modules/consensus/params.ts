import { joinNs } from "../../../../platform/base/time.ts";
import { ConsensusParams } from "../../../../cosmos/proto/gen/tendermint/types/params.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { BLOCK_RECORD_STORE } from "../../runtime/block-record.ts";
import type { Context } from "../../runtime/context.ts";
import { createGasMeter } from "../../runtime/gas.ts";
import { GenesisError } from "../../runtime/genesis.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";

/** Name of the module and its store, in which the runtime also stores the last block's record. */
export const MODULE_NAME = BLOCK_RECORD_STORE;

const PARAMS_KEY = utf8("Consensus");

/** Block and evidence limits. The defaults match the deployed chain's, but without vote extensions. */
export const moduleParams: ModuleParams<ConsensusParams> = defineParams({
  store: MODULE_NAME,
  key: PARAMS_KEY,
  type: ConsensusParams,
  defaults: {
    block: { maxBytes: 22_020_096n, maxGas: 1_000_000_000n },
    evidence: {
      maxAgeNumBlocks: 100_000n,
      maxAgeDuration: { seconds: 172_800n, nanos: 0 },
      maxBytes: 1_048_576n,
    },
    validator: { pubKeyTypes: ["ed25519"] },
    version: { app: 0n },
    abci: { voteExtensionsEnableHeight: 0n },
  },
  validate: ({ block }) => {
    if ((block?.maxBytes ?? 0n) === 0n)
      throw new GenesisError(
        "app_state.consensus.params.block.max_bytes",
        "a number above zero, or -1, was expected",
      );
  },
});

/** Returns the total gas that a block's transactions may use; 0 or less means no limit. */
export function maxBlockGas(context: Context): bigint {
  return moduleParams.get(context).block?.maxGas ?? -1n;
}

/** Returns the consensus key types that validators may use. Consumes no gas, since the SDK's context contains the params. */
export function keyTypes(context: Context): readonly string[] {
  return moduleParams.get(context.withGas(createGasMeter())).validator?.pubKeyTypes ?? [];
}

/** Returns the maximum evidence age. Evidence is rejected only if it exceeds both bounds. */
export function evidenceAge(context: Context): { readonly blocks: bigint; readonly timeNs: bigint } {
  const { maxAgeNumBlocks = 0n, maxAgeDuration } = moduleParams.get(context).evidence ?? {};
  return { blocks: maxAgeNumBlocks, timeNs: joinNs(maxAgeDuration) };
}
