import { type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { errorText } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import { ProtoError } from "./errors.ts";
import { parseMessage } from "./json-parse.ts";
import { printMessage } from "./json-print.ts";
import { requireMessage } from "./registry.ts";
import { CANONICAL_CHAIN_NAME } from "./type-urls.ts";

/**
 * A message as the REST face of a Go node prints it: original field names in order of declaration, all of them; 64-bit
 * integers as text, bytes in base64 (absent: null), absent messages null, decimals with 18 digits, enums by name.
 *
 * `typeName` is canonical; type URLs inside an Any carry the chain's name. Throws ProtoError: `bad-bytes`,
 * `unresolvable-type-url`, `unknown-message`, `too-deep`.
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
 * The bytes of a message given in proto JSON: snake_case or lowerCamel names, integers as numbers or text, enums by name or
 * number, null for absent. Messages that Go holds by value are always written. Throws ProtoError: `bad-json` with the path
 * of the field, `unresolvable-type-url`, `unknown-message`, `too-deep`.
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

/** Decodes by descriptor. Throws ProtoError `bad-bytes`. */
function decodeMessage(desc: DescMessage, bytes: Uint8Array): Message {
  try {
    return fromBinary(desc, bytes);
  } catch (thrown) {
    throw new ProtoError(
      { code: "bad-bytes", typeName: desc.typeName },
      `the bytes are no ${desc.typeName}: ${errorText(thrown)}`,
      { cause: thrown },
    );
  }
}
