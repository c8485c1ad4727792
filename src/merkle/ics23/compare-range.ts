import { Buffer } from "node:buffer";

/** Up to this length a comparison by hand is quicker than a call into the runtime. */
const SHORT = 64;

/** Whether `part` is what `bytes` holds from `start` to `end`. */
export function equalRange(part: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (part.length !== end - start) return false;
  if (part.length > SHORT) return Buffer.compare(part, bytes.subarray(start, end)) === 0;
  for (let at = 0; at < part.length; at++) if (part[at] !== bytes[start + at]) return false;
  return true;
}
