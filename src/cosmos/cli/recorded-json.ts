import { z } from "zod";
import { fromBase64, fromHex } from "../../platform/base/bytes.ts";

/** Hex in either case, parsed to bytes. */
export const hexBytes = z.string().transform((text, context) => toBytes(text, fromHex, context));

/** Standard base64, parsed to bytes. */
export const base64Bytes = z.string().transform((text, context) => toBytes(text, fromBase64, context));

/** A height or count, as number or decimal text, parsed to bigint. */
export const wholeNumber = z
  .union([z.int().min(0), z.string().regex(/^\d{1,20}$/)])
  .transform((value) => BigInt(value));

/** A recorded block. `signed_header` and `validators` have the form of CometBFT RPC. */
export const recordedBlock = z.object({
  height: wholeNumber,
  signed_header: z.unknown(),
  validators: z.unknown(),
});

function toBytes(
  text: string,
  decode: (text: string) => Uint8Array,
  context: { readonly addIssue: (message: string) => void },
): Uint8Array {
  try {
    return decode(text);
  } catch (error) {
    context.addIssue(error instanceof Error ? error.message : "does not decode");
    return z.NEVER;
  }
}
