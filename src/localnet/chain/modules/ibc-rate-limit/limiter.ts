import { errorText } from "../../../../platform/base/errors.ts";
import { printGoObject, printGoString } from "../../../../platform/base/go-json.ts";
import { type Profile, SPECIFICATION } from "../../deviations/deviations.ts";
import type { Context } from "../../runtime/context.ts";
import { ModuleError, registerError, unregisteredError, wrapErrors } from "../../runtime/errors.ts";
import type { Packet } from "../ibc/host/packet.ts";
import { printGoHeight } from "../ibc/host/height.ts";
import { readTransferData, type TransferData } from "../transfer/packet-reader.ts";
import { type Keepers, MODULE_NAME, requireAddress } from "./params.ts";

export const ErrRateLimitExceeded = registerError(MODULE_NAME, 2, "rate limit exceeded");
export const ErrBadMessage = registerError(MODULE_NAME, 3, "bad message");
export const ErrContractError = registerError(MODULE_NAME, 4, "contract error");

/**
 * Calls the contract to check and count a packet. Throws `ModuleError`: rate-limited-ibc/2 if the contract refuses the packet or
 * fails for any reason, or an unregistered error if the address or the data is invalid.
 */
export function checkLimits(
  context: Context,
  call: Exclude<LimiterCall, "undo_send">,
  { contract, packet }: { readonly contract: string; readonly packet: Packet },
  keepers: Keepers,
): void {
  requireAddress(keepers.bech32Prefix, contract);
  const data = dataOf(packet, "failed to CheckAndUpdateRateLimits");
  wrapErrors(
    (error) => ErrRateLimitExceeded(error.message),
    () => keepers.contracts.sudo(context, contract, limiterMessage(call, packet, data, context.profile)),
  );
}

/** Notifies the contract of a sent packet that did not arrive. Throws `ModuleError`; rate-limited-ibc/4 if the contract fails. */
export function undoSend(
  context: Context,
  { contract, packet }: { readonly contract: string; readonly packet: Packet },
  keepers: Keepers,
): void {
  const words = "failed to UndoSendRateLimit";
  requireAddress(keepers.bech32Prefix, contract, words);
  const message = limiterMessage("undo_send", packet, dataOf(packet, words), context.profile);
  wrapErrors(
    (error) => ErrContractError(error.message),
    () => keepers.contracts.sudo(context, contract, message),
  );
}

function dataOf({ data }: Packet, words: string): TransferData {
  try {
    return readTransferData(data);
  } catch (error) {
    throw error instanceof ModuleError ? error : unregisteredError(`${words}: ${errorText(error)}`);
  }
}

/** Name of the packet event with which the contract is called. */
export type LimiterCall = "send_packet" | "recv_packet" | "undo_send";

/** Placeholder for the destination of a packet being sent, used in the message to the contract. */
export const OMITTED = "omitted";

/**
 * Builds the sudo message (chain-extension-modules.md, "IBC rate limit module"): compact JSON with its members in the
 * specification's order. As in Go, empty texts in the data and zero heights are omitted. All digits of 64-bit numbers are
 * printed.
 */
export function limiterMessage(
  call: LimiterCall,
  packet: Packet,
  data: TransferData,
  profile: Profile = SPECIFICATION,
): string {
  const { sequence, source, destination, timeout } = packet;
  const hasTime = timeout.timestamp > 0n || !profile.deployed("transferTimeout");
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
            ["data", dataJson(data, profile)],
            ["timeout_height", printGoHeight(timeout.height)],
            ...(hasTime ? [["timeout_timestamp", timeout.timestamp.toString()] as const] : []),
          ]),
        ],
      ]),
    ],
  ]);
}

/** The data as JSON. In the specification, it has no memo. */
function dataJson({ denom, amount, sender, receiver, memo }: TransferData, { deployed }: Profile): string {
  const specified = { denom, amount, sender, receiver };
  const members = Object.entries(deployed("transferMemo") ? { ...specified, memo } : specified);
  return printGoObject(
    members.filter(([, text]) => text !== "").map(([name, text]) => [name, printGoString(text)]),
  );
}
