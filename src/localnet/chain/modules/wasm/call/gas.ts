import type { Context } from "../../../runtime/context.ts";
import type { ContractAttribute, ContractResponse } from "../contract.ts";

/** Price of each call: wasmd's price of an instance. */
const CALL_COST = 60_000n;
/** Price of each byte of the message, instead of the metered parsing of a WebAssembly contract. */
const MESSAGE_BYTE_COST = 5n;
/** wasmd's prices of attributes and events. */
const ATTRIBUTE_COST = 10n;
const CUSTOM_EVENT_COST = 20n;
const EVENT_BYTE_COST = 1n;
/** Bytes of keys and values that are free in each response. */
const FREE_EVENT_BYTES = 100n;

/** Charges for a call with a message of this many bytes. The store charges for the contract's reads and writes. */
export function chargeCall(context: Context, messageBytes: number, entryPoint: string): void {
  const cost = CALL_COST + MESSAGE_BYTE_COST * BigInt(messageBytes);
  context.gas.consume(cost, `Loading CosmWasm module: ${entryPoint}`);
}

/** Charges for the attributes and events of a response. */
export function chargeEvents(context: Context, response: ContractResponse): void {
  const attributes = [...response.attributes, ...response.events.flatMap((event) => event.attributes)];
  const bytes = attributes.reduce((sum, attribute) => sum + sizeOf(attribute), 0n);
  const paidBytes = bytes > FREE_EVENT_BYTES ? bytes - FREE_EVENT_BYTES : 0n;
  const cost =
    ATTRIBUTE_COST * BigInt(attributes.length) +
    EVENT_BYTE_COST * paidBytes +
    CUSTOM_EVENT_COST * BigInt(response.events.length);
  if (cost > 0n) context.gas.consume(cost, "Custom contract event attributes");
}

function sizeOf({ key, value }: ContractAttribute): bigint {
  return BigInt(new TextEncoder().encode(key + value).length);
}
