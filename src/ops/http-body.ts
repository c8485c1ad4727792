import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { CodedError } from "../base/errors.ts";

/** A request body larger than the server takes. */
export class BodyTooLargeError extends CodedError<{
  readonly code: "body-too-large";
  readonly limitBytes: number;
}> {}

/** Reads a whole request body of at most `limitBytes`. @throws {BodyTooLargeError} as soon as it is longer. */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  if (Number(request.headers["content-length"] ?? "0") > limitBytes) throw tooLarge(limitBytes);
  const stream: AsyncIterable<Uint8Array> = request;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > limitBytes) throw tooLarge(limitBytes);
    chunks.push(bytes);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

function tooLarge(limitBytes: number): BodyTooLargeError {
  return new BodyTooLargeError(
    { code: "body-too-large", limitBytes },
    `the request body is larger than ${limitBytes} bytes`,
  );
}
