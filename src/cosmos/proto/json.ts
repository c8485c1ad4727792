import { type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { errorText } from "../../platform/base/errors.ts";
import type { JsonValue } from "../../platform/base/json.ts";
import { decodeByDescriptor } from "./decode.ts";
import { ProtoError } from "./errors.ts";
import { parseMessage } from "./json-parse.ts";
import { printMessage } from "./json-print.ts";
import { requireMessage } from "./registry.ts";
import { CANONICAL_CHAIN_NAME } from "./type-urls.ts";

/**
 * Converts an encoded message to JSON as the REST server of a Go node prints it. Prints every field under its original name,
 * in the order of declaration. 64-bit integers are strings, bytes are base64, enums are names, decimals have 18 digits.
 * Absent messages and absent bytes are null.
 *
 * `typeName` is canonical. Type URLs inside an Any carry `chainName`. Throws ProtoError `bad-bytes`, `unresolvable-type-url`,
 * `unknown-message` or `too-deep`.
 */
export function messageToJson(
  typeName: string,
  bytes: Uint8Array,
  chainName: string = CANONICAL_CHAIN_NAME,
): JsonValue {
  const desc = requireMessage(typeName);
  return printMessage(reflect(desc, decodeMessage(desc, bytes)), { chainName, depth: 0 });
}

/**
 * Encodes a message from proto JSON. Accepts field names in snake_case or lowerCamel, integers as numbers or strings, enums as
 * names or numbers, and null for absent. Writes non-nullable messages (`relaywatch.never_null`) even when they are absent.
 *
 * `typeName` is canonical. Type URLs inside an Any carry `chainName`. Throws ProtoError `bad-json` with the path of the field,
 * `unresolvable-type-url`, `unknown-message` or `too-deep`.
 */
export function messageFromJson(
  typeName: string,
  json: unknown,
  chainName: string = CANONICAL_CHAIN_NAME,
): Uint8Array {
  const desc = requireMessage(typeName);
  const message = parseMessage(desc, json, { chainName, depth: 0, path: "" });
  return toBinary(desc, message.message);
}

function decodeMessage(desc: DescMessage, bytes: Uint8Array): Message {
  try {
    return decodeByDescriptor(desc, bytes);
  } catch (thrown) {
    throw new ProtoError(
      { code: "bad-bytes", typeName: desc.typeName },
      `the bytes are not a ${desc.typeName}: ${errorText(thrown)}`,
      { cause: thrown },
    );
  }
}
