import { NS_PER_MS } from "../../platform/base/time.ts";
import { isRecord, type JsonField, parseJson } from "../../platform/base/json.ts";
import { urlBelow } from "../../platform/http/remote.ts";
import { responseField } from "../sources/chain-rest.ts";
import { SourceError } from "../sources/observation.ts";
import { type PageReader, readText } from "../sources/page-reader.ts";
import type { BlockTimeAt } from "../polling/closed-month.ts";

/** An event from a block or transaction: its type, and its attributes in order. */
export interface ChainEvent {
  readonly type: string;
  readonly attributes: readonly (readonly [key: string, value: string])[];
}

interface FoundTx {
  /** Upper-case hex. */
  readonly hash: string;
  readonly height: bigint;
  readonly isFailed: boolean;
  readonly events: readonly ChainEvent[];
}

export type ChainRpc = ReturnType<typeof createChainRpc>;

/** Maximum response size. Block results on a busy chain take several MB. */
const MAX_BYTES = 32 * 1024 * 1024;
const PAGE = 'per_page=10&order_by="asc"';

/**
 * Creates the CometBFT RPC calls needed to search for a payment. They check responses and limit their size. They throw
 * `SourceError`.
 */
export function createChainRpc(url: string, read: PageReader) {
  const call = async (path: string, signal: AbortSignal): Promise<JsonField> => {
    const page = await read(urlBelow(url, path).href, signal);
    // RPC errors come with HTTP 500 and a JSON body, which says more than the status.
    return resultOf(await readText(page, MAX_BYTES), page.status);
  };
  return {
    header: async (height: bigint, signal: AbortSignal): Promise<BlockTimeAt> => {
      const header = (await call(`header?height=${height}`, signal)).member("header").required();
      return {
        height: header.member("height").required().asHeight(),
        timeMs: Number(header.member("time").required().asTimeNs() / NS_PER_MS),
      };
    },
    /** Returns the block's own events, without its transactions' events. */
    blockEvents: async (height: bigint, signal: AbortSignal): Promise<readonly ChainEvent[]> => {
      const result = await call(`block_results?height=${height}`, signal);
      // CometBFT 0.37 and earlier have two lists.
      return ["finalize_block_events", "begin_block_events", "end_block_events"].flatMap((name) =>
        result.member(name).elements().map(toEvent),
      );
    },
    /** Returns the heights of blocks whose own events match, lowest first; at most ten. */
    searchBlocks: async (query: string, signal: AbortSignal): Promise<readonly bigint[]> => {
      const result = await call(`block_search?query=${quoted(query)}&${PAGE}`, signal);
      return result
        .member("blocks")
        .elements()
        .map((one) => one.member("block").member("header").member("height").required().asHeight());
    },
    /** Returns the matching transactions, lowest first; at most ten. */
    searchTxs: async (query: string, signal: AbortSignal): Promise<readonly FoundTx[]> =>
      (await call(`tx_search?query=${quoted(query)}&${PAGE}`, signal)).member("txs").elements().map(toTx),
  };
}

function quoted(query: string): string {
  return encodeURIComponent(`"${query}"`);
}

function resultOf(text: string, status: number): JsonField {
  const failure = new SourceError({ code: "http-status" }, `chain.rpc answered HTTP ${status}`);
  if (status !== 200 && parseJson(text) === undefined) throw failure;
  const body = responseField(text, "the response from chain.rpc does not come from CometBFT");
  const error = body.member("error");
  if (isRecord(error.value)) {
    const reason = `${error.member("message").asText()} ${error.member("data").asText()}`.trim();
    throw new SourceError({ code: "http-status" }, `chain.rpc answered: ${reason.slice(0, 300)}`);
  }
  if (status !== 200) throw failure;
  return body.member("result").required();
}

function toTx(tx: JsonField): FoundTx {
  const result = tx.member("tx_result").required();
  const hash = tx.member("hash").asText();
  if (!/^[0-9A-F]{64}$/.test(hash)) throw tx.error(`${tx.path}.hash`, "a hash in upper-case hex");
  return {
    hash,
    height: tx.member("height").required().asHeight(),
    isFailed: result.member("code").asUint32() !== 0,
    events: result.member("events").elements().map(toEvent),
  };
}

function toEvent(event: JsonField): ChainEvent {
  return {
    type: event.member("type").asText(),
    attributes: event
      .member("attributes")
      .elements()
      .map((one) => [one.member("key").asText(), one.member("value").asText()] as const),
  };
}
