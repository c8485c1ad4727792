import { Failure } from "../../../../cosmos/proto/gen/neutron/contractmanager/failure.ts";
import { Params } from "../../../../cosmos/proto/gen/neutron/contractmanager/params.ts";
import {
  concat,
  fromUtf8,
  prefixEnd,
  readUint64BigEndian,
  uint64BigEndian,
  utf8,
  toBase64,
} from "../../../../platform/base/bytes.ts";
import { type Context, event } from "../../runtime/context.ts";
import { errorsOf, ChainPanic, isOutOfGas, ModuleError } from "../../runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";
import type { ParamsModuleOptions } from "../../runtime/params-module.ts";
import { type Codec, createMap, messageCodec } from "../../store/collections.ts";
import type { RelayedPacket, IBCModule } from "../ibc/channel/ibc-module.ts";
import type { ContractKeeper } from "../wasm/types.ts";
import { printGoObject, printGoString } from "../../../../platform/base/go-json.ts";
import { chargeHas, createNestedMeter } from "../../runtime/gas.ts";
import type { Packet } from "../ibc/host/packet.ts";
import { printGoHeight } from "../ibc/host/height.ts";
import { decodePacketData, replyOf } from "../transfer/packet.ts";

/** Name of the module, its store and its error codespace. */
export const MODULE_NAME = "contractmanager";

/** `sudo_call_gas_limit` is the gas limit for each sudo call that the chain makes. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(2),
  type: Params,
  defaults: { sudoCallGasLimit: 1_000_000n },
});

type FailureKey = Pick<Failure, "address" | "id">;

const keyCodec: Codec<FailureKey> = {
  encode: ({ address, id }) => concat(failuresOf(address), uint64BigEndian(id)),
  decode: (key) => ({ address: fromUtf8(key.subarray(0, -9)), id: readUint64BigEndian(key.subarray(-8)) }),
};

/** Failed calls. The key is 0x01, the contract's address as text, a slash, and the failure's id (8 bytes, big-endian). */
export const failures = createMap(MODULE_NAME, Uint8Array.of(1), keyCodec, messageCodec<Failure>(Failure));

/** Returns the key prefix for a contract's failures. */
export function failuresOf(address: string): Uint8Array {
  return utf8(`${address}/`);
}

/** Pays relayers for delivering acknowledgements and timeouts of packets that were sent by contracts. */
export interface FeeKeeper {
  readonly distributeAcknowledgementFee: (
    context: Context,
    relayer: Uint8Array,
    packet: RelayedPacket,
  ) => void;
  readonly distributeTimeoutFee: (context: Context, relayer: Uint8Array, packet: RelayedPacket) => void;
}

export interface ContractManagerDeps {
  readonly contracts: ContractKeeper;
  /** Without this keeper, the chain pays no packet fees to relayers. */
  readonly fees?: FeeKeeper;
}

export interface Keepers extends ParamsModuleOptions, ContractManagerDeps {}

const register = errorsOf(MODULE_NAME);
export const IncorrectFailureToResubmit = register(1101, "incorrect failure to resubmit");
export const FailedToResubmitFailure = register(1102, "failed to resubmit failure");
const ErrSudoOutOfGas = register(1103, "sudo handling went beyond the gas limit allowed by the module");
export const ErrNotContractResubmission = register(
  1104,
  "failures resubmission is only allowed to be called by a smart contract",
);

/**
 * Assigns an id to a failed contract call, and stores and returns the failure. The id is the contract's highest stored failure id
 * plus one, or 0 if no failure is stored. If the failure with the highest id is removed, the next failure reuses its id.
 */
export function addFailure(context: Context, failed: Omit<Failure, "id">): Failure {
  const { store, prefix } = failures.range(context, failuresOf(failed.address));
  const [last] = store.iterateReverse(prefix, prefixEnd(prefix));
  const id = last === undefined ? 0n : readUint64BigEndian(last[0].subarray(prefix.length)) + 1n;
  const failure = { ...failed, id };
  failures.set(context, failure, failure);
  return failure;
}

/**
 * Creates middleware that passes a transfer's result to the contract that sent the transfer, after the inner application has
 * processed the result. If the contract call fails, the failure is stored, and the acknowledgement or timeout still succeeds. The
 * deployed chain first checks whether the packet was forwarded. This chain forwards no packets, but charges the same gas.
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
  // The inner application has already decoded the same data, so decoding cannot fail here.
  const { sender } = decodePacketData(packet.data);
  if (!keepers.contracts.isContract(context, sender)) return;
  if (outcome.kind === "timeout") keepers.fees?.distributeTimeoutFee(context, packet.relayer, packet);
  else keepers.fees?.distributeAcknowledgementFee(context, packet.relayer, packet);
  limitedSudo(context, sender, packetCallback(packet, outcome), keepers);
}

/**
 * Calls a contract's sudo entry point on behalf of the chain, with the gas limit from the params. If the contract fails, its writes
 * and events are dropped, and the failed call is stored so that the contract can resubmit it. No error is thrown. The caller pays
 * for the gas used, up to the limit. Throws `ErrOutOfGas` if the caller runs out of gas.
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
    // If only a submessage's gas limit is exceeded, the error is not a panic.
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
    // Do not store the error text, because it may differ between nodes.
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

/** The outcome of a packet that a contract sent. */
type PacketOutcome =
  | { readonly kind: "result"; readonly result: Uint8Array }
  | { readonly kind: "error"; readonly error: string }
  | { readonly kind: "timeout" };

/** Builds the sudo message `response`, `error` or `timeout` as compact JSON, like Go. 64-bit numbers are printed with all their digits. */
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

/** Formats a packet as JSON. Empty fields are omitted, except for the timeout height. */
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
