import {
  blockIdToJson,
  commitToJson,
  headerToJson,
  validatorToJson,
} from "../../../cosmos/comet/rpc-json.ts";
import { simpleProofs } from "../../../cosmos/merkle/simple-tree.ts";
import { sha256, toBase64, upperHex, utf8 } from "../../../platform/base/bytes.ts";
import type { JsonObject, JsonValue } from "../../../platform/base/json.ts";
import type { QueryResponse, TxResult, ValidatorPower } from "../../chain/runtime/abci.ts";
import type { ChainEvent } from "../../chain/runtime/context.ts";
import { type ConsensusParams, consensusParamsToJson } from "../base/genesis-doc.ts";
import type { StoredBlock, StoredResults, StoredTx } from "../base/node-view.ts";
import { newValidator } from "../../../cosmos/comet/validator-set.ts";
import { tagsOf, type TagValues } from "../query-language/parse-query.ts";

function eventJson(event: ChainEvent): JsonObject {
  return {
    type: event.type,
    attributes: event.attributes.map(({ key, value, index }) => ({ key, value, index })),
  };
}

/** Returns ABCI's `ExecTxResult` as JSON with all fields, as in RPC results. */
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

/** Returns ABCI's `ExecTxResult` as JSON for a Tx event, without empty fields, which Go's struct tags omit. */
function sparseTxResultJson(result: TxResult): JsonObject {
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

function withoutEmpty(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const present: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) present[name] = value;
  return present;
}

/** Returns CometBFT's `ResultTx` as JSON, with an inclusion proof if `provenAmong` contains the block's transactions. */
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

/**
 * Caches the inclusion proofs of each block, keyed by its list of transactions, because all results from the block need the same
 * proofs.
 */
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

/** Returns ABCI's `ValidatorUpdate` as JSON. Like Go's `omitempty`, omits a power of 0. */
function validatorUpdateJson({ publicKey, power }: ValidatorPower): JsonObject {
  const sum = { type: "tendermint.crypto.PublicKey_Ed25519", value: { ed25519: toBase64(publicKey) } };
  return withoutEmpty({ pub_key: { Sum: sum }, power: power === 0n ? undefined : power.toString() });
}

/** Returns CometBFT's `ResultBlockResults` as JSON, in which empty lists are null, like Go's nil slices. */
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

/** Returns ABCI's `ResponseQuery` as JSON, with the key, value and proof operators in base64. */
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

/** Returns CometBFT's `Block` as JSON, always with an empty evidence list. */
function blockJson(block: StoredBlock): JsonObject {
  return {
    header: headerToJson(block.header),
    data: { txs: block.txs.map(toBase64) },
    evidence: { evidence: [] },
    last_commit: commitToJson(block.lastCommit),
  };
}

/** Returns CometBFT's `ResultBlock` as JSON. For an unknown block, the id is empty and `block` is null, as in CometBFT. */
export function resultBlockJson(block: StoredBlock | undefined): JsonObject {
  if (block === undefined) {
    return { block_id: { hash: "", parts: { total: 0, hash: "" } }, block: null };
  }
  return { block_id: blockIdToJson(block.blockId), block: blockJson(block) };
}

/** Returns CometBFT's `BlockMeta` as JSON, i.e. a block's id, size, header and number of transactions. */
export function blockMetaJson(block: StoredBlock): JsonObject {
  return {
    block_id: blockIdToJson(block.blockId),
    block_size: block.sizeBytes.toString(),
    header: headerToJson(block.header),
    num_txs: block.txs.length.toString(),
  };
}

/** Formats an ed25519 public key in CometBFT's JSON. */
export function publicKeyJson(publicKey: Uint8Array): JsonObject {
  return { type: "tendermint/PubKeyEd25519", value: toBase64(publicKey) };
}

/** Encodes bytes as base64, or an empty array as null, like Go's nil slices. */
export function bytesJson(bytes: Uint8Array): JsonValue {
  return bytes.length === 0 ? null : toBase64(bytes);
}

/** An event for subscribers, whose tags and JSON are created on first use, because most events match no subscription. */
export interface PublishedEvent {
  /** Returns the attribute values that subscription queries are matched against, keyed by tag. */
  readonly tags: () => TagValues;
  /** Returns the end of a notification's JSON, from `"data"` on, encoded once for all subscribers. */
  readonly tail: () => Uint8Array;
  /** Approximate memory used by the event, in bytes. */
  readonly sizeBytes: number;
}

interface CommittedBlock {
  readonly block: StoredBlock;
  readonly results: StoredResults;
  readonly params: ConsensusParams;
}

/**
 * Returns a block's events in the order of CometBFT's `fireEvents`: NewBlock, NewBlockHeader, NewBlockEvents, each Tx and
 * ValidatorSetUpdates. Events for votes and rounds are missing, because a single process makes every block.
 */
export function publishedEvents(committed: CommittedBlock): readonly PublishedEvent[] {
  const { block, results } = committed;
  const events = [
    published("NewBlock", {
      events: results.events,
      value: () => newBlock(committed),
      sizeBytes: block.sizeBytes,
    }),
    published("NewBlockHeader", { value: () => ({ header: headerToJson(block.header) }) }),
    published("NewBlockEvents", {
      events: results.events,
      ownTags: () => [["block.height", results.height.toString()]],
      value: () => ({
        height: results.height.toString(),
        events: results.events.map(eventJson),
        num_txs: block.txs.length.toString(),
      }),
    }),
    ...block.txs.map((tx, index) => txEvent(committed, tx, index)),
  ];
  if (results.validatorUpdates.length === 0) return events;
  return [...events, published("ValidatorSetUpdates", { value: () => validatorSetUpdates(committed) })];
}

/** Inputs from which an event's tags and JSON are created on first use. `ownTags` and `value` are called at most once each. */
interface EventParts {
  readonly events?: readonly ChainEvent[];
  readonly ownTags?: () => readonly (readonly [string, string])[];
  /** Returns the notification's `data.value`. */
  readonly value: () => JsonObject;
  /** Size of the event's encoded data, in bytes. */
  readonly sizeBytes?: number;
}

/** Approximate memory for an event's attributes, strings and objects, added to the size of its encoded data. */
const EVENT_OVERHEAD_BYTES = 4_096;

function published(kind: string, parts: EventParts): PublishedEvent {
  const { events = [], ownTags = () => [], value, sizeBytes = 0 } = parts;
  const tags = lazy(() => tagsOf(events, [["tm.event", kind], ...ownTags()]));
  const tail = lazy(() => {
    const data = JSON.stringify({ type: `tendermint/event/${kind}`, value: value() });
    return utf8(`"data":${data},"events":${JSON.stringify(Object.fromEntries(tags()))}}}`);
  });
  return { tags, tail, sizeBytes: sizeBytes + EVENT_OVERHEAD_BYTES };
}

function lazy<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined;
  return () => (created ??= { value: create() }).value;
}

function newBlock({ block, results, params }: CommittedBlock): JsonObject {
  return {
    block: blockJson(block),
    block_id: blockIdToJson(block.blockId),
    result_finalize_block: withoutEmpty({
      events: results.events.length === 0 ? undefined : results.events.map(eventJson),
      tx_results: results.txResults.length === 0 ? undefined : results.txResults.map(txResultJson),
      validator_updates: results.validatorUpdates.map(validatorUpdateJson),
      consensus_param_updates: consensusParamsToJson(params, {}),
      app_hash: toBase64(results.appHash),
    }),
  };
}

function txEvent({ results }: CommittedBlock, tx: Uint8Array, index: number): PublishedEvent {
  const result = results.txResults[index];
  if (result === undefined) throw new Error(`this is a bug: transaction ${index} has no result`);
  return published("Tx", {
    events: result.events,
    ownTags: () => [
      ["tx.hash", upperHex(sha256(tx))],
      ["tx.height", results.height.toString()],
    ],
    value: () => ({
      TxResult: withoutEmpty({
        height: results.height.toString(),
        index: index === 0 ? undefined : index,
        tx: toBase64(tx),
        result: sparseTxResultJson(result),
      }),
    }),
    sizeBytes: tx.length,
  });
}

/** Returns the updates with priority 0, because CometBFT assigns a priority only when an update enters a validator set. */
function validatorSetUpdates({ results }: CommittedBlock): JsonObject {
  return {
    validator_updates: results.validatorUpdates.map(({ publicKey, power }) =>
      validatorToJson(newValidator(publicKey, power)),
    ),
  };
}
