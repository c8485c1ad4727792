import { parseInt256 } from "../../../../platform/base/integers.ts";
import { isRecord, JsonField } from "../../../../platform/base/json.ts";
import type { Context } from "../../runtime/context.ts";
import { orThrow, unregisteredError } from "../../runtime/errors.ts";
import type { MessageJson } from "./contract.ts";
import type { CustomMessageHandler, CustomMessageResult, CustomQueryHandler } from "./types.ts";

/**
 * Creates the handler for a module's custom messages from functions keyed by member name. If a message has members for several functions,
 * the first function wins, as in Go. The argument `sender` is always the calling contract's address.
 */
export function customMessages(
  handlers: Readonly<
    Record<string, (context: Context, sender: string, fields: JsonField) => CustomMessageResult>
  >,
): CustomMessageHandler {
  return (context, sender, message) => {
    const members = isRecord(message) ? message : {};
    const known = Object.entries(handlers).find(([name]) => isRecord(members[name]));
    return known?.[1](context, sender, customFields(members[known[0]]));
  };
}

/** Creates the handler for a module's custom queries like {@link customMessages}. `error` creates the error for an invalid member. */
export function customQueries(
  handlers: Readonly<Record<string, (context: Context, fields: JsonField) => MessageJson>>,
  error: JsonField["error"] = decodeError,
): CustomQueryHandler {
  return (context, request) => {
    const known = Object.entries(handlers).find(([name]) => isRecord(request[name]));
    return known?.[1](context, new JsonField(request[known[0]], "", error));
  };
}

/** Wraps a contract's custom message in a `JsonField`. Reading an invalid member throws undefined/1 with the member's path. */
export function customFields(message: unknown): JsonField {
  return new JsonField(message, "", decodeError);
}

function decodeError(path: string, expected: string): Error {
  return unregisteredError(`failed to decode incoming custom cosmos message: ${path}: not ${expected}`);
}

/** Converts an integer to a number, or keeps the bigint if a number would round the value. */
export function toUintNumber(value: bigint): number | bigint {
  return value > Number.MAX_SAFE_INTEGER ? value : Number(value);
}

/** Reads an unsigned integer. A missing field means 0. CosmWasm bindings encode such integers only as JSON numbers, never as strings. */
export function asUintNumber(field: JsonField): bigint {
  if (typeof field.value === "string") throw field.error(field.path, "an unsigned integer");
  return field.asUint64();
}

/** Reads an integer of any size (`math.Int`). A missing field means 0. CosmWasm bindings encode such integers as strings. */
export function asInteger(field: JsonField): bigint {
  if (!field.isPresent()) return 0n;
  return orThrow(
    () => parseInt256(field.asText()),
    () => field.error(field.path, "an integer as text"),
  );
}
