import { latin1 } from "../../../platform/base/bytes.ts";

/** A key as latin-1 text. It works as a map key, and the order of such texts is the order of the bytes. */
export type KeyText = string;

const TEXT = Symbol("key text");

/** A key that may carry its text. */
interface TextHolder extends Uint8Array {
  [TEXT]?: KeyText;
}

/** Up to this length, appending characters is faster than a call to Buffer. */
const SHORT_KEY = 12;

/** Returns the text of a key: the kept one, or a new one. */
export function keyText(key: Uint8Array): KeyText {
  const { [TEXT]: kept }: TextHolder = key;
  if (kept !== undefined) return kept;
  if (key.length > SHORT_KEY) return latin1(key);
  let text = "";
  for (let at = 0; at < key.length; at++) text += String.fromCharCode(key[at] ?? 0);
  return text;
}

/** Keeps the text with a key that is used again and again, and returns the key. Nobody may modify it afterwards. */
export function keepKeyText(key: TextHolder): Uint8Array {
  key[TEXT] = latin1(key);
  return key;
}
