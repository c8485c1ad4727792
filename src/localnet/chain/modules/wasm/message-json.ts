import { fromUtf8, utf8 } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { type GoJson, parseGoJson } from "../../../../platform/base/go-json.ts";
import { isRecord } from "../../../../platform/base/json.ts";
import { ContractError, type MessageJson } from "./contract.ts";

/** Maximum nesting depth of a message, which is the same as in serde. The limit makes it safe to process messages recursively. */
const MAX_DEPTH = 128;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Parses the JSON message of a call. Throws `ContractError` for invalid JSON or nesting deeper than 128. */
export function parseMessageJson(bytes: Uint8Array): MessageJson {
  if (isTooDeep(bytes)) throw parseError("recursion limit exceeded");
  try {
    const text = fromUtf8(bytes);
    // `JSON.parse` rounds integers beyond 2^53.
    let isRounded = false;
    const value: MessageJson = JSON.parse(text, (_key, parsed: unknown) => {
      isRounded ||= Number.isInteger(parsed) && !Number.isSafeInteger(parsed);
      return parsed;
    });
    return isRounded ? withExactIntegers(parseGoJson(text)) : value;
  } catch (error) {
    throw parseError(errorText(error));
  }
}

/** Converts JSON recursively, which is safe because the nesting depth is limited. */
export function withExactIntegers(json: GoJson): MessageJson {
  switch (json.kind) {
    case "null":
      return null;
    case "number":
      return /^-?\d+$/.test(json.text) && !Number.isSafeInteger(Number(json.text))
        ? BigInt(json.text)
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

/** Prints a message like `JSON.stringify`, but with all digits of its integers. */
export function printMessageJson(message: unknown): string {
  if (typeof message === "bigint") return message.toString();
  if (Array.isArray(message)) return `[${message.map((item) => printMessageJson(item)).join(",")}]`;
  if (!isRecord(message)) return JSON.stringify(message ?? null);
  const members = Object.entries(message).filter(([, value]) => value !== undefined);
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${printMessageJson(value)}`).join(",")}}`;
}

/** Copies a part of a message without checking its format. */
export function copyMessage(part: unknown): MessageJson {
  return parseMessageJson(utf8(printMessageJson(part)));
}

function parseError(reason: string): ContractError {
  return new ContractError(`Error parsing into type Message: ${reason}`);
}

/** Returns whether JSON is nested too deeply to be parsed. Counts the brackets outside strings, in linear time. */
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
