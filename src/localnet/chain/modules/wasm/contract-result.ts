import { toBase64, utf8 } from "../../../../platform/base/bytes.ts";
import { GoJsonError, printGoJson, printGoObject } from "../../../../platform/base/go-json.ts";
import type { JsonObject } from "../../../../platform/base/json.ts";
import { goPanic } from "../../runtime/errors.ts";
import {
  type ContractAttribute,
  ContractError,
  type ContractResponse,
  type Reply,
  type ReplyOn,
  type ReplyResult,
  type SubMessage,
} from "./contract.ts";
import { GoField } from "./go-field.ts";
import { parseContractMessage } from "./contract-message.ts";

// The JSON that the chain and a binary contract exchange, as wasmvm 2.1 reads and writes it.

/**
 * Decodes the result of any entry point except `query`. Throws `ContractError` for the contract's own error, `GoJsonError` if the
 * bytes are not a result and, like Go, a panic for a result that is neither a response nor an error.
 */
export function parseResponse(bytes: Uint8Array, contract: string): ContractResponse {
  return responseOf(okOf(bytes), contract, "data");
}

/** Decodes the result of `ibc_packet_receive`, whose data is the acknowledgement. Throws like {@link parseResponse}. */
export function parseAcknowledgedResponse(bytes: Uint8Array, contract: string): ContractResponse {
  return responseOf(okOf(bytes), contract, "acknowledgement");
}

/**
 * Decodes the result of `ibc_channel_open`: a version, or empty for none. As on the deployed chain, a contract error is treated as
 * no version, so the channel opens. Throws `GoJsonError`.
 */
export function parseOpenResult(bytes: Uint8Array): string {
  return GoField.parse(bytes).member("ok").member("version").text();
}

function responseOf(response: GoField, contract: string, dataName: string): ContractResponse {
  const data = response.member(dataName);
  return {
    messages: response
      .member("messages")
      .items()
      .map((item) => parseSubMessage(item, contract)),
    attributes: parseAttributes(response.member("attributes")),
    events: response
      .member("events")
      .items()
      .map((item) => ({
        type: item.member("type").text(),
        attributes: parseAttributes(item.member("attributes")),
      })),
    data: data.isPresent() ? data.bytes() : undefined,
  };
}

/** Decodes a query's result, which is JSON in base64. Throws like {@link parseResponse}. */
export function parseQueryResult(bytes: Uint8Array): Uint8Array {
  return resultOf(bytes).bytes();
}

/** Returns the member "ok" of a result without an error. */
function resultOf(bytes: Uint8Array): GoField {
  const root = GoField.parse(bytes);
  const error = root.member("error").text();
  if (error !== "") throw new ContractError(error);
  return root.member("ok");
}

function okOf(bytes: Uint8Array): GoField {
  const ok = resultOf(bytes);
  if (!ok.isPresent()) throw goPanic("runtime error: invalid memory address or nil pointer dereference");
  return ok;
}

function parseAttributes(field: GoField): readonly ContractAttribute[] {
  return field
    .items()
    .map((item) => ({ key: item.member("key").text(), value: item.member("value").text() }));
}

const REPLY_ON: readonly ReplyOn[] = ["always", "error", "success", "never"];

function parseSubMessage(field: GoField, contract: string): SubMessage {
  const gasLimit = field.member("gas_limit");
  return {
    id: field.member("id").uint64(),
    message: parseContractMessage(field.member("msg"), contract),
    replyOn: parseReplyOn(field.member("reply_on")),
    gasLimit: gasLimit.isPresent() ? gasLimit.uint64() : undefined,
    payload: field.member("payload").bytes(),
  };
}

function parseReplyOn(field: GoField): ReplyOn | undefined {
  if (!field.isPresent()) return undefined;
  const text = field.text();
  const found = REPLY_ON.find((known) => known === text);
  if (found === undefined) throw new GoJsonError(`invalid reply_on value '${text}'`);
  return found;
}

/** Encodes the reply to a sub-message. */
export function printReply({ id, result, payload }: Reply): Uint8Array {
  return utf8(
    printGoObject([
      ["gas_used", "0"],
      ["id", id.toString()],
      ["result", printGoJson(result.ok ? { ok: outcomeOf(result) } : { error: result.error })],
      ...(payload.length === 0 ? [] : [["payload", printGoJson(toBase64(payload))] as const]),
    ]),
  );
}

function outcomeOf({ events, data, responses }: Extract<ReplyResult, { ok: true }>): JsonObject {
  return {
    events: events.map(({ type, attributes }) => ({
      type,
      attributes: attributes.map(({ key, value }) => ({ key, value })),
    })),
    ...(data === undefined || data.length === 0 ? {} : { data: toBase64(data) }),
    msg_responses: responses.map(({ typeUrl, value }) => ({ type_url: typeUrl, value: toBase64(value) })),
  };
}
