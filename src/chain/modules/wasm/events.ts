import type { ChainEvent } from "../../runtime/events.ts";
import { event } from "../../runtime/events.ts";
import type { ContractAttribute, ContractResponse } from "./contract.ts";
import { invalidEvent } from "./errors.ts";

const ADDRESS_KEY = "_contract_address";

/** `instantiate`, `execute`, `sudo` or `reply`: emitted for every call, before the contract's own events. */
export function callEvent(entry: string, address: string, codeId?: bigint): ChainEvent {
  return event(entry, [
    [ADDRESS_KEY, address],
    ...(codeId === undefined ? [] : [["code_id", codeId.toString()] as const]),
  ]);
}

/** The event `wasm` of an answer's attributes, if it has any, then its own events as `wasm-<type>`. Throws wasm/21. */
export function contractEvents(address: string, response: ContractResponse): readonly ChainEvent[] {
  const own = response.events.map(({ type, attributes }) => {
    if (type.trim().length < 2) throw invalidEvent(`Event type too short: '${type.trim()}'`);
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
  if (trimmed === "") throw invalidEvent("Empty attribute key");
  if (trimmed.startsWith("_"))
    throw invalidEvent(`Attribute key starts with reserved prefix _: '${trimmed}'`);
  return trimmed;
}
