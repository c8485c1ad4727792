import { asUint64, type JsonField } from "../../../../../platform/base/json.ts";

/**
 * Returns an unsigned integer. CosmWasm bindings carry integers as JSON numbers only; text is rejected. Absent counts
 * as 0.
 */
export function asUintNumber(field: JsonField): bigint {
  if (typeof field.value === "string") throw field.error(field.path, "an unsigned integer");
  return asUint64(field);
}
