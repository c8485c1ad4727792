import { fromUtf8 } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { isRecord } from "../../../../platform/base/json.ts";
import type { Context } from "../../runtime/context.ts";
import {
  ModuleError,
  ErrInvalidAddress,
  ErrUnknownRequest,
  isOutOfGas,
  wrapErrors,
} from "../../runtime/errors.ts";
import type {
  Acknowledgement,
  IBCModule,
  OutgoingPacket,
  ICS4Wrapper,
  RelayedPacket,
} from "../ibc/channel/ibc-module.ts";
import { errorAcknowledgement } from "../transfer/acknowledgement.ts";
import { ErrBadMessage, ErrContractError, ErrRateLimitExceeded } from "./errors.ts";
import { badRevert, packetRefused } from "./events.ts";
import { checkLimits, undoSend } from "./limiter.ts";
import { OMITTED } from "./limiter-message.ts";
import { paramsOf } from "./params.ts";
import { readReceiver, readTransferData } from "./transfer-data.ts";
import type { Environment } from "./types.ts";

/** A receiver of this length or more, in bytes, is refused. */
const MAX_RECEIVER_BYTES = 4096;
const EXCEEDED = "rate limit exceeded";

/** Puts the limiter in front of the channels: a transfer that it refuses is not sent. */
export function limitSender(inner: ICS4Wrapper, environment: Environment): ICS4Wrapper {
  return {
    sendPacket: (context, packet) => {
      requireAllowed(context, packet, environment);
      return inner.sendPacket(context, packet);
    },
  };
}

/** Puts the limiter in front of an application. */
export function limitApplication(inner: IBCModule, environment: Environment): IBCModule {
  return {
    ...inner,
    onReceive: (context, packet) =>
      refusalOf(context, packet, environment) ?? inner.onReceive(context, packet),
    onAcknowledge: (context, packet, acknowledgement) => {
      if (isErrorAcknowledgement(acknowledgement))
        undo(context, packet, environment, { failure: "acknowledgment", acknowledgement });
      inner.onAcknowledge(context, packet, acknowledgement);
    },
    onTimeout: (context, packet) => {
      undo(context, packet, environment, { failure: "timeout" });
      inner.onTimeout(context, packet);
    },
  };
}

/** Throws when the contract refuses a packet. A packet that is no transfer passes. */
function requireAllowed(context: Context, packet: OutgoingPacket, environment: Environment): void {
  const contract = paramsOf(context).contractAddress;
  if (contract === "" || !isTransfer(packet)) return;
  const destination = { portId: OMITTED, channelId: OMITTED };
  wrapErrors(
    (error) => error.wrap("rate limit SendPacket failed to authorize transfer"),
    () =>
      checkLimits(
        context,
        "send_packet",
        { contract, packet: { ...packet, sequence: 0n, destination } },
        environment,
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

/** Returns the acknowledgement of a packet that may not come in; undefined when it may. */
function refusalOf(
  context: Context,
  packet: RelayedPacket,
  environment: Environment,
): Acknowledgement | undefined {
  const invalid = receiverError(packet);
  if (invalid !== undefined) {
    context.emit(packetRefused(ErrBadMessage().message, invalid));
    return errorAcknowledgement(ErrBadMessage());
  }
  const contract = paramsOf(context).contractAddress;
  if (contract === "") return undefined;
  try {
    checkLimits(context, "recv_packet", { contract, packet }, environment);
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

/** Returns why the receiver of a packet is invalid. It is checked without a contract too. */
function receiverError({ data }: RelayedPacket): string | undefined {
  try {
    if (Buffer.byteLength(readReceiver(data)) < MAX_RECEIVER_BYTES) return undefined;
  } catch (error) {
    return errorText(error);
  }
  return ErrInvalidAddress(`IBC Receiver address too long. Max supported length is ${MAX_RECEIVER_BYTES}`)
    .message;
}

/** Throws sdk/6 for an acknowledgement that is no JSON object. */
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

/** Tells the contract of a packet that failed. Its own failure is an event only: the refund must not depend on it. */
function undo(
  context: Context,
  packet: RelayedPacket,
  environment: Environment,
  outcome: { readonly failure: "acknowledgment" | "timeout"; readonly acknowledgement?: Uint8Array },
): void {
  const contract = paramsOf(context).contractAddress;
  if (contract === "") return;
  try {
    undoSend(context, { contract, packet }, environment);
  } catch (error) {
    if (!(error instanceof ModuleError) || isOutOfGas(error)) throw error;
    context.emit(badRevert(outcome.failure, packet.data, outcome.acknowledgement));
  }
}
