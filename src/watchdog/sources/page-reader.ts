import { Agent, request } from "undici";
import { SourceError } from "./source-failure.ts";

/** An answer whose body has not been read yet. */
export interface Page {
  readonly status: number;
  readonly contentType: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Gets a page; rejects when nobody answers. The signal also ends the reading of the body. */
export type PageReader = (url: string, signal: AbortSignal) => Promise<Page>;

/** A {@link PageReader} over HTTP. */
export interface HttpPageReader {
  readonly read: PageReader;
  /** Cuts all connections. */
  readonly close: () => Promise<void>;
}

/** Creates a reader that keeps connections and follows no redirects. */
export function createHttpPageReader(): HttpPageReader {
  const dispatcher = new Agent({
    connections: 2,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    maxHeaderSize: 16_384,
  });
  const read: PageReader = async (url, signal) => {
    const { statusCode, headers, body } = await request(url, { dispatcher, signal });
    const type = headers["content-type"];
    return { status: statusCode, contentType: (Array.isArray(type) ? type[0] : type) ?? "", body };
  };
  return { read, close: () => dispatcher.destroy() };
}

/** Hands over the body of a good page chunk by chunk. @throws {SourceError} at another status or beyond `maxBytes`. */
export async function eachChunk(
  page: Page,
  maxBytes: number,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  let length = 0;
  for await (const chunk of page.body) {
    length += chunk.length;
    if (length > maxBytes)
      throw new SourceError({ code: "too-large" }, `the page is larger than ${maxBytes} bytes`);
    take(chunk);
  }
}

/** Reads the rest of an answer that nobody needs, so that its connection can be used again. */
export async function drain(page: Page): Promise<void> {
  await eachChunk(page, 1024 * 1024, () => {});
}

/** The error of an answer that is not 200. */
export function statusError(status: number): SourceError {
  return new SourceError({ code: "http-status" }, `it answered HTTP ${status}`);
}
