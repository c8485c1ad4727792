import { FungibleTokenPacketData } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/packet.ts";
import { messageFromJson } from "../../../../cosmos/proto/json.ts";
import { fromUtf8, latin1, utf8 } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { printGoJson, type GoJson, parseGoJson } from "../../../../platform/base/go-json.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import { parseInt256 } from "../../../../platform/base/integers.ts";
import { type ModuleError, unregisteredError, ErrInvalidCoins } from "../../runtime/errors.ts";
import { decodeReply, encodeReply, type Reply } from "../ibc/channel/ibc-module.ts";
import { validateReceivedDenom, ErrInvalidAmount } from "./denom.ts";
import * as ibcErrors from "../ibc/host/errors.ts";
import { Fee } from "../../../../cosmos/proto/gen/neutron/feerefunder/fee.ts";
import { areValidCoins, parseCoins } from "../../runtime/coins.ts";

/** The acknowledgement for a successful transfer, whose result is a single byte with the value 1. */
export const SUCCESS: { readonly success: true; readonly bytes: Uint8Array } = {
  success: true,
  bytes: encodeReply({ kind: "result", result: Uint8Array.of(1) }),
};

/** Creates an error acknowledgement that contains only the error's code, because an error message may differ between nodes. */
export function errorAcknowledgement({ code }: Pick<ModuleError, "code">): {
  readonly success: false;
  readonly bytes: Uint8Array;
} {
  const error = `ABCI code: ${code}: error handling packet: see events for details`;
  return { success: false, bytes: encodeReply({ kind: "error", error }) };
}

/**
 * Decodes an acknowledgement. Throws ibc/4 for invalid bytes, and ibc/12 if the acknowledgement contains neither a result nor an
 * error.
 */
export function replyOf(acknowledgement: Uint8Array): Reply {
  let reply: Reply | undefined;
  try {
    reply = decodeReply(acknowledgement);
  } catch (error) {
    throw ibcErrors.ErrIbcUnknownRequest(
      `cannot unmarshal ICS-20 transfer packet acknowledgement: ${errorText(error)}`,
    );
  }
  if (reply !== undefined) return reply;
  throw ibcErrors.ErrIbcInvalidType(
    "expected one of [types.Acknowledgement_Result, types.Acknowledgement_Error], got <nil>",
  );
}

/** Formats a reply like Go formats the protobuf message, with a trailing space and with bytes in octal. */
export function goReply(reply: Reply): string {
  return reply.kind === "result"
    ? `result:"${escapeBytes(reply.result)}" `
    : `error:"${escapeBytes(utf8(reply.error))}" `;
}

/** Escapes bytes as in protobuf's text format, writing all bytes other than printable ASCII in octal. */
export function escapeBytes(bytes: Uint8Array): string {
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

/** Encodes a packet's data as JSON with sorted keys. An empty memo is omitted. */
export function encodePacketData(data: FungibleTokenPacketData): Uint8Array {
  const { amount, denom, memo, receiver, sender } = data;
  return utf8(printGoJson({ amount, denom, ...(memo === "" ? {} : { memo }), receiver, sender }));
}

/** Decodes an ICS-20 packet's data. Throws an unregistered error for bytes that are not valid JSON for `FungibleTokenPacketData`. */
export function decodePacketData(bytes: Uint8Array): FungibleTokenPacketData {
  try {
    const json: unknown = JSON.parse(fromUtf8(bytes));
    const name = "ibc.applications.transfer.v1.FungibleTokenPacketData";
    return FungibleTokenPacketData.decode(messageFromJson(name, json));
  } catch (error) {
    throw unregisteredError(errorText(error));
  }
}

/** Parses a packet's amount like Go's `math.Int`: "010" is 8. Throws transfer/5 for an invalid amount. */
export function parseAmount(text: string): bigint {
  try {
    return parseInt256(text);
  } catch {
    throw ErrInvalidAmount(`unable to parse transfer amount (${text}) into math.Int`);
  }
}

/** Checks a received packet's data, in ibc-go's order. Throws `ModuleError`. */
export function validatePacketData({ amount, sender, receiver, denom }: FungibleTokenPacketData): void {
  const parsed = parseAmount(amount);
  if (parsed <= 0n) throw ErrInvalidAmount(`amount must be strictly positive: got ${parsed}`);
  if (trimGoSpace(sender) === "") throw ibcErrors.ErrIbcInvalidAddress("sender address cannot be blank");
  if (trimGoSpace(receiver) === "") throw ibcErrors.ErrIbcInvalidAddress("receiver address cannot be blank");
  validateReceivedDenom(denom);
}

/** A transfer's packet data, as {@link readTransferData} returns it to middleware. Members missing from the packet are empty. */
export interface TransferData {
  readonly denom: string;
  readonly amount: string;
  readonly sender: string;
  readonly receiver: string;
  readonly memo: string;
}

const FIELDS = ["denom", "amount", "sender", "receiver", "memo"] as const;

/**
 * Reads a packet's data like Go's `encoding/json`. Unknown members are ignored, names match in any case, and the last of several
 * equal names wins. Throws an error with the reason unless the data is an object whose known members are strings or null.
 */
export function readTransferData(bytes: Uint8Array): TransferData {
  const data = { denom: "", amount: "", sender: "", receiver: "", memo: "" };
  for (const [name, value] of membersOf(parseJson(bytes))) {
    const field = FIELDS.find((known) => known === name.toLowerCase());
    if (field !== undefined && value.kind !== "null") data[field] = textOf(field, value);
  }
  return data;
}

/** Reads only the receiver from a packet's data. Throws if the data is not a JSON object or the receiver is not a string. */
export function readReceiver(bytes: Uint8Array): string {
  let receiver = "";
  for (const [name, value] of membersOf(parseJson(bytes))) {
    if (name.toLowerCase() === "receiver" && value.kind !== "null") receiver = textOf("receiver", value);
  }
  return receiver;
}

function parseJson(bytes: Uint8Array): GoJson {
  let text: string;
  try {
    text = fromUtf8(bytes);
  } catch (error) {
    throw new Error(errorText(error), { cause: error });
  }
  return parseGoJson(text);
}

function membersOf(json: GoJson): readonly (readonly [name: string, value: GoJson])[] {
  if (json.kind === "object") return json.members;
  if (json.kind === "null") return [];
  throw new Error(`json: cannot unmarshal ${json.kind} into Go value of type types.FungibleTokenPacketData`);
}

function textOf(field: string, value: GoJson): string {
  if (value.kind === "string") return value.value;
  throw new Error(
    `json: cannot unmarshal ${value.kind} into Go struct field FungibleTokenPacketData.${field} of type string`,
  );
}

/** An empty fee, used if a transfer message contains no fee. */
export const NO_FEE: Fee = Fee.decode(new Uint8Array(0));

/** Throws sdk/10 if a fee's coins are invalid, if there is a receive fee, or if the acknowledgement or timeout fee is missing. */
export function validateFee({ recvFee, ackFee, timeoutFee }: Fee): void {
  const invalid = [
    ...(areValidCoins(parseCoins(ackFee)) ? [] : ["ack fee is invalid"]),
    ...(areValidCoins(parseCoins(timeoutFee)) ? [] : ["timeout fee invalid"]),
  ];
  if (invalid.length > 0) throw ErrInvalidCoins(`contains invalid fees: ${invalid.join(" , ")}`);
  if (!isZero(recvFee)) throw ErrInvalidCoins("recv fee must be zero");
  if (isZero(ackFee) || isZero(timeoutFee)) throw ErrInvalidCoins("ack fee or timeout fee is zero");
}

export function isZero(coins: Fee["ackFee"]): boolean {
  return parseCoins(coins).every(({ amount }) => amount === 0n);
}
