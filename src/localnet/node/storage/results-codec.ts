import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import type { TxResult, ValidatorPower } from "../../chain/runtime/abci.ts";
import { Event, ExecTxResult, ValidatorUpdate } from "../../../cosmos/proto/gen/tendermint/abci/types.ts";
import type { StoredResults } from "../node-view.ts";

// Field numbers of `ResponseFinalizeBlock`. Parameter updates (4) are never stored.
const EVENTS = 1;
const TX_RESULTS = 2;
const VALIDATOR_UPDATES = 3;
const APP_HASH = 5;

/** Encodes the results of a block as CometBFT's `ResponseFinalizeBlock`. */
export function encodeResults(results: StoredResults): Uint8Array {
  const writer = new BinaryWriter();
  // All fields are length-delimited (wire type 2).
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

/** Decodes the bytes of {@link encodeResults}. Throws on other bytes. */
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

/** Returns the encoded results of the transactions without decoding them. Throws on bytes that are no results. */
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

/** Decodes one element of {@link splitTxResults}. Throws on other bytes. */
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
