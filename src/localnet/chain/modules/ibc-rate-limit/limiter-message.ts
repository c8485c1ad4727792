import { printGoObject, printGoString } from "../../../../platform/base/go-json.ts";
import type { Packet } from "../ibc/channel/packet.ts";
import { printGoHeight } from "../ibc/host/height.ts";
import type { TransferData } from "./transfer-data.ts";

/** What happened to a packet. */
export type LimiterCall = "send_packet" | "recv_packet" | "undo_send";

/** The other end of a packet that is being sent, in the message to the contract. */
export const OMITTED = "omitted";

/**
 * Builds the sudo message (chain-extension-modules.md, "IBC rate limit module"): compact JSON with the members in the order of
 * the specification. Empty texts of the data and zero heights are left out, as in Go. 64-bit numbers are printed in full.
 */
export function limiterMessage(call: LimiterCall, packet: Packet, data: TransferData): string {
  const { sequence, source, destination, timeout } = packet;
  return printGoObject([
    [
      call,
      printGoObject([
        [
          "packet",
          printGoObject([
            ["sequence", sequence.toString()],
            ["source_port", printGoString(source.portId)],
            ["source_channel", printGoString(source.channelId)],
            ["destination_port", printGoString(destination.portId)],
            ["destination_channel", printGoString(destination.channelId)],
            ["data", dataJson(data)],
            ["timeout_height", printGoHeight(timeout.height)],
            ["timeout_timestamp", timeout.timestamp.toString()],
          ]),
        ],
      ]),
    ],
  ]);
}

function dataJson({ denom, amount, sender, receiver }: TransferData): string {
  const members = Object.entries({ denom, amount, sender, receiver });
  return printGoObject(
    members.filter(([, text]) => text !== "").map(([name, text]) => [name, printGoString(text)]),
  );
}
