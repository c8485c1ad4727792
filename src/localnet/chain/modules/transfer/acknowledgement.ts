import { equalBytes, fromUtf8, latin1, toBase64, utf8, upperHex } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { printGoString } from "../../../../platform/base/go-json.ts";
import { Acknowledgement } from "../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { messageFromJson } from "../../../../cosmos/proto/json.ts";
import type { ModuleError } from "../../runtime/errors.ts";
import { ErrIbcInvalidType, ErrIbcUnknownRequest, ErrInvalidAcknowledgement } from "./errors.ts";

/** What the receiver replied. */
export type Reply =
  | { readonly kind: "result"; readonly result: Uint8Array }
  | { readonly kind: "error"; readonly error: string };

/** The acknowledgement of a transfer that succeeded: the result is one byte 1. */
export const SUCCESS: { readonly success: true; readonly bytes: Uint8Array } = {
  success: true,
  bytes: encodeReply({ kind: "result", result: Uint8Array.of(1) }),
};

/** Creates the acknowledgement of an error. It has the code only: the text of an error need not be deterministic. */
export function errorAcknowledgement({ code }: Pick<ModuleError, "code">): {
  readonly success: false;
  readonly bytes: Uint8Array;
} {
  const error = `ABCI code: ${code}: error handling packet: see events for details`;
  return { success: false, bytes: encodeReply({ kind: "error", error }) };
}

/** Decodes an acknowledgement. Throws ibc/4 for other bytes, channel/16 for another spelling of the same. */
export function decodeReply(bytes: Uint8Array): Reply {
  const reply = parseReply(bytes);
  const expected = encodeReply(reply);
  if (equalBytes(expected, bytes)) return reply;
  throw ErrInvalidAcknowledgement(
    `acknowledgement did not marshal to expected bytes: ${upperHex(expected)} ≠ ${upperHex(bytes)}`,
  );
}

/** Prints a reply as Go prints the protobuf message: with a space at the end, and bytes as octal numbers. */
export function goReply(reply: Reply): string {
  return reply.kind === "result"
    ? `result:"${escapeBytes(reply.result)}" `
    : `error:"${escapeBytes(utf8(reply.error))}" `;
}

function parseReply(bytes: Uint8Array): Reply {
  const { response } = decodeAcknowledgement(bytes);
  if (response === undefined)
    throw ErrIbcInvalidType("the acknowledgement has neither a result nor an error");
  return response.$case === "result"
    ? { kind: "result", result: response.value }
    : { kind: "error", error: response.value };
}

function decodeAcknowledgement(bytes: Uint8Array): Acknowledgement {
  try {
    const json: unknown = JSON.parse(fromUtf8(bytes));
    return Acknowledgement.decode(messageFromJson("ibc.core.channel.v1.Acknowledgement", json));
  } catch (error) {
    throw ErrIbcUnknownRequest(
      `cannot unmarshal ICS-20 transfer packet acknowledgement: ${errorText(error)}`,
    );
  }
}

function encodeReply(reply: Reply): Uint8Array {
  return utf8(
    reply.kind === "result"
      ? `{"result":"${toBase64(reply.result)}"}`
      : `{"error":${printGoString(reply.error)}}`,
  );
}

function escapeBytes(bytes: Uint8Array): string {
  return latin1(bytes).replace(
    // oxlint-disable-next-line no-control-regex -- Go escapes everything that is no printable ASCII.
    /["\\]|[^ -~]/g,
    (character) => ESCAPES.get(character) ?? `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);
