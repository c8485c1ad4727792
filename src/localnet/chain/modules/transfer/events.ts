import type { FungibleTokenPacketData } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/packet.ts";
import type { MsgTransfer } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/tx.ts";
import { type ChainEvent, event } from "../../runtime/events.ts";
import { MODULE_NAME } from "./keys.ts";

type Attribute = readonly [key: string, value: string];

/** Builds the events of a transfer that leaves. */
export function transferSent({ sender, receiver, token, memo }: MsgTransfer): readonly ChainEvent[] {
  return [
    event("ibc_transfer", [
      ["sender", sender],
      ["receiver", receiver],
      ["amount", token?.amount ?? ""],
      ["denom", token?.denom ?? ""],
      ["memo", memo],
    ]),
    event("message", [["module", MODULE_NAME]]),
  ];
}

/** Builds the event of a voucher that is minted. */
export function voucherMinted(hash: string, denom: string): ChainEvent {
  return event("denomination_trace", [
    ["trace_hash", hash],
    ["denom", denom],
  ]);
}

/** Builds the event of a transfer that arrived. `error`: why it was refused. */
export function transferReceived(data: FungibleTokenPacketData, error: string | undefined): ChainEvent {
  return event("fungible_token_packet", [
    ...dataOf(data),
    ["success", String(error === undefined)],
    ...(error === undefined ? [] : [["error", error] as const]),
  ]);
}

/** Builds the events of an acknowledgement. `text`: the acknowledgement as Go prints it. */
export function transferAcknowledged(
  data: FungibleTokenPacketData,
  text: string,
  outcome: Attribute,
): readonly ChainEvent[] {
  return [
    event("fungible_token_packet", [...dataOf(data), ["acknowledgement", text]]),
    event("fungible_token_packet", [outcome]),
  ];
}

/** Builds the event of a refund after a timeout. */
export function transferTimedOut({ sender, denom, amount, memo }: FungibleTokenPacketData): ChainEvent {
  return event("timeout", [
    ["module", MODULE_NAME],
    ["refund_receiver", sender],
    ["refund_denom", denom],
    ["refund_amount", amount],
    ["memo", memo],
  ]);
}

function dataOf({ sender, receiver, denom, amount, memo }: FungibleTokenPacketData): readonly Attribute[] {
  return [
    ["module", MODULE_NAME],
    ["sender", sender],
    ["receiver", receiver],
    ["denom", denom],
    ["amount", amount],
    ["memo", memo],
  ];
}
