import type { Context } from "../../../runtime/context.ts";
import type { ContractAttribute, ContractResponse } from "../contract.ts";

/** Every call of a contract: wasmd's price for an instance. */
const CALL_COST = 60_000n;
/** Each byte of the message that a contract gets: stands for the parsing that a metered machine would charge for. */
const MESSAGE_BYTE_COST = 5n;
/** wasmd's prices for what a contract makes the chain say. */
const ATTRIBUTE_COST = 10n;
const CUSTOM_EVENT_COST = 20n;
const EVENT_BYTE_COST = 1n;
/** This many bytes of keys and values are free in each answer. */
const FREE_EVENT_BYTES = 100n;

/** Charges for calling a contract with a message of this many bytes. What it reads and writes is charged by the store. */
export function chargeCall(context: Context, messageBytes: number, entry: string): void {
  const cost = CALL_COST + MESSAGE_BYTE_COST * BigInt(messageBytes);
  context.gas.consume(cost, `Loading CosmWasm module: ${entry}`);
}

/** Charges for attributes and events of an answer. */
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
