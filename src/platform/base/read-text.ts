import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Maximum size of a configuration, variables or secret file. */
export const MAX_SETTINGS_BYTES = 1_048_576;

const CHUNK_BYTES = 65_536;

/** Maximum wait for a silent pipe or terminal. The wait is synchronous, so it blocks the process's signal handlers. */
const SILENCE_MS = 10_000;
const PAUSE_MS = 10;

/**
 * Reads a UTF-8 file of at most `maxBytes`. The file may also be a device or a pipe, whose size is unknown. Throws if the file
 * cannot be read or is larger, or if a pipe or terminal provides no input for `silenceMs`.
 */
export function readTextFile(path: string, maxBytes: number, silenceMs = SILENCE_MS): string {
  // Without O_NONBLOCK, which Windows does not define, opening a named pipe without a writer would never return.
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    for (;;) {
      const chunk = readChunk(descriptor, length === 0, silenceMs);
      if (chunk.length === 0) return Buffer.concat(chunks, length).toString("utf8");
      length += chunk.length;
      if (length > maxBytes) throw new Error(`it exceeds ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Waits for the next bytes, or returns an empty buffer at the end of the file. The first call also waits for a pipe's writer. */
function readChunk(descriptor: number, isFirst: boolean, silenceMs: number): Buffer {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const isUnopened = isFirst && fstatSync(descriptor).isFIFO();
  for (let leftMs = silenceMs; leftMs > 0; leftMs -= PAUSE_MS) {
    const length = readNow(descriptor, chunk);
    if (length !== undefined && (length > 0 || !isUnopened)) return chunk.subarray(0, length);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
  throw new Error(`nothing was written to it for ${silenceMs / 1000} s`);
}

/** Reads the next bytes, or returns undefined if none have arrived yet. */
function readNow(descriptor: number, chunk: Buffer): number | undefined {
  try {
    return readSync(descriptor, chunk);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EAGAIN") return undefined;
    throw error;
  }
}

/** Reads a response body of at most `maxBytes` as UTF-8. Throws if the body is larger, which also closes its connection. */
export async function readTextBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`the response exceeds ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length).toString("utf8");
}
