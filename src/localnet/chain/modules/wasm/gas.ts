import { GAS_MULTIPLIER } from "../../../vm/gas.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { type Context, event, type ChainEvent } from "../../runtime/context.ts";
import { type GasMeter, outOfGas } from "../../runtime/gas.ts";
import type { ContractAttribute, ContractResponse, ReplyResult } from "./contract.ts";
import { isPinned } from "./keeper.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import { ErrInvalidEvent } from "./keys.ts";

// Prices from wasmd 0.53's `WasmGasRegister`, in chain gas. The virtual machine counts VM gas separately.

/** Gas for creating an instance of code that is not pinned. */
const INSTANCE_COST = 60_000n;
const PINNED_INSTANCE_COST = 2_000n;
const ATTRIBUTE_COST = 10n;
const CUSTOM_EVENT_COST = 20n;
const EVENT_BYTE_COST = 1n;
/** Number of attribute bytes (keys and values) in each response that cost no gas. */
const FREE_EVENT_BYTES = 100n;

/** Charges gas for creating an instance of a code. The price is lower if the code is pinned. */
export function chargeInstance(context: Context, codeId: bigint, entry: string): void {
  const cost = isPinned(context, codeId) ? PINNED_INSTANCE_COST : INSTANCE_COST;
  context.gas.consume(cost, `Loading CosmWasm module: ${entry}`);
}

/**
 * Charges gas for a reply: the price of an instance of pinned code (even if the code is not pinned), plus the price of the reply's
 * events.
 */
export function chargeReply(context: Context, result: ReplyResult): void {
  const events = result.ok ? result.events : [];
  context.gas.consume(PINNED_INSTANCE_COST + eventsCost(events, []), "Loading CosmWasm module: reply");
}

function chargeEvents(context: Context, { attributes, events }: ContractResponse): void {
  const cost = CUSTOM_EVENT_COST * BigInt(events.length) + eventsCost(events, attributes);
  context.gas.consume(cost, "Custom contract event attributes");
}

/** Returns the gas for the types and attributes of `events` and for the attributes in `others`. */
function eventsCost(events: ContractResponse["events"], others: readonly ContractAttribute[]): bigint {
  const attributes = [...others, ...events.flatMap((each) => each.attributes)];
  const bytes = attributes.reduce((sum, { key, value }) => sum + BigInt(utf8(key + value).length), 0n);
  const paidBytes = bytes > FREE_EVENT_BYTES ? bytes - FREE_EVENT_BYTES : 0n;
  const types = events.reduce((sum, { type }) => sum + BigInt(utf8(type).length), 0n);
  return ATTRIBUTE_COST * BigInt(attributes.length) + EVENT_BYTE_COST * (paidBytes + types);
}

/** VM gas limit of a call whose meter has no limit. */
const NO_LIMIT = (1n << 64n) - 1n;

/** Returns the VM gas that a call may use: the meter's remaining gas. */
export function gasForCall({ limit, used }: GasMeter): bigint {
  if (limit === undefined) return NO_LIMIT;
  const left = limit - used();
  return left > 0n ? left * GAS_MULTIPLIER : 0n;
}

/** Converts a call's VM gas to chain gas and consumes the result. Throws an out-of-gas error if the call reaches the limit. */
export function consumeCallGas(gas: GasMeter, vmGas: bigint): void {
  gas.consume(vmGas / GAS_MULTIPLIER, "wasm contract");
  const { limit } = gas;
  if (limit !== undefined && gas.used() >= limit)
    throw outOfGas("Wasm engine function execution", limit, gas.used());
}

/** Event types of up to this many bytes are rejected. */
const SHORT_TYPE_BYTES = 2;

/**
 * Charges gas for the events in a contract's response, and emits them. If the response has attributes, an event `wasm` with these
 * attributes is emitted first. The response's events follow as `wasm-<type>`. Like wasmd, trims types, keys and values. Throws
 * ErrInvalidEvent for a short event type or an invalid key.
 */
export function emitContractEvents(context: Context, address: string, response: ContractResponse): void {
  chargeEvents(context, response);
  if (response.attributes.length > 0) context.emit(toEvent("wasm", address, response.attributes));
  const own = response.events.map(({ type, attributes }) => {
    const trimmed = trimGoSpace(type);
    if (utf8(trimmed).length <= SHORT_TYPE_BYTES) throw ErrInvalidEvent(`Event type too short: '${trimmed}'`);
    return toEvent(`wasm-${trimmed}`, address, attributes);
  });
  for (const each of own) context.emit(each);
}

function toEvent(type: string, address: string, attributes: readonly ContractAttribute[]): ChainEvent {
  const pairs = attributes.map(({ key, value }) => {
    const trimmed = trimGoSpace(value);
    return [checkedKey(key, trimmed), trimmed] as const;
  });
  return event(type, [["_contract_address", address], ...pairs]);
}

function checkedKey(key: string, value: string): string {
  const trimmed = trimGoSpace(key);
  if (trimmed === "") throw ErrInvalidEvent(`Empty attribute key. Value: ${value}`);
  if (trimmed.startsWith("_"))
    throw ErrInvalidEvent(`Attribute key starts with reserved prefix _: '${trimmed}'`);
  return trimmed;
}
