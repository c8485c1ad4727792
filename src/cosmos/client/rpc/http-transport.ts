import { abortReason } from "../../../platform/base/abort.ts";
import { Buffer } from "node:buffer";
import { Pool } from "undici";
import { isRecord } from "../../../platform/base/json.ts";
import type { ParsedEndpoint } from "../endpoints/endpoint.ts";
import { ClientError } from "../errors.ts";

/** Response to one POST. */
export interface HttpResponse {
  readonly status: number;
  readonly body: string;
}

/** Sends JSON bodies to one endpoint. */
export interface HttpTransport {
  /** Sends one body. Rejects with `unreachable`, `too-large`, `closed` or the signal's reason. Has no deadline of its own. */
  readonly post: (body: string, signal: AbortSignal) => Promise<HttpResponse>;
  /** Destroys all connections. Requests in flight reject with `closed`. */
  readonly close: () => void;
}

/** Limits of a transport. */
export interface HttpTransportOptions {
  /** Largest number of connections to the endpoint. Further requests wait for a free one. */
  readonly connections: number;
  readonly connectTimeoutMs: number;
  /** A longer response rejects with `too-large`. */
  readonly maxResponseBytes: number;
}

/** Creates a transport over a pool of keep-alive connections. */
export function createHttpTransport(endpoint: ParsedEndpoint, options: HttpTransportOptions): HttpTransport {
  // The caller's signal is the only deadline. With undici's own timeouts the error would depend on which fires first.
  const pool = new Pool(endpoint.origin, {
    connections: options.connections,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: options.connectTimeoutMs },
  });
  const headers = { ...endpoint.headers, "content-type": "application/json", accept: "application/json" };
  const post = async (body: string, signal: AbortSignal): Promise<HttpResponse> => {
    try {
      const response = await pool.request({ method: "POST", path: endpoint.path, headers, body, signal });
      return { status: response.statusCode, body: await readBounded(response.body, endpoint.name, options) };
    } catch (error) {
      throw toClientError(error, endpoint.name, signal);
    }
  };
  const close = (): void => {
    pool.destroy().catch(() => {});
  };
  return { post, close };
}

/** Reads the complete body. Throwing inside the loop destroys the stream and its connection. */
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
        `the response of ${endpoint} has more than ${maxResponseBytes} bytes`,
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
    `${endpoint} is unreachable or closed the connection (${reason})`,
  );
}

/**
 * Returns the code of a socket error, such as ECONNREFUSED. A host name with several addresses yields an AggregateError
 * with one error for each address.
 */
function errorCode(error: unknown): string {
  if (error instanceof AggregateError) {
    const [first] = error.errors;
    if (first !== undefined) return errorCode(first);
  }
  if (isRecord(error) && typeof error["code"] === "string") return error["code"];
  return error instanceof Error ? error.name : "unknown";
}
