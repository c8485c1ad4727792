import type { JsonField } from "../../../../platform/base/json.ts";
import { unregisteredError } from "../../runtime/errors.ts";

/** Opens a custom message of a contract for reading. An invalid member fails the message with undefined/1 and its path. */
export function customFields(message: unknown): JsonField {
  return { value: message, path: "", error: decodeError };
}

function decodeError(path: string, expected: string): Error {
  return unregisteredError(`failed to decode incoming custom cosmos message: ${path}: not ${expected}`);
}
