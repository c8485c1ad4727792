import { isRecord, JsonField } from "../../../../platform/base/json.ts";
import { ContractError, type MessageJson } from "../../modules/wasm/contract.ts";
import { text, unknownVariant } from "../messages.ts";
import { MAX_UINT256 } from "./quota.ts";

const PACKAGE = "rate_limiter::msg::";

/** A message that encodes a Rust enum variant, i.e. the variant's name and fields. */
export interface Variant {
  readonly name: string;
  readonly fields: JsonField;
}

/** Reads a message like serde reads a Rust enum: an object with one known member, or a string with the name of a variant without fields. */
export function readVariant(
  type: string,
  message: MessageJson,
  known: Readonly<Record<string, "fields" | "bare">>,
): Variant {
  const fullType = `${PACKAGE}${type}`;
  const entries: readonly (readonly [string, MessageJson])[] =
    typeof message === "string" ? [[message, null]] : isRecord(message) ? Object.entries(message) : [];
  const [entry] = entries;
  if (entry === undefined || entries.length !== 1)
    throw new ContractError(`Error parsing into type ${fullType}: expected one variant`);
  const [name, value] = entry;
  const kind = Object.hasOwn(known, name) ? known[name] : undefined;
  if (kind === undefined) throw unknownVariant(fullType, name, Object.keys(known));
  if ((kind === "bare") !== (typeof message === "string"))
    throw new ContractError(`Error parsing into type ${fullType}: Invalid type`);
  return { name, fields: new JsonField(value, "", fieldError(fullType)) };
}

function fieldError(type: string): JsonField["error"] {
  return (path, expected) => {
    const name = path.slice(path.lastIndexOf(".") + 1);
    const words =
      expected === "present" ? `missing field \`${name}\`` : `invalid type of ${path}, expected ${expected}`;
    return new ContractError(`Error parsing into type ${type}: ${words}`);
  };
}

/** Returns the unsigned 64-bit integer in a required field. As in serde, the field must be a JSON number, not a string. */
export function uint64(fields: JsonField, name: string): bigint {
  const field = fields.member(name).required();
  if (typeof field.value === "string") throw field.error(field.path, "an unsigned 64-bit integer");
  return field.asUint64();
}

/** Reads a required unsigned 256-bit integer from a decimal string. */
export function uint256(fields: JsonField, name: string): bigint {
  const digits = text(fields, name);
  const value = /^\d{1,78}$/.test(digits) ? BigInt(digits) : undefined;
  if (value === undefined || value > MAX_UINT256)
    throw new ContractError(
      `Error parsing into type ${PACKAGE}SudoMsg: invalid Uint256 '${digits}' - it is not an unsigned decimal number of 256 bits`,
    );
  return value;
}
