import { fromUtf8, fromLossyUtf8 } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { isRecord } from "../../../../platform/base/json.ts";
import type { Context } from "../../runtime/context.ts";
import {
  ErrInvalidAddress,
  ErrUnknownRequest,
  isOutOfGas,
  ModuleError,
  wrapErrors,
} from "../../runtime/errors.ts";
import { type ChainEvent, event } from "../../runtime/events.ts";
import type {
  Acknowledgement,
  IBCModule,
  ICS4Wrapper,
  OutgoingPacket,
  RelayedPacket,
} from "../ibc/channel/ibc-module.ts";
import { errorAcknowledgement } from "../transfer/packet.ts";
import { readReceiver, readTransferData } from "../transfer/packet-reader.ts";
import {
  ErrBadMessage,
  ErrContractError,
  ErrRateLimitExceeded,
  checkLimits,
  OMITTED,
  undoSend,
} from "./limiter.ts";
import { type Keepers, MODULE_NAME, moduleParams } from "./params.ts";

/** A receiver of at least this many bytes is refused. */
const MAX_RECEIVER_BYTES = 4096;
const EXCEEDED = "rate limit exceeded";

/** Puts the limiter in front of the channels, so that transfers it refuses are not sent. */
export function rateLimitICS4Wrapper(inner: ICS4Wrapper, keepers: Keepers): ICS4Wrapper {
  return {
    sendPacket: (context, packet) => {
      requireAllowed(context, packet, keepers);
      return inner.sendPacket(context, packet);
    },
  };
}

/** Puts the limiter in front of an application. */
export function rateLimitMiddleware(inner: IBCModule, keepers: Keepers): IBCModule {
  return {
    ...inner,
    onReceive: (context, packet) => refusalOf(context, packet, keepers) ?? inner.onReceive(context, packet),
    onAcknowledge: (context, packet, acknowledgement) => {
      if (isErrorAcknowledgement(acknowledgement))
        undo(context, packet, keepers, { failure: "acknowledgment", acknowledgement });
      inner.onAcknowledge(context, packet, acknowledgement);
    },
    onTimeout: (context, packet) => {
      undo(context, packet, keepers, { failure: "timeout" });
      inner.onTimeout(context, packet);
    },
  };
}

/** Throws if the contract refuses a packet. Packets that are not transfers are not limited. */
function requireAllowed(context: Context, packet: OutgoingPacket, keepers: Keepers): void {
  const contract = moduleParams.get(context).contractAddress;
  if (contract === "" || !isTransfer(packet)) return;
  const destination = { portId: OMITTED, channelId: OMITTED };
  wrapErrors("rate limit SendPacket failed to authorize transfer", () =>
    checkLimits(
      context,
      "send_packet",
      { contract, packet: { ...packet, sequence: 0n, destination } },
      keepers,
    ),
  );
}

function isTransfer({ data }: OutgoingPacket): boolean {
  try {
    const { denom, amount } = readTransferData(data);
    return denom !== "" && amount !== "";
  } catch {
    return false;
  }
}

/** Returns the acknowledgement for a refused packet, or undefined if the packet is accepted. */
function refusalOf(context: Context, packet: RelayedPacket, keepers: Keepers): Acknowledgement | undefined {
  const invalid = receiverError(packet);
  if (invalid !== undefined) {
    context.emit(packetRefused(ErrBadMessage().message, invalid));
    return errorAcknowledgement(ErrBadMessage());
  }
  const contract = moduleParams.get(context).contractAddress;
  if (contract === "") return undefined;
  try {
    checkLimits(context, "recv_packet", { contract, packet }, keepers);
    return undefined;
  } catch (error) {
    if (!(error instanceof ModuleError) || isOutOfGas(error)) throw error;
    const refusal = error.message.includes(EXCEEDED)
      ? ErrRateLimitExceeded()
      : ErrContractError(error.message);
    context.emit(packetRefused(refusal.message));
    return errorAcknowledgement(refusal);
  }
}

/** Returns why a packet's receiver is invalid. The receiver is checked even if no contract is set. */
function receiverError({ data }: RelayedPacket): string | undefined {
  try {
    if (Buffer.byteLength(readReceiver(data)) < MAX_RECEIVER_BYTES) return undefined;
  } catch (error) {
    return errorText(error);
  }
  return ErrInvalidAddress(`IBC Receiver address too long. Max supported length is ${MAX_RECEIVER_BYTES}`)
    .message;
}

/** Throws sdk/6 if the acknowledgement is not a JSON object. */
function isErrorAcknowledgement(acknowledgement: Uint8Array): boolean {
  let json: unknown;
  try {
    json = JSON.parse(fromUtf8(acknowledgement));
  } catch (error) {
    throw unreadable(errorText(error));
  }
  if (json === null) return false;
  if (!isRecord(json) || "response" in json) throw unreadable("a result or an error was expected");
  return typeof json["error"] === "string" && json["error"] !== "";
}

function unreadable(reason: string): ModuleError {
  return ErrUnknownRequest(`cannot unmarshal ICS-20 transfer packet acknowledgement: ${reason}`);
}

/** Notifies the contract of a failed packet. If the call fails, only an event is emitted; the refund must not depend on it. */
function undo(
  context: Context,
  packet: RelayedPacket,
  keepers: Keepers,
  outcome: { readonly failure: "acknowledgment" | "timeout"; readonly acknowledgement?: Uint8Array },
): void {
  const contract = moduleParams.get(context).contractAddress;
  if (contract === "") return;
  try {
    undoSend(context, { contract, packet }, keepers);
  } catch (error) {
    if (!(error instanceof ModuleError) || isOutOfGas(error)) throw error;
    context.emit(badRevert(outcome.failure, packet.data, outcome.acknowledgement));
  }
}

/** Builds the event for a contract that could not be notified of a failed packet (chain-extension-modules.md, "Events"). */
function badRevert(
  failure: "acknowledgment" | "timeout",
  packet: Uint8Array,
  acknowledgement?: Uint8Array,
): ChainEvent {
  return event("bad_revert", [
    ["module", MODULE_NAME],
    ["failure_type", failure],
    ["packet", fromLossyUtf8(packet)],
    ...(acknowledgement === undefined ? [] : [["acknowledgement", fromLossyUtf8(acknowledgement)] as const]),
  ]);
}

/** Builds the event for a packet that the module has refused. */
function packetRefused(error: string, reason?: string): ChainEvent {
  return event("ibc-acknowledgement-error", [
    ["error", error],
    ...(reason === undefined ? [] : [["error-context", reason] as const]),
  ]);
}
