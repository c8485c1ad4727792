/**
 * Bytes as a Go program prints them into JSON text: valid UTF-8 as it is, every other byte as U+FFFD.
 * `TextDecoder` differs: it replaces a cut sequence as a whole.
 */
export function textOfRawBytes(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    text += length === 0 ? "\ufffd" : decoder.decode(bytes.subarray(at, at + length));
    at += Math.max(1, length);
  }
  return text;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Length of the valid UTF-8 sequence at a place; 0 when there is none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  try {
    return at + length <= bytes.length && decoder.decode(bytes.subarray(at, at + length)) !== "" ? length : 0;
  } catch {
    return 0;
  }
}
