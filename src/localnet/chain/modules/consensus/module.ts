import * as tx from "../../../../cosmos/proto/gen/cosmos/consensus/v1/tx.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/consensus/v1/query.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { joinNs } from "../../../../platform/base/time.ts";
import type { Context, ChainModule } from "../../runtime/context.ts";
import { unregisteredError } from "../../runtime/errors.ts";
import { genesisSchema, partOr, GenesisError } from "../../runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import { ConsensusParams } from "../../../../cosmos/proto/gen/tendermint/types/params.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { BLOCK_RECORD_STORE } from "../../runtime/execute-block.ts";
import { createGasMeter } from "../../runtime/gas.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";

/** Name of the module and its store, in which the runtime also stores the last block's record. */
const MODULE_NAME = BLOCK_RECORD_STORE;

const PARAMS_KEY = utf8("Consensus");

/** Block and evidence limits. The defaults are the deployed chain's, except that vote extensions are disabled. */
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
        "expected a positive number or -1",
      );
  },
});

/** Returns the maximum gas that a block's transactions may use in total, or 0 or less if there is no limit. */
export function maxBlockGas(context: Context): bigint {
  return moduleParams.get(context).block?.maxGas ?? -1n;
}

/**
 * Returns the consensus key types that validators may use. Consumes no gas, because the SDK reads these parameters from its context
 * instead of the store.
 */
export function keyTypes(context: Context): readonly string[] {
  return moduleParams.get(context.withGas(createGasMeter())).validator?.pubKeyTypes ?? [];
}

/** Returns the maximum evidence age. Evidence is rejected only if its age exceeds both the block bound and the time bound. */
export function evidenceAge(context: Context): { readonly blocks: bigint; readonly timeNs: bigint } {
  const { maxAgeNumBlocks = 0n, maxAgeDuration } = moduleParams.get(context).evidence ?? {};
  return { blocks: maxAgeNumBlocks, timeNs: joinNs(maxAgeDuration) };
}

/** The SDK's `consensus` module has no genesis, so this module uses the query response's schema, `{"params": …}`. */
const SCHEMA = genesisSchema(
  MODULE_NAME,
  "cosmos.consensus.v1.QueryParamsResponse",
  wire.QueryParamsResponse,
);

/** Creates the `consensus` module: block and evidence limits. */
export function createConsensusModule({ authority }: { readonly authority: string }): ChainModule {
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: messageHandlers(tx.Msg, {
      UpdateParams: (context, message) => {
        if (message.authority !== authority)
          throw unregisteredError(`invalid authority; expected ${authority}, got ${message.authority}`);
        updateParams(context, message);
      },
    }),
    queries: queryHandlers(wire.Query, { Params: moduleParams.query }),
    initGenesis,
    exportGenesis: (context) => SCHEMA.print({ params: moduleParams.get(context) }),
  };
}

const MAX_BLOCK_BYTES = 104_857_600n;
/** Consensus key types that CometBFT supports. */
const KEY_TYPES = ["ed25519", "secp256k1", "bls12_381"];

/**
 * Replaces the block, evidence and validator parameters, and the ABCI parameters if the message sets them. The version parameters
 * stay unchanged.
 */
function updateParams(context: Context, { block, evidence, validator, abci }: tx.MsgUpdateParams): void {
  if (block === undefined || evidence === undefined || validator === undefined)
    throw unregisteredError("all parameters must be present");
  const { maxBytes, maxGas } = block;
  if (maxBytes === 0n) throw unregisteredError("block.MaxBytes cannot be 0");
  if (maxBytes < -1n) throw unregisteredError(`block.MaxBytes must be -1 or greater than 0. Got ${maxBytes}`);
  if (maxBytes > MAX_BLOCK_BYTES)
    throw unregisteredError(`block.MaxBytes is too big. ${maxBytes} > ${MAX_BLOCK_BYTES}`);
  if (maxGas < -1n) throw unregisteredError(`block.MaxGas must be greater or equal to -1. Got ${maxGas}`);
  checkEvidence(evidence, maxBytes === -1n ? MAX_BLOCK_BYTES : maxBytes);
  const height = abci?.voteExtensionsEnableHeight ?? 0n;
  if (height < 0n)
    throw unregisteredError(`ABCI.VoteExtensionsEnableHeight cannot be negative. Got: ${height}`);
  checkKeyTypes(validator.pubKeyTypes);
  const before = moduleParams.get(context);
  moduleParams.set(context, { ...before, block, evidence, validator, abci: abci ?? before.abci });
}

function checkEvidence(
  { maxAgeNumBlocks, maxAgeDuration, maxBytes }: NonNullable<tx.MsgUpdateParams["evidence"]>,
  maxBlockBytes: bigint,
): void {
  if (maxAgeNumBlocks <= 0n)
    throw unregisteredError(`evidence.MaxAgeNumBlocks must be greater than 0. Got ${maxAgeNumBlocks}`);
  if (joinNs(maxAgeDuration) <= 0n)
    throw unregisteredError(
      `evidence.MaxAgeDuration must be grater than 0 if provided, Got ${joinNs(maxAgeDuration)}ns`,
    );
  if (maxBytes > maxBlockBytes)
    throw unregisteredError(
      `evidence.MaxBytesEvidence is greater than upper bound, ${maxBytes} > ${maxBlockBytes}`,
    );
  if (maxBytes < 0n) throw unregisteredError(`evidence.MaxBytes must be non negative. Got: ${maxBytes}`);
}

function checkKeyTypes(types: readonly string[]): void {
  if (types.length === 0) throw unregisteredError("len(Validator.PubKeyTypes) must be greater than 0");
  types.forEach((type, index) => {
    if (!KEY_TYPES.includes(type))
      throw unregisteredError(`params.Validator.PubKeyTypes[${index}], ${type}, is an unknown pubkey type`);
  });
}

function initGenesis(context: Context, json: JsonValue | undefined): void {
  const given = partOr(json, "params", SCHEMA.read(json)?.params, undefined);
  const { defaults } = moduleParams;
  moduleParams.set(context, {
    block: given?.block ?? defaults.block,
    evidence: given?.evidence ?? defaults.evidence,
    validator: given?.validator ?? defaults.validator,
    version: given?.version ?? defaults.version,
    abci: given?.abci ?? defaults.abci,
  });
}
