import type { Coin } from "../../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import type { Fee } from "../../../../cosmos/proto/gen/neutron/feerefunder/fee.ts";
import { MsgTransfer, MsgTransferResponse } from "../../../../cosmos/proto/gen/neutron/transfer/tx.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/registry.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { printGoObject, printGoString } from "../../../../platform/base/go-json.ts";
import type { JsonField } from "../../../../platform/base/json.ts";
import { ErrUnknownRequest, wrapErrors } from "../../runtime/errors.ts";
import type { MessageHandler } from "../../runtime/context.ts";
import { asInteger, asUintNumber, customMessages } from "../wasm/custom-json.ts";
import type { CustomMessageHandler } from "../wasm/types.ts";

interface BindingDeps {
  readonly chainName: string;
  readonly findMessage: (typeUrl: string) => MessageHandler | undefined;
}

/** Creates the handler for a contract's `ibc_transfer` message. */
export function createTransferBinding({ chainName, findMessage }: BindingDeps): CustomMessageHandler {
  const typeUrl = toChainTypeUrl("/neutron.transfer.MsgTransfer", chainName);
  return customMessages({
    ibc_transfer: (context, sender, fields) => {
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
    },
  });
}

/** Reads the relayer fee from a contract's `ibc_transfer` message. */
export function feeOf(fee: JsonField): Fee {
  const coins = (name: string): Coin[] => fee.member(name).elements().map(coinOf);
  return { recvFee: coins("recv_fee"), ackFee: coins("ack_fee"), timeoutFee: coins("timeout_fee") };
}

function coinOf(coin: JsonField): Coin {
  return { denom: coin.member("denom").asText(), amount: asInteger(coin.member("amount")).toString() };
}

function transferOf(fields: JsonField, sender: string): MsgTransfer {
  const token = fields.member("token");
  const height = fields.member("timeout_height").orEmpty();
  return {
    sourcePort: fields.member("source_port").asText(),
    sourceChannel: fields.member("source_channel").asText(),
    token: token.isPresent() ? coinOf(token) : undefined,
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
