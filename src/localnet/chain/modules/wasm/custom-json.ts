import { parseInt256 } from "../../../../platform/base/integers.ts";
import { JsonField } from "../../../../platform/base/json.ts";
import { unregisteredError } from "../../runtime/errors.ts";

/** Wraps a contract's custom message for reading. An invalid member fails the message with undefined/1 and the member's path. */
export function customFields(message: unknown): JsonField {
  return new JsonField(message, "", decodeError);
}

function decodeError(path: string, expected: string): Error {
  return unregisteredError(`failed to decode incoming custom cosmos message: ${path}: not ${expected}`);
}

/** Returns an integer as a JSON number, or as a bigint if a number would round it. */
export function toUintNumber(value: bigint): number | bigint {
  return value > Number.MAX_SAFE_INTEGER ? value : Number(value);
}

/** Reads an unsigned integer, or 0 if absent. CosmWasm bindings encode these integers only as JSON numbers; text is rejected. */
export function asUintNumber(field: JsonField): bigint {
  if (typeof field.value === "string") throw field.error(field.path, "an unsigned integer");
  return field.asUint64();
}

/** Reads an integer of any size (`math.Int`), or 0 if absent. CosmWasm bindings encode these integers as text. */
export function asInteger(field: JsonField): bigint {
  if (!field.isPresent()) return 0n;
  try {
    return parseInt256(field.asText());
  } catch {
    throw field.error(field.path, "an integer as text");
  }
}
