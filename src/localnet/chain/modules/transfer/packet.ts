import { FungibleTokenPacketData } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/packet.ts";
import { Acknowledgement } from "../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { messageFromJson } from "../../../../cosmos/proto/json.ts";
import { equalBytes, fromUtf8, latin1, toBase64, upperHex, utf8 } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { printGoString } from "../../../../platform/base/go-json.ts";
import { type ModuleError, unregisteredError } from "../../runtime/errors.ts";
import { validateReceivedDenom } from "./denom.ts";
import {
  ErrIbcInvalidAddress,
  ErrIbcInvalidType,
  ErrIbcUnknownRequest,
  ErrInvalidAcknowledgement,
  ErrInvalidAmount,
} from "./keys.ts";

/** Reply of the receiver. */
export type Reply =
  | { readonly kind: "result"; readonly result: Uint8Array }
  | { readonly kind: "error"; readonly error: string };

/** The acknowledgement of a transfer that succeeded: the result is one byte 1. */
export const SUCCESS: { readonly success: true; readonly bytes: Uint8Array } = {
  success: true,
  bytes: encodeReply({ kind: "result", result: Uint8Array.of(1) }),
};

/** Creates the acknowledgement of an error. It has the code only: the text of an error need not be deterministic. */
export function errorAcknowledgement({ code }: Pick<ModuleError, "code">): {
  readonly success: false;
  readonly bytes: Uint8Array;
} {
  const error = `ABCI code: ${code}: error handling packet: see events for details`;
  return { success: false, bytes: encodeReply({ kind: "error", error }) };
}

/** Decodes an acknowledgement. Throws ibc/4 for other bytes, channel/16 for another spelling of the same. */
export function decodeReply(bytes: Uint8Array): Reply {
  const reply = parseReply(bytes);
  const expected = encodeReply(reply);
  if (equalBytes(expected, bytes)) return reply;
  throw ErrInvalidAcknowledgement(
    `acknowledgement did not marshal to expected bytes: ${upperHex(expected)} ≠ ${upperHex(bytes)}`,
  );
}

/** Prints a reply as Go prints the protobuf message: with a space at the end, and bytes as octal numbers. */
export function goReply(reply: Reply): string {
  return reply.kind === "result"
    ? `result:"${escapeBytes(reply.result)}" `
    : `error:"${escapeBytes(utf8(reply.error))}" `;
}

function parseReply(bytes: Uint8Array): Reply {
  const { response } = decodeAcknowledgement(bytes);
  if (response === undefined)
    throw ErrIbcInvalidType("the acknowledgement has neither a result nor an error");
  return response.$case === "result"
    ? { kind: "result", result: response.value }
    : { kind: "error", error: response.value };
}

function decodeAcknowledgement(bytes: Uint8Array): Acknowledgement {
  try {
    const json: unknown = JSON.parse(fromUtf8(bytes));
    return Acknowledgement.decode(messageFromJson("ibc.core.channel.v1.Acknowledgement", json));
  } catch (error) {
    throw ErrIbcUnknownRequest(
      `cannot unmarshal ICS-20 transfer packet acknowledgement: ${errorText(error)}`,
    );
  }
}

function encodeReply(reply: Reply): Uint8Array {
  return utf8(
    reply.kind === "result"
      ? `{"result":"${toBase64(reply.result)}"}`
      : `{"error":${printGoString(reply.error)}}`,
  );
}

function escapeBytes(bytes: Uint8Array): string {
  return latin1(bytes).replace(
    // oxlint-disable-next-line no-control-regex -- Go escapes everything but printable ASCII.
    /["\\]|[^ -~]/g,
    (character) => ESCAPES.get(character) ?? `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

const AMOUNT = /^[+-]?[0-9]+$/;
const MAX_BITS = 256n;

/** Encodes the data of a packet: JSON with sorted keys, without an empty memo. */
export function encodePacketData(data: FungibleTokenPacketData): Uint8Array {
  const { amount, denom, memo, receiver, sender } = data;
  const members = Object.entries({ amount, denom, ...(memo === "" ? {} : { memo }), receiver, sender });
  return utf8(`{${members.map(([key, value]) => `"${key}":${printGoString(value)}`).join(",")}}`);
}

/** Decodes the data of a packet. Throws an unregistered error for bytes that are not JSON of this type. */
export function decodePacketData(bytes: Uint8Array): FungibleTokenPacketData {
  try {
    const json: unknown = JSON.parse(fromUtf8(bytes));
    const name = "ibc.applications.transfer.v1.FungibleTokenPacketData";
    return FungibleTokenPacketData.decode(messageFromJson(name, json));
  } catch (error) {
    throw unregisteredError(errorText(error));
  }
}

/** Parses the amount in a packet. Throws transfer/5. */
export function parseAmount(text: string): bigint {
  const amount = AMOUNT.test(text) ? BigInt(text) : undefined;
  if (amount === undefined || (amount < 0n ? -amount : amount) >> MAX_BITS !== 0n)
    throw ErrInvalidAmount(`unable to parse transfer amount (${text}) into math.Int`);
  return amount;
}

/** Checks the data of a received packet, in ibc-go's order. Throws `ModuleError`. */
export function validatePacketData({ amount, sender, receiver, denom }: FungibleTokenPacketData): void {
  const parsed = parseAmount(amount);
  if (parsed <= 0n) throw ErrInvalidAmount(`amount must be strictly positive: got ${parsed}`);
  if (sender.trim() === "") throw ErrIbcInvalidAddress("sender address cannot be blank");
  if (receiver.trim() === "") throw ErrIbcInvalidAddress("receiver address cannot be blank");
  validateReceivedDenom(denom);
}
