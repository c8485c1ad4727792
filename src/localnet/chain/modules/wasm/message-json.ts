import { fromUtf8 } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { type GoJson, parseGoJson } from "../../../../platform/base/go-json.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { ContractError } from "./contract.ts";

/** Greatest nesting depth of a message, as in serde. Recursive functions may walk an accepted message. */
const MAX_DEPTH = 128;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Parses the message of a call. An integer beyond 2^53, which `JSON.parse` would round, becomes its decimal text: a
 * timestamp in nanoseconds is such a number. Rejects nesting deeper than 128. Throws `ContractError`.
 */
export function parseMessageJson(bytes: Uint8Array): JsonValue {
  if (isTooDeep(bytes)) throw parseError("recursion limit exceeded");
  try {
    const text = fromUtf8(bytes);
    let isRounded = false;
    const value: JsonValue = JSON.parse(text, (_key, parsed: unknown) => {
      isRounded ||= Number.isInteger(parsed) && !Number.isSafeInteger(parsed);
      return parsed;
    });
    return isRounded ? withExactIntegers(parseGoJson(text)) : value;
  } catch (error) {
    throw parseError(errorText(error));
  }
}

/** Recursive, which the limit of the nesting depth allows. */
function withExactIntegers(json: GoJson): JsonValue {
  switch (json.kind) {
    case "null":
      return null;
    case "number":
      return /^-?\d+$/.test(json.text) && !Number.isSafeInteger(Number(json.text))
        ? json.text
        : Number(json.text);
    case "array":
      return json.items.map(withExactIntegers);
    case "object":
      return Object.fromEntries(json.members.map(([name, value]) => [name, withExactIntegers(value)]));
    case "bool":
    case "string":
      return json.value;
  }
}

function parseError(reason: string): ContractError {
  return new ContractError(`Error parsing into type Message: ${reason}`);
}

/** Counts brackets outside of strings, before `JSON.parse` recurses into them. Linear in the length. */
function isTooDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) inString = !inString;
    else if (inString && byte === BACKSLASH) at += 1;
    else if (!inString && (byte === OPEN_BRACKET || byte === OPEN_BRACE)) depth += 1;
    else if (!inString && (byte === CLOSE_BRACKET || byte === CLOSE_BRACE)) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}
