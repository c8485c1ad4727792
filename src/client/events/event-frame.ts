import { isRecord } from "../../base/json.ts";
import { sha256 } from "../../base/sha256.ts";
import { ClientError } from "../errors.ts";
import type { ChainNotice, WireEvent } from "./subscription.ts";
import { isTransaction } from "./wire-transaction.ts";
import { parseRpcAnswer } from "../rpc/rpc-response.ts";
import {
  base64Bytes,
  field,
  int64,
  items,
  isPresent,
  text,
  timeNs,
  uint32,
  type WireValue,
  wireValue,
} from "../read/wire-fields.ts";

/** A frame of a subscription's WebSocket, taken apart. */
export type EventFrame =
  /** answer to a request: subscribed, or whatever was called */
  | { readonly kind: "answer"; readonly id: number; readonly result: unknown }
  /** refusal of a request, or the end of a subscription that stood (same id) */
  | { readonly kind: "error"; readonly id: number; readonly rpcCode: number; readonly data: string }
  | { readonly kind: "notice"; readonly id: number; readonly notice: ChainNotice }
  /** an event that tells us nothing: what is no transaction, or of a kind that we do not follow */
  | { readonly kind: "ignored"; readonly id: number; readonly what: string }
  /** an event that is not what it should be */
  | { readonly kind: "unreadable"; readonly id: number; readonly error: ClientError };

/** Decodes the text of one frame. Throws `bad-answer` for what is no JSON-RPC answer. */
export function decodeEventFrame(source: string, endpoint: string): EventFrame {
  const answer = parseRpcAnswer(parseFrame(source), endpoint);
  const id = typeof answer.id === "number" ? answer.id : -1;
  if (!("result" in answer))
    return {
      kind: "error",
      id,
      rpcCode: answer.rpcCode,
      data: answer.data === "" ? answer.message : answer.data,
    };
  const { result } = answer;
  if (!isRecord(result) || !isRecord(result["data"])) return { kind: "answer", id, result };
  return { id, ...readEvent(field(wireValue(result, "event", endpoint), "data")) };
}

function readEvent(data: WireValue): DecodedEvent {
  try {
    return decodeEvent(text(field(data, "type")), field(data, "value"));
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return { kind: "unreadable", error };
  }
}

function parseFrame(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}

type DecodedEvent =
  | { readonly kind: "notice"; readonly notice: ChainNotice }
  | { readonly kind: "ignored"; readonly what: string }
  | { readonly kind: "unreadable"; readonly error: ClientError };

function decodeEvent(type: string, value: WireValue): DecodedEvent {
  switch (type) {
    case "tendermint/event/NewBlockHeader":
      return { kind: "notice", notice: blockNotice(field(value, "header")) };
    case "tendermint/event/NewBlock":
      return { kind: "notice", notice: blockNotice(field(field(value, "block"), "header")) };
    case "tendermint/event/NewBlockEvents":
      return {
        kind: "notice",
        notice: {
          kind: "block-events",
          height: int64(field(value, "height")),
          events: decodeEvents(field(value, "events")),
        },
      };
    case "tendermint/event/Tx":
      return decodeTx(field(value, "TxResult"));
    default:
      return { kind: "ignored", what: type };
  }
}

function blockNotice(header: WireValue): ChainNotice {
  return { kind: "block", height: int64(field(header, "height")), timeNs: timeNs(field(header, "time")) };
}

/** The proposer's extended commit is published as a failed transaction too: it is stepped over. */
function decodeTx(txResult: WireValue): DecodedEvent {
  const bytes = base64Bytes(field(txResult, "tx"));
  if (!isTransaction(bytes)) return { kind: "ignored", what: "entry that is no transaction" };
  const result = field(txResult, "result");
  return {
    kind: "notice",
    notice: {
      kind: "tx",
      height: int64(field(txResult, "height")),
      hash: sha256(bytes),
      code: isPresent(result) ? uint32(field(result, "code")) : 0,
      events: isPresent(result) ? decodeEvents(field(result, "events")) : [],
    },
  };
}

/** Decodes a list of ABCI events. */
function decodeEvents(events: WireValue): readonly WireEvent[] {
  return items(events).map((event) => ({
    type: text(field(event, "type")),
    attributes: items(field(event, "attributes")).map((attribute) => ({
      key: text(field(attribute, "key")),
      value: text(field(attribute, "value")),
    })),
  }));
}
