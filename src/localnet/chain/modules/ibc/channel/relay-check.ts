import {
  MsgAcknowledgement,
  MsgRecvPacket,
  MsgTimeout,
  MsgTimeoutOnClose,
  ResponseResultType,
} from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import { MsgUpdateClient } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import type { AnteStep } from "../../../runtime/ante-step.ts";
import type { Context } from "../../../runtime/context.ts";
import type { TxMessage } from "../../../runtime/tx.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { updateClientInCheck } from "../client/update-client.ts";
import { proofOf } from "../connection/connection-proofs.ts";
import { ErrRedundantTx } from "./errors.ts";
import { packetOf } from "./packet.ts";
import { receivePacket, receiveVerified } from "./receive.ts";
import { relayAcknowledgement, type RelayEnvironment, relayTimeout, relayTimeoutOnClose } from "./relay.ts";
import { applicationOfChannel } from "./router.ts";

/** What a message of a relayer is in CheckTx. "other": not a message of a relayer. */
type Relayed = "update" | "new" | "redundant" | "other";

/**
 * Creates the ante step for transactions of relayers (ibc-go `RedundantRelayDecorator`). A transaction of client updates and
 * packets only runs in CheckTx, where a failure costs nothing, and is refused with channel/22 when all its packets were relayed
 * before. Any other message ends the checks: the messages from it on run in the block only.
 */
export function createRelayCheck(environment: RelayEnvironment): AnteStep {
  return (context, tx) => {
    if (context.mode !== "check" && context.mode !== "recheck") return;
    const seen = { new: 0, redundant: 0 };
    for (const message of tx.messages) {
      const kind = checkMessage(context, message, environment);
      if (kind === "other") return;
      if (kind !== "update") seen[kind] += 1;
    }
    if (seen.redundant > 0 && seen.new === 0) throw ErrRedundantTx();
  };
}

function checkMessage(
  context: Context,
  { typeUrl, value }: TxMessage,
  environment: RelayEnvironment,
): Relayed {
  switch (typeUrl) {
    case "/ibc.core.client.v1.MsgUpdateClient": {
      const { clientId, clientMessage } = MsgUpdateClient.decode(value);
      updateClientInCheck(context, clientId, clientMessage);
      return "update";
    }
    case "/ibc.core.channel.v1.MsgRecvPacket":
      return checkReceive(context, MsgRecvPacket.decode(value), environment);
    case "/ibc.core.channel.v1.MsgAcknowledgement":
      return kindOf(relayAcknowledgement(context, MsgAcknowledgement.decode(value), environment));
    case "/ibc.core.channel.v1.MsgTimeout":
      return kindOf(relayTimeout(context, MsgTimeout.decode(value), environment));
    case "/ibc.core.channel.v1.MsgTimeoutOnClose":
      return kindOf(relayTimeoutOnClose(context, MsgTimeoutOnClose.decode(value), environment));
    default:
      return "other";
  }
}

/** Verifies a packet without its application. A repeated check leaves out the verification. */
function checkReceive(context: Context, message: MsgRecvPacket, { router }: RelayEnvironment): Relayed {
  const packet = packetOf(message);
  if (context.mode === "recheck") return receiveVerified(context, packet) ? "new" : "redundant";
  applicationOfChannel(context, router, packet.destination);
  const proof = proofOf(message.proofCommitment, message.proofHeight);
  const isNew = wrapErrors(
    (error) => error.wrap("receive packet verification failed"),
    () => receivePacket(context, packet, proof),
  );
  return isNew ? "new" : "redundant";
}

function kindOf(result: ResponseResultType): Relayed {
  return result === ResponseResultType.RESPONSE_RESULT_TYPE_NOOP ? "redundant" : "new";
}
