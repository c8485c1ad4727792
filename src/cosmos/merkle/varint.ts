/** Encodes an unsigned varint. `value` is a safe integer, at least 0. */
export function encodeUvarint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

/** Returns the length of the bytes as an unsigned varint, followed by the bytes. */
export function lengthPrefixed(bytes: Uint8Array): Uint8Array {
  const prefix = encodeUvarint(bytes.length);
  const joined = new Uint8Array(prefix.length + bytes.length);
  joined.set(prefix);
  joined.set(bytes, prefix.length);
  return joined;
}
