import { blockIdToJson, headerToJson, validatorToJson } from "../../../cosmos/comet/rpc-json.ts";
import { newValidator } from "../../../cosmos/comet/validator-set.ts";
import { sha256, toBase64, upperHex, utf8 } from "../../../platform/base/bytes.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
import type { ChainEvent } from "../../chain/runtime/context.ts";
import { type ConsensusParams, consensusParamsToJson } from "../base/genesis-doc.ts";
import type { StoredBlock, StoredResults } from "../base/node-view.ts";
import { tagsOf, type TagValues } from "../query-language/parse-query.ts";
import {
  blockJson,
  eventJson,
  sparseTxResultJson,
  txResultJson,
  validatorUpdateJson,
  withoutEmpty,
} from "./result-json.ts";

/** An event for subscribers. Most events match no subscription, so both of its parts are created only on first use. */
export interface PublishedEvent {
  /** Returns the values that subscription queries are matched against. */
  readonly tags: () => TagValues;
  /** Returns a notification's JSON text from `"data"` onwards, encoded once for all subscribers. */
  readonly tail: () => Uint8Array;
  /** Approximate memory that the event uses. */
  readonly sizeBytes: number;
}

export interface CommittedBlock {
  readonly block: StoredBlock;
  readonly results: StoredResults;
  readonly params: ConsensusParams;
}

/**
 * Returns a block's events in CometBFT's order (`state/execution.go`, `fireEvents`): NewBlock, NewBlockHeader, NewBlockEvents,
 * each Tx, ValidatorSetUpdates. There are no events for votes and rounds, because one process makes every block.
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

/** The parts of an event. Each function runs at most once. */
interface EventParts {
  readonly events?: readonly ChainEvent[];
  readonly ownTags?: () => readonly (readonly [string, string])[];
  /** The `value` in `data`. */
  readonly value: () => JsonObject;
  /** Size of the encoded event data. */
  readonly sizeBytes?: number;
}

/** Approximate memory that an event's attributes, texts and objects use in addition to its encoded data. */
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

/** A validator's update has priority 0: CometBFT assigns priorities when the update enters a set. */
function validatorSetUpdates({ results }: CommittedBlock): JsonObject {
  return {
    validator_updates: results.validatorUpdates.map(({ publicKey, power }) =>
      validatorToJson(newValidator(publicKey, power)),
    ),
  };
}
