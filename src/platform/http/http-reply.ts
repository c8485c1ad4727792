import { stringifyJson } from "../base/json.ts";
import type { HttpStream } from "./http-stream.ts";

/** The response of a handler. The server adds `Content-Length`, except to a stream. */
export interface HttpReply {
  readonly status: number;
  /** A list of values repeats the header. */
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body: string | Uint8Array;
  /** Written instead of `body`. */
  readonly stream?: HttpStream;
}

/** A JSON reply; a bigint prints as a decimal string. */
export function jsonReply(status: number, value: unknown): HttpReply {
  return {
    status,
    headers: { "Content-Type": "application/json; charset=utf-8", "X-Content-Type-Options": "nosniff" },
    body: `${stringifyJson(value)}\n`,
  };
}

/** A plain text reply. */
export function textReply(status: number, text: string): HttpReply {
  return {
    status,
    headers: { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" },
    body: text,
  };
}

/** The JSON form of every error reply: `{"error": code, "message": text}`. */
export function errorReply(status: number, code: string, message: string): HttpReply {
  return jsonReply(status, { error: code, message });
}
