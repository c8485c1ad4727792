import { fromBase64, sha256, toHex } from "../../platform/base/bytes.ts";
import { attempt } from "../../platform/base/errors.ts";
import type { JsonField } from "../../platform/base/json.ts";
import { dataHash } from "../merkle/simple-tree.ts";

/** An ABCI event whose attributes are strings. */
export interface TextEvent {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
}

/** A transaction's result. The result's codespace, log and events are not covered by `last_results_hash`. */
interface TxResult {
  readonly code: number;
  readonly codespace?: string;
  readonly log?: string;
  readonly data?: Uint8Array;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
  readonly events: readonly TextEvent[];
}

/** A block's data from `block_results`. All other fields are ignored, so the format works for every supported node version. */
export interface BlockResults {
  /** Results, in the order of the block's transactions. */
  readonly results: readonly TxResult[];
  /** The block's own events, from BeginBlock and EndBlock or from FinalizeBlock. */
  readonly finalizeBlockEvents: readonly TextEvent[];
}

/** Decodes a `block_results` result from CometBFT or Tendermint 0.34 to 1.0. */
export function decodeBlockResults(root: JsonField): BlockResults {
  const results = root.member("txs_results").elements();
  const ofBlock = ["begin_block_events", "finalize_block_events", "end_block_events"].flatMap((name) =>
    root.member(name).elements(),
  );
  const events = eventReader([...results.flatMap(eventsOf), ...ofBlock]);
  return {
    results: results.map((result) => decodeTxResult(result, events)),
    finalizeBlockEvents: ofBlock.map(events),
  };
}

/** Decodes a `tx_search` result. If `prove` is set, each transaction must have an inclusion proof. */
export function decodeTxSearch(root: JsonField, { prove }: { readonly prove: boolean }) {
  const txs = root.member("txs").elements();
  const events = eventReader(txs.flatMap((tx) => eventsOf(tx.member("tx_result").orEmpty())));
  const found = txs.map((field) => {
    const tx = field.member("tx").required().asBase64();
    return {
      tx,
      hash: sha256(tx),
      height: Number(field.member("height").required().asInt64()),
      index: field.member("index").asUint32(),
      result: decodeTxResult(field.member("tx_result").required(), events),
      proof: prove ? decodeProof(field.member("proof").required(), tx) : undefined,
    };
  });
  // Some node versions report `total_count` 0 for a search by hash, so count the transactions found, too.
  return { txs: found, totalCount: Math.max(Number(root.member("total_count").asInt64()), found.length) };
}

/** Decodes a block's transactions from a `block` result, and checks whether they match the block's header. */
export function decodeBlock(root: JsonField): {
  readonly txs: readonly Uint8Array[];
  readonly isOfHeader: boolean;
} {
  const block = root.member("block").required();
  const txs = block
    .member("data")
    .orEmpty()
    .member("txs")
    .elements()
    .map((tx) => tx.asBase64());
  const expected = block.member("header").required().member("data_hash").asText();
  return { txs, isOfHeader: expected.toLowerCase() === toHex(dataHash(txs)) };
}

/** Decodes a `blockchain` result. Returns the number of transactions in each block, keyed by height. */
export function decodeTxCounts(root: JsonField): ReadonlyMap<bigint, number> {
  const metas = root.member("block_metas").elements();
  return new Map(
    metas.map((meta) => [
      meta.member("header").required().member("height").required().asInt64(),
      Number(meta.member("num_txs").required().asInt64()),
    ]),
  );
}

function decodeProof(field: JsonField, data: Uint8Array) {
  const proof = field.member("proof").required();
  const rootHash: Uint8Array = new Uint8Array();
  const total = Number(proof.member("total").asInt64());
  const index = Number(proof.member("index").asInt64());
  const leafHash = proof.member("leaf_hash").asBase64();
  const elements = proof.member("aunts").elements();
  const aunts: readonly Uint8Array[] = elements.map((aunt) => aunt.asBase64());
  return { data, rootHash, proof: { total, index, leafHash, aunts } };
}

/** Decodes a transaction's result. `events` reads the result's events. */
export function decodeTxResult(result: JsonField, events: EventReader = textEvent): TxResult {
  return {
    code: result.member("code").asUint32(),
    codespace: result.member("codespace").asText(),
    log: result.member("log").asText(),
    data: result.member("data").asBase64(),
    gasWanted: result.member("gas_wanted").asInt64(),
    gasUsed: result.member("gas_used").asInt64(),
    events: eventsOf(result).map(events),
  };
}

function eventsOf(result: JsonField): readonly JsonField[] {
  return result.member("events").elements();
}

type EventReader = (event: JsonField) => TextEvent;

function textEvent(event: JsonField): TextEvent {
  return { type: event.member("type").asText(), attributes: attributesOf(event) };
}

/**
 * Creates the reader for a response's events. Tendermint 0.34 prints keys and values in base64, and later versions print them as
 * text. If all keys in a response are base64 of printable text, the response is assumed to come from Tendermint 0.34.
 */
function eventReader(all: readonly JsonField[]): EventReader {
  const keys = new Set(all.flatMap((event) => attributesOf(event).map(({ key }) => key)));
  keys.delete("");
  const isBase64 = keys.size > 0 && [...keys].every((key) => /^[\x20-\x7e]+$/.test(fromBase64Text(key)));
  return (event) => {
    const attributes = attributesOf(event);
    return {
      type: event.member("type").asText(),
      attributes: isBase64
        ? attributes.map(({ key, value }) => ({ key: fromBase64Text(key), value: fromBase64Text(value) }))
        : attributes,
    };
  };
}

function attributesOf(event: JsonField): TextEvent["attributes"] {
  return event
    .member("attributes")
    .elements()
    .map((attribute) => ({
      key: attribute.member("key").asText(),
      value: attribute.member("value").asText(),
    }));
}

/** Decodes events whose attribute keys and values are plain text, not base64. */
export function decodeTextEvents(events: JsonField): readonly TextEvent[] {
  return events.elements().map(textEvent);
}

/** Decodes base64 to text, or to an empty string if `text` is not base64. */
function fromBase64Text(text: string): string {
  return attempt(() => new TextDecoder().decode(fromBase64(text))) ?? "";
}
