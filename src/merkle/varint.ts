/** Bytes of an unsigned varint, least significant group first. `value` is a safe integer at or above zero. */
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

/** Bytes, prefixed with their length as an unsigned varint. */
export function lengthPrefixed(bytes: Uint8Array): Uint8Array {
  const prefix = encodeUvarint(bytes.length);
  const joined = new Uint8Array(prefix.length + bytes.length);
  joined.set(prefix);
  joined.set(bytes, prefix.length);
  return joined;
}
