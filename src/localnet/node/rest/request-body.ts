import { type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { fromUtf8 } from "../../../platform/base/bytes.ts";
import { goJsonSyntaxError } from "../../../platform/base/go-json-syntax.ts";
import { isRecord } from "../../../platform/base/json.ts";
import { goTypeName } from "../../../cosmos/proto/go-names.ts";
import { messageFromJson } from "../../../cosmos/proto/json.ts";
import { requireMessage } from "../../../cosmos/proto/registry.ts";
import { toChainTypeUrl } from "../../../cosmos/proto/type-urls.ts";
import { goBase64Decode, goKind } from "../rpc/go-decoding.ts";

const NOTHING = new Uint8Array(0);
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Encodes the request in a JSON body. A blank body is an empty request.
 * Throws a plain error, with Go's text for the errors that recordings show.
 */
export function parseBody(typeName: string, body: Uint8Array, chainName: string): Uint8Array {
  if (body.every((byte) => BLANKS.has(byte))) return NOTHING;
  const syntaxError = goJsonSyntaxError(body);
  if (syntaxError !== undefined) {
    // The gateway reads a stream with json.Decoder, which reports the end of its input as io.ErrUnexpectedEOF.
    throw new Error(syntaxError === "unexpected end of JSON input" ? "unexpected EOF" : syntaxError);
  }
  const json: unknown = JSON.parse(fromUtf8(body));
  if (json === null) return NOTHING;
  refuseAsGo(requireMessage(typeName), json, chainName);
  return messageFromJson(typeName, json, chainName);
}

/** Throws the errors of Go's `jsonpb` for the top level of a message. `messageFromJson` finds errors further down. */
function refuseAsGo(desc: DescMessage, json: unknown, chainName: string): void {
  if (!isRecord(json)) {
    throw new Error(
      `json: cannot unmarshal ${goKind(json)} into Go value of type map[string]json.RawMessage`,
    );
  }
  const known = new Set<string>();
  for (const field of desc.fields) {
    known.add(field.name).add(field.jsonName);
    const value = json[field.name] ?? json[field.jsonName];
    if (field.fieldKind === "scalar" && field.scalar === ScalarType.BYTES && typeof value === "string") {
      goBase64Decode(value);
    }
    if (field.fieldKind === "enum" && typeof value === "string") {
      if (field.enum.values.some(({ name }) => name === value)) continue;
      const name = toChainTypeUrl(field.enum.typeName, chainName);
      throw new Error(`unknown value ${JSON.stringify(value)} for enum ${name}`);
    }
  }
  const unknown = Object.keys(json).find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new Error(`unknown field ${JSON.stringify(unknown)} in ${goTypeName(desc).slice(1)}`);
  }
}
