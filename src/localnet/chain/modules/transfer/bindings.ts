import type { Fee } from "../../../../cosmos/proto/gen/neutron/feerefunder/fee.ts";
import { MsgTransfer, MsgTransferResponse } from "../../../../cosmos/proto/gen/neutron/transfer/tx.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/registry.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { printGoObject, printGoString } from "../../../../platform/base/go-json.ts";
import { isRecord, type JsonField } from "../../../../platform/base/json.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrUnknownRequest, wrapErrors } from "../../runtime/errors.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import { asInteger, asUintNumber, customFields } from "../wasm/custom-json.ts";
import type { CustomMessageResult } from "../wasm/types.ts";

interface BindingDeps {
  readonly chainName: string;
  readonly findMessage: (typeUrl: string) => MessageHandler | undefined;
}

/** Runs a contract's `{"ibc_transfer":{…}}`. Returns undefined for other modules' messages. */
export function handleTransferMessage(
  context: Context,
  sender: string,
  message: unknown,
  { chainName, findMessage }: BindingDeps,
): CustomMessageResult | undefined {
  const transfer = isRecord(message) ? message["ibc_transfer"] : undefined;
  if (!isRecord(transfer)) return undefined;
  const fields = customFields(transfer);
  const typeUrl = toChainTypeUrl("/neutron.transfer.MsgTransfer", chainName);
  const handler = findMessage(typeUrl);
  if (handler === undefined) throw ErrUnknownRequest(typeUrl);
  const encoded = MsgTransfer.encode(transferOf(fields, sender)).finish();
  const response = wrapErrors("failed to execute IBCTransfer", () => handler.handle(context, encoded));
  const { sequenceId, channel } = MsgTransferResponse.decode(response.response);
  const members = [
    ...(sequenceId === 0n ? [] : [["sequence_id", sequenceId.toString()] as const]),
    ...(channel === "" ? [] : [["channel", printGoString(channel)] as const]),
  ];
  return { data: utf8(printGoObject(members)), response };
}

/** Reads the fee from a contract's message. */
export function feeOf(fee: JsonField): Fee {
  const coins = (name: string): Fee["ackFee"] =>
    fee
      .member(name)
      .elements()
      .map((coin) => ({
        denom: coin.member("denom").asText(),
        amount: asInteger(coin.member("amount")).toString(),
      }));
  return { recvFee: coins("recv_fee"), ackFee: coins("ack_fee"), timeoutFee: coins("timeout_fee") };
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
    fee: feeOf(fields.member("fee").orEmpty()),
  };
}
