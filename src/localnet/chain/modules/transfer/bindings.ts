import { MsgTransfer } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/tx.ts";
import { MsgTransferResponse } from "../../../../cosmos/proto/gen/neutron/transfer/tx.ts";
import { TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { printGoObject, printGoString } from "../../../../platform/base/go-json.ts";
import { isRecord, type JsonField } from "../../../../platform/base/json.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidCoins, ErrUnknownRequest, wrapErrors } from "../../runtime/errors.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import { asInteger, asUintNumber, customFields } from "../wasm/custom-json.ts";
import type { CustomMessageResult } from "../wasm/types.ts";

interface BindingDeps {
  readonly findMessage: (typeUrl: string) => MessageHandler | undefined;
}

/** Runs a contract's `{"ibc_transfer":{…}}`. Returns undefined for a message of another module. */
export function handleTransferMessage(
  context: Context,
  sender: string,
  message: unknown,
  { findMessage }: BindingDeps,
): CustomMessageResult | undefined {
  const transfer = isRecord(message) ? message["ibc_transfer"] : undefined;
  if (!isRecord(transfer)) return undefined;
  const fields = customFields(transfer);
  const handler = findMessage(TYPE_URL.transfer);
  if (handler === undefined) throw ErrUnknownRequest(TYPE_URL.transfer);
  const response = wrapErrors(
    (error) => error.wrap("failed to execute IBCTransfer"),
    () => {
      requireFee(fields.member("fee").orEmpty());
      return handler.handle(context, MsgTransfer.encode(transferOf(fields, sender)).finish());
    },
  );
  const { sequenceId, channel } = MsgTransferResponse.decode(response.response);
  const members = [
    ...(sequenceId === 0n ? [] : [["sequence_id", sequenceId.toString()] as const]),
    ...(channel === "" ? [] : [["channel", printGoString(channel)] as const]),
  ];
  return { data: utf8(printGoObject(members)), response };
}

/** The fee must name what a relayer would get, as on the deployed chain; nothing takes it here. */
function requireFee(fee: JsonField): void {
  const isZero = (name: string): boolean =>
    fee
      .member(name)
      .elements()
      .every((coin) => asInteger(coin.member("amount")) === 0n);
  if (!isZero("recv_fee")) throw invalidFee("recv fee must be zero");
  if (isZero("ack_fee") || isZero("timeout_fee")) throw invalidFee("ack fee or timeout fee is zero");
}

function invalidFee(words: string): Error {
  return ErrInvalidCoins(words).wrap("failed to validate MsgTransfer");
}

function transferOf(fields: JsonField, sender: string): MsgTransfer {
  const token = fields.member("token");
  const height = fields.member("timeout_height").orEmpty();
  return {
    sourcePort: fields.member("source_port").asText(),
    sourceChannel: fields.member("source_channel").asText(),
    token: token.isPresent()
      ? { denom: token.member("denom").asText(), amount: asInteger(token.member("amount")).toString() }
      : undefined,
    sender,
    receiver: fields.member("receiver").asText(),
    timeoutHeight: {
      revisionNumber: asUintNumber(height.member("revision_number")),
      revisionHeight: asUintNumber(height.member("revision_height")),
    },
    timeoutTimestamp: asUintNumber(fields.member("timeout_timestamp")),
    memo: fields.member("memo").asText(),
  };
}
