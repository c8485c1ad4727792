import { fromUtf8, utf8 } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { printGoString } from "../../../../platform/base/go-json.ts";
import { FungibleTokenPacketData } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/packet.ts";
import { messageFromJson } from "../../../../cosmos/proto/json.ts";
import { unregisteredError } from "../../runtime/errors.ts";
import { validateReceivedDenom } from "./denom.ts";
import { ErrIbcInvalidAddress, ErrInvalidAmount } from "./errors.ts";

const AMOUNT = /^[+-]?[0-9]+$/;
const MAX_BITS = 256n;

/** Encodes the data of a packet: JSON with sorted keys, without an empty memo. */
export function encodePacketData(data: FungibleTokenPacketData): Uint8Array {
  const { amount, denom, memo, receiver, sender } = data;
  const members = Object.entries({ amount, denom, ...(memo === "" ? {} : { memo }), receiver, sender });
  return utf8(`{${members.map(([key, value]) => `"${key}":${printGoString(value)}`).join(",")}}`);
}

/** Decodes the data of a packet. Throws an unregistered error for bytes that are no JSON of this form. */
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
