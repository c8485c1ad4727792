import { compareBytes, concat, sha256, toBase64, utf8 } from "../../../platform/base/bytes.ts";
import { bad, good, type Result } from "../../../platform/base/errors.ts";
import * as goJson from "../../../platform/base/go-json.ts";
import { formatAddress, tryParseAddress } from "../../../localnet/chain/runtime/address.ts";
import type { ContractHost } from "../../../localnet/chain/modules/wasm/contract-host.ts";
import { type Context, event } from "../../../localnet/chain/runtime/context.ts";
import * as errors from "../../../localnet/chain/runtime/errors.ts";
import * as ics4 from "../../../localnet/chain/modules/ibc/channel/ibc-module.ts";
import { receivedDenom } from "../../../localnet/chain/modules/transfer/denom.ts";
import * as packets from "../../../localnet/chain/modules/transfer/packet.ts";

interface IbcHooksDeps {
  /** Bech32 prefix of the chain's account addresses, such as "neutron". */
  readonly bech32Prefix: string;
  readonly contracts: Pick<ContractHost, "execute">;
}

const register = errors.errorsOf("wasm-hooks");
/** Error for a transfer whose memo has a malformed `wasm` field. */
const ErrMsgValidation = register(2, "error in wasmhook message validation");
/** Error for a contract that rejects the call or that cannot be called. */
const ErrWasmError = register(6, "wasm error");

/**
 * Calls a contract with the coins from a transfer whose memo is `{"wasm":{"contract":"…","msg":{…}}}`, as x/ibc-hooks 6.0.3
 * does. The contract must be the transfer's receiver. Packets without such a memo pass through unchanged.
 *
 * The transfer first pays an address derived from the packet's sender, which then calls the contract, because a sender on another
 * chain must not act as an account on this chain. The acknowledgement contains the contract's response data. If the contract fails,
 * the transfer is rejected.
 */
export function ibcHooksMiddleware(inner: ics4.IBCModule, deps: IbcHooksDeps): ics4.IBCModule {
  return {
    ...inner,
    onReceive: (context, packet) => {
      const data = transferOf(packet);
      const memo = data === undefined ? undefined : wasmMemo(data.memo);
      if (data === undefined || memo === undefined) return inner.onReceive(context, packet);
      const call = parseCall(memo, data, deps);
      if (!call.ok) return refuse(context, ErrMsgValidation, call.error);
      return receiveAndCall(context, { packet, data, call: call.value, inner }, deps);
    },
  };
}

/** Reads a packet's transfer data, or returns undefined if the packet is not a transfer. */
function transferOf({ data }: ics4.RelayedPacket): packets.TransferData | undefined {
  try {
    return packets.readTransferData(data);
  } catch {
    return undefined;
  }
}

type GoObject = Extract<goJson.GoJson, { kind: "object" }>;

/** Returns a memo's `wasm` field, or undefined if the memo is empty, invalid or has no such field. */
function wasmMemo(memo: string): goJson.GoJson | undefined {
  if (memo === "") return undefined;
  try {
    const json = goJson.parseGoJson(memo);
    // Go's decoder rejects a memo if any number in it exceeds the float64 range.
    marshalGoAny(json);
    return json.kind === "object" ? memberOf(json, "wasm") : undefined;
  } catch {
    return undefined;
  }
}

function memberOf({ members }: GoObject, name: string): goJson.GoJson | undefined {
  return members.findLast(([own]) => own === name)?.[1];
}

interface HookCall {
  readonly contract: string;
  /** Execute message for the contract, in JSON. */
  readonly message: Uint8Array;
}

/** Validates the contract call that a memo requests, and returns the call or an error message. */
function parseCall(
  wasm: goJson.GoJson,
  { memo, receiver }: packets.TransferData,
  { bech32Prefix }: IbcHooksDeps,
): Result<HookCall, string> {
  const wrong = (reason: string): Result<HookCall, string> =>
    bad(`wasm metadata not properly formatted for: '${memo}'. ${reason}`);
  if (wasm.kind !== "object") return wrong("wasm metadata is not a valid JSON map object");
  const contract = memberOf(wasm, "contract");
  if (contract?.kind !== "string") return wrong('Could not find key wasm["contract"]');
  if (!tryParseAddress(bech32Prefix, contract.value).ok)
    return wrong('wasm["contract"] is not a valid bech32 address');
  if (contract.value !== receiver)
    return wrong('wasm["contract"] should be the same as the receiver of the packet');
  const message = memberOf(wasm, "msg");
  if (message === undefined || message.kind === "null") return wrong('Could not find key wasm["msg"]');
  if (message.kind !== "object") return wrong('wasm["msg"] is not a map object');
  return good({ contract: contract.value, message: utf8(marshalGoAny(message)) });
}

/** Runs the transfer with the sender's address on this chain as its receiver, which then calls the contract. */
function receiveAndCall(
  context: Context,
  hooked: {
    readonly packet: ics4.RelayedPacket;
    readonly data: packets.TransferData;
    readonly call: HookCall;
    readonly inner: ics4.IBCModule;
  },
  { bech32Prefix, contracts }: IbcHooksDeps,
): ics4.Acknowledgement {
  const { packet, data, call, inner } = hooked;
  const sender = intermediateSender(packet.destination.channelId, data.sender, bech32Prefix);
  const rewritten = { ...packet, data: printTransfer({ ...data, receiver: sender }) };
  const acknowledgement = inner.onReceive(context, rewritten);
  if (acknowledgement === undefined)
    throw errors.goPanic("runtime error: invalid memory address or nil pointer dereference");
  if (!acknowledgement.success) return acknowledgement;
  const funds = [{ denom: receivedDenom(packet, data.denom), amount: packets.parseAmount(data.amount) }];
  try {
    const result = contracts.execute(context, call.contract, { sender, funds }, call.message);
    return { success: true, bytes: printResult(result, acknowledgement.bytes) };
  } catch (error) {
    if (!(error instanceof errors.ModuleError) || error instanceof errors.ChainPanic) throw error;
    return refuse(context, ErrWasmError, error.message);
  }
}

const SENDER_PREFIX = "ibc-wasm-hook-intermediary";

/**
 * Returns the address that represents another chain's account on this chain. The address depends on that account and on the channel
 * on which its packets arrive.
 */
export function intermediateSender(channelId: string, sender: string, bech32Prefix: string): string {
  const hash = sha256(concat(sha256(utf8(SENDER_PREFIX)), utf8(`${channelId}/${sender}`)));
  return formatAddress(bech32Prefix, hash);
}

/** Encodes transfer data as Go's struct is encoded: in field order, without empty fields. */
function printTransfer({ denom, amount, sender, receiver, memo }: packets.TransferData): Uint8Array {
  const members = Object.entries({ denom, amount, sender, receiver, memo });
  return utf8(goJson.printGoJson(Object.fromEntries(members.filter(([, text]) => text !== ""))));
}

/** Returns an acknowledgement with the contract's response data and the transfer's acknowledgement, both in base64. */
function printResult(result: Uint8Array, acknowledgement: Uint8Array): Uint8Array {
  const json = goJson.printGoJson({
    contract_result: result.length === 0 ? null : toBase64(result),
    ibc_ack: toBase64(acknowledgement),
  });
  return ics4.encodeReply({ kind: "result", result: utf8(json) });
}

/** Rejects a packet. An event contains the reason, while the acknowledgement contains only the error code. */
function refuse(context: Context, kind: errors.ErrorKind, reason: string): ics4.Acknowledgement {
  const error = kind();
  context.emit(
    event("ibc-acknowledgement-error", [
      ["error", error.message],
      ["error-context", reason],
    ]),
  );
  return packets.errorAcknowledgement(error);
}

/**
 * Encodes a decoded `any` like Go's `encoding/json`, without recursion. Names are sorted, the last of duplicate names is used,
 * numbers are float64, and there are no spaces. Throws {@link goJson.GoJsonError} if a number exceeds the float64 range.
 */
function marshalGoAny(value: goJson.GoJson): string {
  const work: (goJson.GoJson | string)[] = [value];
  let text = "";
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (typeof next === "string") text += next;
    else if (next.kind === "array")
      work.push(...commaSeparated("[", next.items.map(alone), "]").toReversed());
    else if (next.kind === "object") {
      const members = sortedMembers(next.members).map(
        ([name, member]) => [`${goJson.printGoString(name)}:`, member] as const,
      );
      work.push(...commaSeparated("{", members, "}").toReversed());
    } else text += marshalScalar(next);
  }
  return text;
}

function alone(value: goJson.GoJson): readonly [goJson.GoJson] {
  return [value];
}

function commaSeparated(
  open: string,
  parts: readonly (readonly (goJson.GoJson | string)[])[],
  close: string,
): readonly (goJson.GoJson | string)[] {
  return [open, ...parts.flatMap((part, index) => (index === 0 ? part : [",", ...part])), close];
}

function marshalScalar(value: Exclude<goJson.GoJson, { kind: "array" | "object" }>): string {
  if (value.kind === "null") return "null";
  if (value.kind === "bool") return String(value.value);
  if (value.kind === "string") return goJson.printGoString(value.value);
  const number = Number(value.text);
  if (!Number.isFinite(number))
    throw new goJson.GoJsonError(`json: cannot unmarshal number ${value.text} into Go value of type float64`);
  // Go and JavaScript both print the shortest digits, and use exponents for the same range.
  return Object.is(number, -0) ? "-0" : String(number);
}

/** Returns each name once with its last value, sorted by the names' UTF-8 bytes. */
function sortedMembers(
  members: readonly (readonly [string, goJson.GoJson])[],
): readonly (readonly [string, goJson.GoJson])[] {
  return [...new Map(members)].toSorted(([a], [b]) => compareBytes(utf8(a), utf8(b)));
}
