import { hash } from "node:crypto";

const HASH_BYTES = 32;

/**
 * Computes SHA-256: 32 bytes.
 *
 * Node returns the "binary" string in a quarter of the time that it needs for a Buffer. The copied array is small enough
 * for the heap of the engine, so it costs no allocation outside of it.
 */
export function sha256(bytes: Uint8Array): Uint8Array {
  const text = hash("sha256", bytes, "binary");
  const digest = new Uint8Array(HASH_BYTES);
  for (let index = 0; index < HASH_BYTES; index++) digest[index] = text.charCodeAt(index);
  return digest;
}
