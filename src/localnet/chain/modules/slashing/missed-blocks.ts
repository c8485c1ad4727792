import { concat, prefixEnd } from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import { MISSED_BLOCKS, MODULE_NAME } from "./keys.ts";

/** Blocks of one bitmap. */
const CHUNK = 1024n;
/** The bitset of Go: the number of bits (8 bytes, big-endian), then words of 64 bits, big-endian. */
const HEADER = 8;

function prefixOf(consensus: Uint8Array): Uint8Array {
  return concat(MISSED_BLOCKS, Uint8Array.of(consensus.length), consensus);
}

function keyOf(consensus: Uint8Array, index: bigint): Uint8Array {
  const chunk = new Uint8Array(8);
  new DataView(chunk.buffer).setBigUint64(0, index / CHUNK, true);
  return concat(prefixOf(consensus), chunk);
}

/** Byte and bit of a block in its bitmap. Words are big-endian, so bit 0 is in the last byte of the first word. */
function placeOf(index: bigint): { readonly byte: number; readonly bit: number } {
  const at = Number(index % CHUNK);
  const inWord = at % 64;
  return { byte: HEADER + Math.floor(at / 64) * 8 + (7 - Math.floor(inWord / 8)), bit: inWord % 8 };
}

/** Whether the validator missed the block of an index of the window. */
export function hasMissed(context: Context, consensus: Uint8Array, index: bigint): boolean {
  const { byte, bit } = placeOf(index);
  const bitmap = context.store(MODULE_NAME).get(keyOf(consensus, index));
  return (((bitmap?.[byte] ?? 0) >> bit) & 1) === 1;
}

export function setMissed(context: Context, consensus: Uint8Array, index: bigint, missed: boolean): void {
  const store = context.store(MODULE_NAME);
  const key = keyOf(consensus, index);
  const bitmap = store.get(key)?.slice() ?? emptyBitmap();
  const { byte, bit } = placeOf(index);
  const others = (bitmap[byte] ?? 0) & ~(1 << bit);
  bitmap[byte] = missed ? others | (1 << bit) : others;
  store.set(key, bitmap);
}

/** Forgets all missed blocks of a validator. */
export function clearMissed(context: Context, consensus: Uint8Array): void {
  const store = context.store(MODULE_NAME);
  const prefix = prefixOf(consensus);
  for (const [key] of store.iterate(prefix, prefixEnd(prefix))) store.delete(key);
}

function emptyBitmap(): Uint8Array {
  const bitmap = new Uint8Array(HEADER + Number(CHUNK) / 8);
  new DataView(bitmap.buffer).setBigUint64(0, CHUNK);
  return bitmap;
}
