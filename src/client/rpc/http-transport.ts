import { abortReason } from "../../base/abort.ts";
import { Buffer } from "node:buffer";
import { Pool } from "undici";
import { isRecord } from "../../base/json.ts";
import type { ParsedEndpoint } from "../endpoints/endpoint.ts";
import { ClientError } from "../errors.ts";

/** Answer of one POST. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** Carries JSON texts to one endpoint. */
export interface HttpTransport {
  /** Sends one body; rejects with `unreachable`, `too-large`, `closed`, or the signal's reason. The caller sets the deadline. */
  readonly post: (body: string, signal: AbortSignal) => Promise<HttpAnswer>;
  /** Breaks every connection; what is under way rejects with `closed`. */
  readonly close: () => void;
}

/** Bounds of a transport. */
export interface HttpTransportOptions {
  /** Connections held open to the endpoint; further requests wait for one. */
  readonly connections: number;
  readonly connectTimeoutMs: number;
  /** An answer longer than this is given up. */
  readonly maxResponseBytes: number;
}

/** Creates a transport over a pool of kept-alive connections. */
export function createHttpTransport(endpoint: ParsedEndpoint, options: HttpTransportOptions): HttpTransport {
  // The caller's signal is the only deadline; undici's own timers would only blur which one fired.
  const pool = new Pool(endpoint.origin, {
    connections: options.connections,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: options.connectTimeoutMs },
  });
  const headers = { ...endpoint.headers, "content-type": "application/json", accept: "application/json" };
  const post = async (body: string, signal: AbortSignal): Promise<HttpAnswer> => {
    try {
      const answer = await pool.request({ method: "POST", path: endpoint.path, headers, body, signal });
      return { status: answer.statusCode, body: await readBounded(answer.body, endpoint.name, options) };
    } catch (error) {
      throw toClientError(error, endpoint.name, signal);
    }
  };
  const close = (): void => {
    pool.destroy().catch(() => {});
  };
  return { post, close };
}

/** Reads a body whole; leaving the loop early destroys the stream and with it the connection. */
async function readBounded(
  body: AsyncIterable<Uint8Array>,
  endpoint: string,
  { maxResponseBytes }: HttpTransportOptions,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxResponseBytes)
      throw new ClientError(
        { code: "too-large", endpoint, limitBytes: maxResponseBytes },
        `${endpoint} answered with more than ${maxResponseBytes} bytes`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString("utf8");
}

function toClientError(error: unknown, endpoint: string, signal: AbortSignal): Error {
  if (error instanceof ClientError) return error;
  if (signal.aborted) return abortReason(signal);
  const reason = errorCode(error);
  if (reason === "UND_ERR_DESTROYED" || reason === "UND_ERR_CLOSED")
    return new ClientError({ code: "closed" }, "the client is closed");
  return new ClientError(
    { code: "unreachable", endpoint, reason },
    `${endpoint} cannot be reached or broke off (${reason})`,
  );
}

/** The machine code of a socket error; connection attempts to several addresses arrive as an AggregateError. */
function errorCode(error: unknown): string {
  if (error instanceof AggregateError) {
    const [first] = error.errors;
    if (first !== undefined) return errorCode(first);
  }
  if (isRecord(error) && typeof error["code"] === "string") return error["code"];
  return error instanceof Error ? error.name : "unknown";
}
