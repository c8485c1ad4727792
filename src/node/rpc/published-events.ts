import { toBase64 } from "../../base/bytes.ts";
import { upperHex } from "../../base/go-text.ts";
import type { JsonObject } from "../../base/json.ts";
import { sha256 } from "../../base/sha256.ts";
import { newValidator } from "../../comet/validator-set.ts";
import { type ConsensusParams, consensusParamsToJson } from "../consensus-params.ts";
import type { StoredBlock, StoredResults } from "../node-view.ts";
import { type TagValues, tagsOf } from "../query-language/matches.ts";
import { blockIdToJson, headerToJson, validatorToJson } from "../../comet/rpc-print.ts";
import { blockJson } from "./block-json.ts";
import {
  eventJson,
  sparseTxResultJson,
  txResultJson,
  validatorUpdateJson,
  withoutEmpty,
} from "./result-json.ts";

/** An event for subscribers. */
export interface PublishedEvent {
  /** The values that the queries of subscriptions match. */
  readonly tags: TagValues;
  /** Builds the `data` of a notification. A function, since most events match no subscription. */
  readonly data: () => JsonObject;
}

/** A committed block with the data for its events. */
export interface CommittedBlock {
  readonly block: StoredBlock;
  readonly results: StoredResults;
  readonly params: ConsensusParams;
}

/**
 * The events of a block in CometBFT's order (`state/execution.go`, `fireEvents`): NewBlock, NewBlockHeader,
 * NewBlockEvents, each Tx, ValidatorSetUpdates. Events of votes and rounds do not exist, since one process makes
 * every block.
 */
export function publishedEvents(committed: CommittedBlock): readonly PublishedEvent[] {
  const { block, results } = committed;
  const events = [
    published("NewBlock", results.events, [], () => newBlock(committed)),
    published("NewBlockHeader", [], [], () => ({ header: headerToJson(block.header) })),
    published("NewBlockEvents", results.events, [["block.height", results.height.toString()]], () => ({
      height: results.height.toString(),
      events: results.events.map(eventJson),
      num_txs: block.txs.length.toString(),
    })),
    ...block.txs.map((tx, index) => txEvent(committed, tx, index)),
  ];
  if (results.validatorUpdates.length === 0) return events;
  return [...events, published("ValidatorSetUpdates", [], [], () => validatorSetUpdates(committed))];
}

function published(
  kind: string,
  events: Parameters<typeof tagsOf>[0],
  tags: readonly (readonly [string, string])[],
  value: () => JsonObject,
): PublishedEvent {
  return {
    tags: tagsOf(events, [["tm.event", kind], ...tags]),
    data: () => ({ type: `tendermint/event/${kind}`, value: value() }),
  };
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
  const tags = [
    ["tx.hash", upperHex(sha256(tx))],
    ["tx.height", results.height.toString()],
  ] as const;
  return published("Tx", result.events, tags, () => ({
    TxResult: withoutEmpty({
      height: results.height.toString(),
      index: index === 0 ? undefined : index,
      tx: toBase64(tx),
      result: sparseTxResultJson(result),
    }),
  }));
}

/** A validator's update has priority 0: CometBFT assigns priorities when the update enters a set. */
function validatorSetUpdates({ results }: CommittedBlock): JsonObject {
  return {
    validator_updates: results.validatorUpdates.map(({ publicKey, power }) =>
      validatorToJson(newValidator(publicKey, power)),
    ),
  };
}
