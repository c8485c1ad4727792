import type { Context } from "../../runtime/context.ts";
import type { IBCModule, RelayedPacket } from "../ibc/channel/ibc-module.ts";
import { decodeReply } from "../transfer/acknowledgement.ts";
import { decodePacketData } from "../transfer/packet-data.ts";
import { limitedSudo } from "./limited-sudo.ts";
import { packetCallback, type PacketOutcome } from "./packet-callback.ts";
import type { Environment } from "./types.ts";

/**
 * Tells a contract what became of the transfer that it sent, after the application has refunded it or not. The failure of the
 * contract is stored: the acknowledgement or the timeout must not depend on it.
 */
export function informSenders(inner: IBCModule, environment: Environment): IBCModule {
  return {
    ...inner,
    onAcknowledge: (context, packet, acknowledgement) => {
      inner.onAcknowledge(context, packet, acknowledgement);
      inform(context, packet, decodeReply(acknowledgement), environment);
    },
    onTimeout: (context, packet) => {
      inner.onTimeout(context, packet);
      inform(context, packet, { kind: "timeout" }, environment);
    },
  };
}

function inform(
  context: Context,
  packet: RelayedPacket,
  outcome: PacketOutcome,
  environment: Environment,
): void {
  // The inner application has read the same data.
  const { sender } = decodePacketData(packet.data);
  if (!environment.contracts.isContract(context, sender)) return;
  limitedSudo(context, sender, packetCallback(packet, outcome), environment);
}
