import { upperHex } from "../../base/go-text.ts";
import { toBase64 } from "../../base/bytes.ts";
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

/** Something that happened, for subscribers: its tags, and the `data` of a notice, made when somebody wants it. */
export interface PublishedEvent {
  readonly tags: TagValues;
  readonly data: () => JsonObject;
}

/** What a block publishes. */
export interface BlockNews {
  readonly block: StoredBlock;
  readonly results: StoredResults;
  readonly params: ConsensusParams;
}

/**
 * What CometBFT publishes for a block, in its order: NewBlock, NewBlockHeader, NewBlockEvents, each Tx, and
 * ValidatorSetUpdates. Votes and rounds of consensus are not published: one process decides alone.
 */
export function publishedEvents(news: BlockNews): readonly PublishedEvent[] {
  const { block, results } = news;
  const events = [
    published("NewBlock", results.events, [], () => newBlock(news)),
    published("NewBlockHeader", [], [], () => ({ header: headerToJson(block.header) })),
    published("NewBlockEvents", results.events, [["block.height", results.height.toString()]], () => ({
      height: results.height.toString(),
      events: results.events.map(eventJson),
      num_txs: block.txs.length.toString(),
    })),
    ...block.txs.map((tx, index) => txEvent(news, tx, index)),
  ];
  if (results.validatorUpdates.length === 0) return events;
  return [...events, published("ValidatorSetUpdates", [], [], () => validatorSetUpdates(news))];
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

function newBlock({ block, results, params }: BlockNews): JsonObject {
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

function txEvent({ results }: BlockNews, tx: Uint8Array, index: number): PublishedEvent {
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

/** An update is not in a set yet: its priority is 0, as in CometBFT. */
function validatorSetUpdates({ results }: BlockNews): JsonObject {
  return {
    validator_updates: results.validatorUpdates.map(({ publicKey, power }) =>
      validatorToJson(newValidator(publicKey, power)),
    ),
  };
}
