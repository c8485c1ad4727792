import { utf8 } from "../../../../platform/base/bytes.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import { type Context, event, type ChainEvent } from "../../runtime/context.ts";
import type { ContractAttribute, ContractResponse } from "./contract.ts";
import { chargeEvents } from "./gas.ts";
import { ErrInvalidEvent } from "./keys.ts";

/** An event type must be longer than this, in bytes. */
const SHORT_TYPE_BYTES = 2;

/**
 * Charges for and emits the events in a contract's response: `wasm` with its attributes, if any, then the contract's own events
 * as `wasm-<type>`. Like wasmd, trims types, keys and values. Throws ErrInvalidEvent.
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
