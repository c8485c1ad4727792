import { Agent, request } from "undici";
import { SourceError } from "./source-failure.ts";

/** An HTTP response with an unread body. */
export interface Page {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array>;
  /** Clock of the server, from its `Date` header, to the second. */
  readonly clockMs?: number;
}

/** Requests a page. Rejects when there is no response. The signal also ends the reading of the body. */
export type PageReader = (url: string, signal: AbortSignal) => Promise<Page>;

/** A {@link PageReader} over HTTP. */
export interface HttpPageReader {
  readonly read: PageReader;
  /** Closes all connections, also those in use. */
  readonly close: () => Promise<void>;
}

/** Creates a reader that reuses connections. It returns a redirect as a response and does not follow it. */
export function createHttpPageReader(): HttpPageReader {
  const dispatcher = new Agent({
    // Connections per origin. Two sources can have the same host and port.
    connections: 2,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    maxHeaderSize: 16_384,
  });
  const read: PageReader = async (url, signal) => {
    const { statusCode, body, headers } = await request(url, { dispatcher, signal });
    const clockMs = Date.parse(String(headers["date"]));
    return { status: statusCode, body, ...(Number.isNaN(clockMs) ? {} : { clockMs }) };
  };
  return { read, close: () => dispatcher.destroy() };
}

/** Calls `onChunk` with each chunk of the body. Throws {@link SourceError} when the body exceeds `maxBytes`. */
export async function forEachChunk(
  page: Page,
  maxBytes: number,
  onChunk: (chunk: Uint8Array) => void,
): Promise<void> {
  let length = 0;
  for await (const chunk of page.body) {
    length += chunk.length;
    if (length > maxBytes)
      throw new SourceError({ code: "too-large" }, `the page is larger than ${maxBytes} bytes`);
    onChunk(chunk);
  }
}

/** Returns the page when its status is 200. Throws {@link SourceError} for any other status. */
export async function requireOk(page: Page): Promise<Page> {
  if (page.status === 200) return page;
  await drain(page);
  throw new SourceError({ code: "http-status" }, `the source answered HTTP ${page.status}`);
}

/** Reads and drops a body of at most 1 MiB. A connection can be used again only when its response was read to the end. */
export async function drain(page: Page): Promise<void> {
  await forEachChunk(page, 1024 * 1024, () => {});
}
