import type { ChainEvent } from "../../runtime/events.ts";
import { event } from "../../runtime/events.ts";
import type { ContractAttribute, ContractResponse } from "./contract.ts";
import { ErrInvalidEvent } from "./errors.ts";

const ADDRESS_KEY = "_contract_address";
/** Length of the shortest accepted type of a contract's event. */
const MIN_TYPE_LENGTH = 2;

/**
 * Builds the event `instantiate`, `execute`, `sudo` or `reply`. Every call emits it before the contract's own events.
 */
export function callEvent(entry: string, address: string, codeId?: bigint): ChainEvent {
  return event(entry, [
    [ADDRESS_KEY, address],
    ...(codeId === undefined ? [] : [["code_id", codeId.toString()] as const]),
  ]);
}

/**
 * Builds the events of a contract's response: `wasm` with its attributes, if it has any, then its own events as
 * `wasm-<type>`. Like wasmd, trims types, keys and values. Throws ErrInvalidEvent.
 */
export function contractEvents(address: string, response: ContractResponse): readonly ChainEvent[] {
  const own = response.events.map(({ type, attributes }) => {
    if (type.trim().length < MIN_TYPE_LENGTH) throw ErrInvalidEvent(`Event type too short: '${type.trim()}'`);
    return toEvent(`wasm-${type.trim()}`, address, attributes);
  });
  return response.attributes.length === 0 ? own : [toEvent("wasm", address, response.attributes), ...own];
}

function toEvent(type: string, address: string, attributes: readonly ContractAttribute[]): ChainEvent {
  const pairs = attributes.map(({ key, value }) => [checkedKey(key), value.trim()] as const);
  return event(type, [[ADDRESS_KEY, address], ...pairs]);
}

function checkedKey(key: string): string {
  const trimmed = key.trim();
  if (trimmed === "") throw ErrInvalidEvent("Empty attribute key");
  if (trimmed.startsWith("_"))
    throw ErrInvalidEvent(`Attribute key starts with reserved prefix _: '${trimmed}'`);
  return trimmed;
}
