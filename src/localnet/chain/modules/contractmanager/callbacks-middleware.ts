import { toBase64, utf8 } from "../../../../platform/base/bytes.ts";
import { printGoObject, printGoString } from "../../../../platform/base/go-json.ts";
import { type Context, event } from "../../runtime/context.ts";
import { ChainPanic, isOutOfGas, ModuleError } from "../../runtime/errors.ts";
import { chargeHas, createNestedMeter } from "../../runtime/gas.ts";
import type { IBCModule, RelayedPacket } from "../ibc/channel/ibc-module.ts";
import type { Packet } from "../ibc/host/packet.ts";
import { printGoHeight } from "../ibc/host/height.ts";
import { decodePacketData, replyOf } from "../transfer/packet.ts";
import { addFailure, type Keepers, ErrSudoOutOfGas, moduleParams } from "./keeper.ts";

/**
 * Calls a contract with the result of a transfer that it sent, after the application has processed the result. If the call fails,
 * the failure is stored, because the acknowledgement or timeout must not depend on it. First charges gas for the deployed chain's
 * check of whether the packet was forwarded; no packet is forwarded here.
 */
export function callbacksMiddleware(inner: IBCModule, keepers: Keepers): IBCModule {
  return {
    ...inner,
    onAcknowledge: (context, packet, acknowledgement) => {
      chargeHas(context.gas);
      inner.onAcknowledge(context, packet, acknowledgement);
      callSender(context, packet, replyOf(acknowledgement), keepers);
    },
    onTimeout: (context, packet) => {
      chargeHas(context.gas);
      inner.onTimeout(context, packet);
      callSender(context, packet, { kind: "timeout" }, keepers);
    },
  };
}

function callSender(context: Context, packet: RelayedPacket, outcome: PacketOutcome, keepers: Keepers): void {
  // The inner application has read the same data.
  const { sender } = decodePacketData(packet.data);
  if (!keepers.contracts.isContract(context, sender)) return;
  if (outcome.kind === "timeout") keepers.fees?.distributeTimeoutFee(context, packet.relayer, packet);
  else keepers.fees?.distributeAcknowledgementFee(context, packet.relayer, packet);
  limitedSudo(context, sender, packetCallback(packet, outcome), keepers);
}

/**
 * Calls a contract on behalf of the chain, with the gas that the params allow. If the contract fails, its writes and events are
 * dropped, and the call is stored so that the contract can request it again; the failure is never thrown. The caller's gas pays
 * for the call, up to the limit; throws `ErrOutOfGas` if that gas runs out.
 */
export function limitedSudo(
  context: Context,
  contract: string,
  message: string,
  { contracts }: Keepers,
): void {
  const limit = moduleParams.get(context).sudoCallGasLimit;
  const gas = createNestedMeter(context.gas, limit);
  try {
    context.withGas(gas).atomically((inner) => contracts.sudo(inner, contract, message));
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    // A message from the contract may reach a limit of its own, which is an ordinary error.
    const isOverLimit = error instanceof ChainPanic && isOutOfGas(error);
    storeFailure(context, contract, message, isOverLimit ? ErrSudoOutOfGas() : error);
  }
  const used = gas.used();
  context.gas.consume(used < limit ? used : limit, "consume gas from cached context");
}

function storeFailure(context: Context, address: string, message: string, error: ModuleError): void {
  const { codespace, code } = error;
  const failure = addFailure(context, {
    address,
    sudoPayload: utf8(message),
    // Error texts may differ between nodes and must not enter the state.
    error: `codespace: ${codespace}, code: ${code}`,
  });
  context.emit(
    event("sudo", [
      ["_contract_address", address],
      ["failure_id", failure.id.toString()],
      ["error", error.message],
    ]),
  );
}

/** The result of a packet that a contract sent. */
type PacketOutcome =
  | { readonly kind: "result"; readonly result: Uint8Array }
  | { readonly kind: "error"; readonly error: string }
  | { readonly kind: "timeout" };

/** Builds the sudo message `response`, `error` or `timeout`: compact JSON as Go prints it, with all digits of 64-bit numbers. */
export function packetCallback(packet: Packet, outcome: PacketOutcome): string {
  const request = ["request", packetJson(packet)] as const;
  switch (outcome.kind) {
    case "result":
      return callback("response", [request, ["data", bytesJson(outcome.result)]]);
    case "error":
      return callback("error", [request, ["details", printGoString(outcome.error)]]);
    case "timeout":
      return callback("timeout", [request]);
  }
}

function callback(name: string, members: readonly (readonly [name: string, json: string])[]): string {
  return printGoObject([[name, printGoObject(members)]]);
}

/** Prints a packet as JSON, omitting all empty members except the height. */
function packetJson({ sequence, source, destination, data, timeout }: Packet): string {
  const members = [
    ["sequence", numberJson(sequence)],
    ["source_port", textJson(source.portId)],
    ["source_channel", textJson(source.channelId)],
    ["destination_port", textJson(destination.portId)],
    ["destination_channel", textJson(destination.channelId)],
    ["data", data.length === 0 ? "" : bytesJson(data)],
    ["timeout_height", printGoHeight(timeout.height)],
    ["timeout_timestamp", numberJson(timeout.timestamp)],
  ] as const;
  return printGoObject(members.filter(([, json]) => json !== ""));
}

function numberJson(value: bigint): string {
  return value === 0n ? "" : value.toString();
}

function textJson(text: string): string {
  return text === "" ? "" : printGoString(text);
}

function bytesJson(bytes: Uint8Array): string {
  return `"${toBase64(bytes)}"`;
}
