import { fromUtf8 } from "../../../../base/bytes.ts";
import { errorText } from "../../../../base/errors.ts";
import type { JsonValue } from "../../../../base/json.ts";
import { ContractError } from "../contract.ts";

/** Deepest nesting that a contract is given, as with serde: what walks a message may then be recursive. */
const MAX_DEPTH = 128;

/**
 * Reads the message of a call. Integers that a JavaScript number cannot hold are refused rather than rounded, as is what
 * nests deeper than 128. Throws `ContractError`.
 */
export function parseMessageJson(bytes: Uint8Array): JsonValue {
  if (isTooDeep(bytes)) throw unparsable("recursion limit exceeded");
  try {
    return JSON.parse(fromUtf8(bytes), refuseHugeInteger);
  } catch (error) {
    throw unparsable(errorText(error));
  }
}

function refuseHugeInteger(_key: string, value: unknown): unknown {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError("an integer beyond 2^53");
  return value;
}

function unparsable(what: string): ContractError {
  return new ContractError(`Error parsing into type Message: ${what}`);
}

/** Counts brackets outside of strings. */
function isTooDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === 0x22) inString = !inString;
    else if (inString && byte === 0x5c) at += 1;
    else if (!inString && (byte === 0x5b || byte === 0x7b)) depth += 1;
    else if (!inString && (byte === 0x5d || byte === 0x7d)) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}
