import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import type { BlockId, Commit, ValidatorSet } from "../../../cosmos/comet/block-types.ts";
import * as protoBlocks from "../../../cosmos/comet/proto-blocks.ts";
import { Event, ExecTxResult, ValidatorUpdate } from "../../../cosmos/proto/gen/tendermint/abci/types.ts";
import { Block } from "../../../cosmos/proto/gen/tendermint/types/block.ts";
import * as Types from "../../../cosmos/proto/gen/tendermint/types/types.ts";
import * as Validators from "../../../cosmos/proto/gen/tendermint/types/validator.ts";
import type { TxResult, ValidatorPower } from "../../chain/runtime/abci.ts";
import type { CommitChanges } from "../../chain/store/multi-store.ts";
import type { StoredBlock, StoredResults } from "../base/node-view.ts";

/** Encodes a block as `tendermint.types.Block`. The block id's part set header contains a hash of the encoded bytes. */
export function encodeBlock(block: Pick<StoredBlock, "header" | "txs" | "lastCommit">): Uint8Array {
  return Block.encode({
    header: protoBlocks.headerToProto(block.header),
    data: { txs: [...block.txs] },
    evidence: { evidence: [] },
    lastCommit: protoBlocks.commitToProto(block.lastCommit),
  }).finish();
}

/** Decodes the output of {@link encodeBlock}, and throws if the bytes are invalid. */
export function decodeBlock(bytes: Uint8Array, blockId: BlockId): StoredBlock {
  const { header, data, lastCommit } = Block.decode(bytes);
  if (header === undefined || lastCommit === undefined) throw new Error("a stored block is damaged");
  return {
    header: protoBlocks.headerFromProto(header),
    txs: data?.txs ?? [],
    lastCommit: protoBlocks.commitFromProto(lastCommit),
    blockId,
    sizeBytes: bytes.length,
  };
}

/** Encodes a commit as `tendermint.types.Commit`. */
export function encodeCommit(commit: Commit): Uint8Array {
  return Types.Commit.encode(protoBlocks.commitToProto(commit)).finish();
}

/** Decodes the output of {@link encodeCommit}, and throws if the bytes are invalid. */
export function decodeCommit(bytes: Uint8Array): Commit {
  return protoBlocks.commitFromProto(Types.Commit.decode(bytes));
}

/** Encodes a validator set, with proposer and priorities, as `tendermint.types.ValidatorSet`. */
export function encodeValidatorSet(set: ValidatorSet): Uint8Array {
  return Validators.ValidatorSet.encode(protoBlocks.validatorSetToProto(set)).finish();
}

/** Decodes a stored `tendermint.types.ValidatorSet`, and throws if the bytes are invalid. */
export function decodeValidatorSet(bytes: Uint8Array): ValidatorSet {
  return protoBlocks.validatorSetFromProto(Validators.ValidatorSet.decode(bytes));
}

// Field numbers in `ResponseFinalizeBlock`, except field 4 (parameter updates), which is not stored.
const EVENTS = 1;
const TX_RESULTS = 2;
const VALIDATOR_UPDATES = 3;
const APP_HASH = 5;

/** Encodes a block's results as CometBFT's `ResponseFinalizeBlock`. */
export function encodeResults(results: StoredResults): Uint8Array {
  const writer = new BinaryWriter();
  // Write only length-delimited fields (wire type 2).
  const field = (number: number): BinaryWriter => writer.uint32((number << 3) | 2);
  for (const event of results.events) {
    field(EVENTS).bytes(Event.encode({ ...event, attributes: [...event.attributes] }).finish());
  }
  for (const result of results.txResults)
    field(TX_RESULTS).bytes(ExecTxResult.encode(toExec(result)).finish());
  for (const update of results.validatorUpdates) {
    field(VALIDATOR_UPDATES).bytes(ValidatorUpdate.encode(toUpdate(update)).finish());
  }
  field(APP_HASH).bytes(results.appHash);
  return writer.finish();
}

/** Decodes the output of {@link encodeResults}, and throws if the bytes are invalid. */
export function decodeResults(height: bigint, bytes: Uint8Array): StoredResults {
  const reader = new BinaryReader(bytes);
  const events: Event[] = [];
  const txResults: TxResult[] = [];
  const validatorUpdates: ValidatorPower[] = [];
  let appHash = new Uint8Array();
  while (reader.pos < reader.len) {
    const number = reader.uint32() >>> 3;
    const value = reader.bytes();
    if (number === EVENTS) events.push(Event.decode(value));
    else if (number === TX_RESULTS) txResults.push(ExecTxResult.decode(value));
    else if (number === VALIDATOR_UPDATES) validatorUpdates.push(toPower(ValidatorUpdate.decode(value)));
    else if (number === APP_HASH) appHash = new Uint8Array(value);
    else throw new Error(`unknown field ${number} in stored results`);
  }
  return { height, events, txResults, validatorUpdates, appHash };
}

/** Returns a block's transaction results, still encoded, from the output of {@link encodeResults}. Throws if the bytes are invalid. */
export function splitTxResults(bytes: Uint8Array): readonly Uint8Array[] {
  const reader = new BinaryReader(bytes);
  const encoded: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const number = reader.uint32() >>> 3;
    const value = reader.bytes();
    if (number === TX_RESULTS) encoded.push(value);
  }
  return encoded;
}

/** Decodes a transaction result from {@link splitTxResults}, and throws if the bytes are invalid. */
export function decodeTxResult(bytes: Uint8Array): TxResult {
  return ExecTxResult.decode(bytes);
}

function toExec(result: TxResult): ExecTxResult {
  return {
    code: result.code,
    codespace: result.codespace,
    log: result.log,
    info: "",
    data: result.data,
    gasWanted: result.gasWanted,
    gasUsed: result.gasUsed,
    events: result.events.map((event) => ({ type: event.type, attributes: [...event.attributes] })),
  };
}

function toUpdate(update: ValidatorPower): ValidatorUpdate {
  return { pubKey: { sum: { $case: "ed25519", value: update.publicKey } }, power: update.power };
}

function toPower(update: ValidatorUpdate): ValidatorPower {
  const key = update.pubKey?.sum;
  if (key?.$case !== "ed25519") throw new Error("a stored validator update has no ed25519 key");
  return { publicKey: key.value, power: update.power };
}

export interface HeightRecord {
  readonly block: StoredBlock;
  /** Commit for this block, stored because the node may restart before the next block, which also contains the commit. */
  readonly seenCommit: Commit;
  readonly results: StoredResults;
  /** Validator sets to store for later heights. The list is usually empty (see `setsToKeep`). */
  readonly validatorSets: readonly { readonly height: bigint; readonly set: ValidatorSet }[];
  readonly changes: CommitChanges;
}
