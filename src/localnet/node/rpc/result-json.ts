import { blockIdToJson, commitToJson, headerToJson } from "../../../cosmos/comet/rpc-json.ts";
import { simpleProofs } from "../../../cosmos/merkle/simple-tree.ts";
import { sha256, toBase64, upperHex } from "../../../platform/base/bytes.ts";
import type { JsonObject, JsonValue } from "../../../platform/base/json.ts";
import type { QueryResponse, TxResult, ValidatorPower } from "../../chain/runtime/abci.ts";
import type { ChainEvent } from "../../chain/runtime/context.ts";
import { type ConsensusParams, consensusParamsToJson } from "../base/genesis-doc.ts";
import type { StoredBlock, StoredResults, StoredTx } from "../base/node-view.ts";

/** ABCI's `Event`. */
export function eventJson(event: ChainEvent): JsonObject {
  return {
    type: event.type,
    attributes: event.attributes.map(({ key, value, index }) => ({ key, value, index })),
  };
}

/** ABCI's `ExecTxResult` with all fields, as printed in RPC results. */
export function txResultJson(result: TxResult): JsonObject {
  return {
    code: result.code,
    data: bytesJson(result.data),
    log: result.log,
    info: "",
    gas_wanted: result.gasWanted.toString(),
    gas_used: result.gasUsed.toString(),
    events: result.events.map(eventJson),
    codespace: result.codespace,
  };
}

/** `ExecTxResult` as printed in a Tx event, which CometBFT encodes according to its struct tags, omitting empty fields. */
export function sparseTxResultJson(result: TxResult): JsonObject {
  return withoutEmpty({
    code: result.code === 0 ? undefined : result.code,
    data: result.data.length === 0 ? undefined : toBase64(result.data),
    log: result.log === "" ? undefined : result.log,
    gas_wanted: result.gasWanted === 0n ? undefined : result.gasWanted.toString(),
    gas_used: result.gasUsed === 0n ? undefined : result.gasUsed.toString(),
    events: result.events.length === 0 ? undefined : result.events.map(eventJson),
    codespace: result.codespace === "" ? undefined : result.codespace,
  });
}

export function withoutEmpty(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const present: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) present[name] = value;
  return present;
}

/** `ResultTx`. If the block's transactions are given as `provenAmong`, adds the inclusion proof. */
export function resultTxJson(tx: StoredTx, provenAmong: readonly Uint8Array[] | undefined): JsonObject {
  return withoutEmpty({
    hash: upperHex(tx.hash),
    height: tx.height.toString(),
    index: tx.index,
    tx_result: txResultJson(tx.result),
    tx: toBase64(tx.tx),
    proof: provenAmong === undefined ? undefined : txProofJson(tx, provenAmong),
  });
}

/** Proofs keyed by a block's transactions, which the store shares: all entries on a page from one block need the same proofs. */
const proofsOf = new WeakMap<readonly Uint8Array[], ReturnType<typeof simpleProofs>>();

function txProofJson(tx: StoredTx, txs: readonly Uint8Array[]): JsonObject {
  const known = proofsOf.get(txs) ?? simpleProofs(txs.map(sha256));
  proofsOf.set(txs, known);
  const { root, proofs } = known;
  const proof = proofs[tx.index];
  if (proof === undefined) throw new Error(`this is a bug: no transaction ${tx.index} in its block`);
  return {
    root_hash: upperHex(root),
    data: toBase64(tx.tx),
    proof: {
      total: proof.total.toString(),
      index: proof.index.toString(),
      leaf_hash: toBase64(proof.leafHash),
      aunts: proof.aunts.map(toBase64),
    },
  };
}

/** ABCI's `ValidatorUpdate`. Omits a power of 0, as Go's `omitempty` does. */
export function validatorUpdateJson({ publicKey, power }: ValidatorPower): JsonObject {
  const sum = { type: "tendermint.crypto.PublicKey_Ed25519", value: { ed25519: toBase64(publicKey) } };
  return withoutEmpty({ pub_key: { Sum: sum }, power: power === 0n ? undefined : power.toString() });
}

/** `ResultBlockResults`. Empty lists are null, since Go prints nil slices this way. */
export function blockResultsJson(results: StoredResults, params: ConsensusParams): JsonObject {
  return {
    height: results.height.toString(),
    txs_results: orNull(results.txResults.map(txResultJson)),
    finalize_block_events: orNull(results.events.map(eventJson)),
    validator_updates: orNull(results.validatorUpdates.map(validatorUpdateJson)),
    consensus_param_updates: consensusParamsToJson(params, {}),
    app_hash: toBase64(results.appHash),
  };
}

function orNull(list: readonly JsonValue[]): JsonValue {
  return list.length === 0 ? null : list;
}

/** ABCI's `ResponseQuery`. */
export function queryResponseJson(response: QueryResponse): JsonObject {
  return {
    code: response.code,
    log: response.log,
    info: "",
    index: "0",
    key: bytesJson(response.key),
    value: bytesJson(response.value),
    proofOps:
      response.proof === undefined
        ? null
        : {
            ops: response.proof.map(({ type, key, data }) => ({
              type,
              key: toBase64(key),
              data: toBase64(data),
            })),
          },
    height: response.height.toString(),
    codespace: response.codespace,
  };
}

/** CometBFT's `Block`. The evidence is always empty. */
export function blockJson(block: StoredBlock): JsonObject {
  return {
    header: headerToJson(block.header),
    data: { txs: block.txs.map(toBase64) },
    evidence: { evidence: [] },
    last_commit: commitToJson(block.lastCommit),
  };
}

/** `ResultBlock`. For an unknown hash, CometBFT returns an empty id and null instead of an error. */
export function resultBlockJson(block: StoredBlock | undefined): JsonObject {
  if (block === undefined) {
    return { block_id: { hash: "", parts: { total: 0, hash: "" } }, block: null };
  }
  return { block_id: blockIdToJson(block.blockId), block: blockJson(block) };
}

/** CometBFT's `BlockMeta`. */
export function blockMetaJson(block: StoredBlock): JsonObject {
  return {
    block_id: blockIdToJson(block.blockId),
    block_size: block.sizeBytes.toString(),
    header: headerToJson(block.header),
    num_txs: block.txs.length.toString(),
  };
}

/** Formats an ed25519 key in CometBFT's JSON. */
export function publicKeyJson(publicKey: Uint8Array): JsonObject {
  return { type: "tendermint/PubKeyEd25519", value: toBase64(publicKey) };
}

/** Encodes bytes as base64. Empty bytes become null, since Go prints a nil slice this way. */
export function bytesJson(bytes: Uint8Array): JsonValue {
  return bytes.length === 0 ? null : toBase64(bytes);
}
