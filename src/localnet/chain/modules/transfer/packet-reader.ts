import { fromUtf8 } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { type GoJson, parseGoJson } from "../../../../platform/base/go-json.ts";

/** A transfer's data as middleware reads it. Members missing from the packet are empty. */
export interface TransferData {
  readonly denom: string;
  readonly amount: string;
  readonly sender: string;
  readonly receiver: string;
  readonly memo: string;
}

const FIELDS = ["denom", "amount", "sender", "receiver", "memo"] as const;

/**
 * Reads a packet's data as Go's `encoding/json` does: unknown members are ignored, names match in any case, and the last of
 * several equal names wins. Throws an error with the reason for anything other than an object whose known members are texts.
 */
export function readTransferData(bytes: Uint8Array): TransferData {
  const data = { denom: "", amount: "", sender: "", receiver: "", memo: "" };
  for (const [name, value] of membersOf(parseJson(bytes))) {
    const field = FIELDS.find((known) => known === name.toLowerCase());
    if (field !== undefined && value.kind !== "null") data[field] = textOf(field, value);
  }
  return data;
}

/** Reads only the receiver, without checking any other members. Throws like {@link readTransferData}. */
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
