import type { WaitSignal } from "../../../platform/base/abort.ts";
import { decodeTextEvents, type TextEvent } from "../../comet/rpc-blocks.ts";
import { createBoundedQueue } from "../../../platform/base/waits.ts";
import { equalBytes, sha256 } from "../../../platform/base/bytes.ts";
import { isRecord, type JsonField, parseJson } from "../../../platform/base/json.ts";
import { TxBody, TxRaw } from "../../proto/gen/cosmos/tx/v1beta1/tx.ts";
import { ClientError } from "../../client-error.ts";
import { parseRpcResponse, resultField } from "../rpc-response.ts";

/**
 * A chain event, or a change of the subscription's connection. The notice `connected` arrives after a new connection has subscribed
 * to all queries. `missed` means that events may have been lost, so the reader must read the chain's state again.
 */
export type ChainNotice =
  | { readonly kind: "connected" }
  | { readonly kind: "missed"; readonly reason: string }
  | { readonly kind: "block"; readonly height: bigint; readonly timeNs: bigint }
  | {
      readonly kind: "tx";
      readonly height: bigint;
      readonly hash: Uint8Array;
      readonly code: number;
      readonly events: readonly TextEvent[];
    }
  | { readonly kind: "block-events"; readonly height: bigint; readonly events: readonly TextEvent[] };

/** Follows a chain and reconnects after every failure. */
export interface ChainSubscription {
  /** Runs until the signal aborts, and reconnects after connection errors. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Removes and returns the oldest notice. If the queue is empty, waits for a notice. Only one reader may wait at a time. */
  readonly next: (signal: WaitSignal) => Promise<ChainNotice>;
  readonly isConnected: () => boolean;
}

/** Creates a queue of notices for one reader. While the queue is full, new notices are dropped and replaced by one `missed`. */
export function createNoticeQueue(capacity: number) {
  const queue = createBoundedQueue<ChainNotice>(capacity + 1);
  let isGapMarked = false;
  const offer = (notice: ChainNotice): void => {
    if (queue.size() < capacity) {
      isGapMarked = false;
      queue.offer(notice);
      return;
    }
    if (isGapMarked) return;
    isGapMarked = true;
    queue.offer({ kind: "missed", reason: "the reader was too slow, events were dropped" });
  };
  return { offer, next: queue.take };
}

/**
 * A decoded WebSocket frame from a node. `id` is the id of the request to which the frame responds, or -1 if the frame is not a
 * response.
 */
export type EventFrame = { readonly id: number } & (
  | { readonly kind: "response"; readonly result: unknown }
  /** The request with this id failed, or the node cancelled the subscription that this request created. */
  | { readonly kind: "error"; readonly rpcCode: number; readonly data: string }
  | DecodedEvent
);

export type DecodedEvent =
  | { readonly kind: "notice"; readonly notice: ChainNotice }
  /** An event that the client does not use: an unknown kind, or an entry that is not a transaction. */
  | { readonly kind: "ignored"; readonly reason: string }
  | { readonly kind: "unreadable"; readonly error: ClientError };

/** Decodes the text of a WebSocket frame. Throws `bad-answer` if the text is not a JSON-RPC response. */
export function decodeEventFrame(source: string, endpoint: string): EventFrame {
  // If the text is not JSON, `parseJson` returns undefined, which `parseRpcResponse` rejects.
  const response = parseRpcResponse(parseJson(source), endpoint);
  const id = typeof response.id === "number" ? response.id : -1;
  if (!("result" in response)) {
    const { rpcCode, message, data } = response;
    return { kind: "error", id, rpcCode, data: data === "" ? message : data };
  }
  const { result } = response;
  if (!isRecord(result) || !isRecord(result["data"])) return { kind: "response", id, result };
  return { id, ...readEvent(resultField(result, "event", endpoint).member("data")) };
}

/** Decodes an event. Returns an error as a value, because a malformed event must not end the connection. */
function readEvent(data: JsonField): DecodedEvent {
  try {
    return decodeEvent(data.member("type").asText(), data.member("value"));
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return { kind: "unreadable", error };
  }
}

function decodeEvent(type: string, value: JsonField): DecodedEvent {
  switch (type) {
    case "tendermint/event/NewBlockHeader":
      return blockNotice(value.member("header"));
    case "tendermint/event/NewBlock":
      return blockNotice(value.member("block").member("header"));
    case "tendermint/event/NewBlockEvents": {
      const height = value.member("height").asHeight();
      const events = decodeTextEvents(value.member("events"));
      return { kind: "notice", notice: { kind: "block-events", height, events } };
    }
    case "tendermint/event/Tx":
      return decodeTx(value.member("TxResult"));
    default:
      return { kind: "ignored", reason: type };
  }
}

function blockNotice(header: JsonField): DecodedEvent {
  const height = header.member("height").asHeight();
  const timeNs = header.member("time").asTimeNs();
  return { kind: "notice", notice: { kind: "block", height, timeNs } };
}

function decodeTx(txResult: JsonField): DecodedEvent {
  const bytes = txResult.member("tx").asBase64();
  // The node also publishes the proposer's extended commit, as a transaction that failed to decode.
  if (!isTransaction(bytes)) return { kind: "ignored", reason: "not a transaction" };
  const result = txResult.member("result").orEmpty();
  const height = txResult.member("height").asHeight();
  const code = result.member("code").asUint32();
  const events = decodeTextEvents(result.member("events"));
  return { kind: "notice", notice: { kind: "tx", height, hash: sha256(bytes), code, events } };
}

/**
 * Returns true if an entry in a block's `txs` is a transaction. On a chain with vote extensions, the first entry is instead the
 * proposer's extended commit, possibly zstd-compressed.
 */
export function isTransaction(bytes: Uint8Array): boolean {
  try {
    const raw = TxRaw.decode(bytes);
    const { messages } = TxBody.decode(raw.bodyBytes);
    const hasContent = raw.authInfoBytes.length > 0 && messages.length > 0;
    // The decoder skips unknown fields, so it also accepts other messages. Compare the bytes, because a transaction has only one
    // valid encoding (ADR 027).
    const isWhole = hasContent && equalBytes(TxRaw.encode(raw).finish(), bytes);
    return isWhole && messages.every(({ typeUrl }) => typeUrl !== "");
  } catch {
    return false;
  }
}
