/** Maximum nesting depth that Go's decoder accepts. */
const MAX_DEPTH = 10_000;

/** The kind of element expected inside an open bracket, in the words of Go's error messages ("after array element"). */
type Parent = "object key" | "object key:value pair" | "array element";

/** The element expected inside each open bracket, innermost last. */
type Parents = Parent[];

/** A parser state: takes a byte and returns the next state, or the rest of the error message "invalid character 'x' …". */
type Step = (byte: number, parents: Parents) => Step | string;

/**
 * Checks JSON syntax as Go's `encoding/json` does. Returns undefined if the bytes are one valid JSON value, and otherwise Go's
 * error message, for example "unexpected end of JSON input". The check runs in linear time, without recursion.
 */
export function goJsonSyntaxError(bytes: Uint8Array): string | undefined {
  return firstError(bytes)?.text;
}

/**
 * Returns the first JSON value in the bytes, as Go's `json.Decoder` (and so the SDK's codec) reads it. If that value is invalid,
 * returns the bytes before the error.
 */
export function firstGoJson(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, firstError(bytes)?.at);
}

function firstError(bytes: Uint8Array): { readonly at: number; readonly text: string } | undefined {
  const parents: Parents = [];
  let step: Step = beginValue;
  let at = 0;
  for (const byte of bytes) {
    const next = step(byte, parents);
    if (typeof next === "string") return { at, text: `invalid character ${quoteByte(byte)} ${next}` };
    step = next;
    at += 1;
  }
  if (step(0x20, parents) === endTop) return undefined;
  return { at, text: "unexpected end of JSON input" };
}

function beginValue(byte: number, parents: Parents): Step | string {
  if (isSpace(byte)) return beginValue;
  const character = String.fromCharCode(byte);
  if (character === "{") return open(parents, "object key", beginKeyOrEnd);
  if (character === "[") return open(parents, "array element", beginValueOrEnd);
  if (character === '"') return inString;
  if (character === "-") return afterMinus;
  if (character === "0") return afterInteger;
  if (isDigit(byte)) return inInteger;
  const word = LITERALS.get(character);
  return word === undefined ? "looking for beginning of value" : inLiteral(word, 1);
}

const LITERALS: ReadonlyMap<string, string> = new Map([
  ["t", "true"],
  ["f", "false"],
  ["n", "null"],
]);

function open(parents: Parents, parent: Parent, next: Step): Step | string {
  parents.push(parent);
  return parents.length > MAX_DEPTH ? "exceeded max depth" : next;
}

function close(parents: Parents): Step {
  parents.pop();
  return parents.length === 0 ? endTop : endValue;
}

function beginValueOrEnd(byte: number, parents: Parents): Step | string {
  if (isSpace(byte)) return beginValueOrEnd;
  return byte === 0x5d ? close(parents) : beginValue(byte, parents);
}

function beginKeyOrEnd(byte: number, parents: Parents): Step | string {
  if (isSpace(byte)) return beginKeyOrEnd;
  return byte === 0x7d ? close(parents) : beginKey(byte);
}

function beginKey(byte: number): Step | string {
  if (isSpace(byte)) return beginKey;
  return byte === 0x22 ? inString : "looking for beginning of object key string";
}

function endValue(byte: number, parents: Parents): Step | string {
  const parent = parents.at(-1);
  if (parent === undefined) return endTop(byte);
  if (isSpace(byte)) return endValue;
  if (parent === "object key" && byte === 0x3a) return replace(parents, "object key:value pair", beginValue);
  if (parent === "object key:value pair") {
    if (byte === 0x2c) return replace(parents, "object key", beginKey);
    if (byte === 0x7d) return close(parents);
  }
  if (parent === "array element") {
    if (byte === 0x2c) return beginValue;
    if (byte === 0x5d) return close(parents);
  }
  return `after ${parent}`;
}

function replace(parents: Parents, parent: Parent, next: Step): Step {
  parents[parents.length - 1] = parent;
  return next;
}

function endTop(byte: number): Step | string {
  return isSpace(byte) ? endTop : "after top-level value";
}

function inString(byte: number): Step | string {
  if (byte === 0x22) return endValue;
  if (byte === 0x5c) return inEscape;
  return byte < 0x20 ? "in string literal" : inString;
}

function inEscape(byte: number): Step | string {
  const character = String.fromCharCode(byte);
  if (character === "u") return inUnicodeEscape(4);
  return '"\\/bfnrt'.includes(character) ? inString : "in string escape code";
}

function inUnicodeEscape(left: number): Step {
  return (byte) => {
    if (!isHex(byte)) return "in \\u hexadecimal character escape";
    return left === 1 ? inString : inUnicodeEscape(left - 1);
  };
}

function afterMinus(byte: number): Step | string {
  if (byte === 0x30) return afterInteger;
  return isDigit(byte) ? inInteger : "in numeric literal";
}

function inInteger(byte: number, parents: Parents): Step | string {
  return isDigit(byte) ? inInteger : afterInteger(byte, parents);
}

function afterInteger(byte: number, parents: Parents): Step | string {
  if (byte === 0x2e) return afterPoint;
  return isExponentSign(byte) ? beginExponent : endValue(byte, parents);
}

function afterPoint(byte: number): Step | string {
  return isDigit(byte) ? inFraction : "after decimal point in numeric literal";
}

function inFraction(byte: number, parents: Parents): Step | string {
  if (isDigit(byte)) return inFraction;
  return isExponentSign(byte) ? beginExponent : endValue(byte, parents);
}

function beginExponent(byte: number): Step | string {
  return byte === 0x2b || byte === 0x2d ? firstExponentDigit : firstExponentDigit(byte);
}

function firstExponentDigit(byte: number): Step | string {
  return isDigit(byte) ? inExponent : "in exponent of numeric literal";
}

function inExponent(byte: number, parents: Parents): Step | string {
  return isDigit(byte) ? inExponent : endValue(byte, parents);
}

function inLiteral(word: string, at: number): Step {
  return (byte) => {
    const expected = word.charAt(at);
    if (byte !== expected.charCodeAt(0)) return `in literal ${word} (expecting '${expected}')`;
    return at + 1 === word.length ? endValue : inLiteral(word, at + 1);
  };
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x61 && byte <= 0x66) || (byte >= 0x41 && byte <= 0x46);
}

function isExponentSign(byte: number): boolean {
  return byte === 0x65 || byte === 0x45;
}

const ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x07, "\\a"],
  [0x08, "\\b"],
  [0x09, "\\t"],
  [0x0a, "\\n"],
  [0x0b, "\\v"],
  [0x0c, "\\f"],
  [0x0d, "\\r"],
  [0x27, "\\'"],
  [0x5c, "\\\\"],
]);

/** Quotes a byte as Go does: as the Latin-1 character with this code. */
function quoteByte(byte: number): string {
  const escaped = ESCAPES.get(byte);
  if (escaped !== undefined) return `'${escaped}'`;
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, "0")}'`;
  const printable = byte < 0x7f || (byte > 0xa0 && byte !== 0xad);
  return printable ? `'${String.fromCharCode(byte)}'` : `'\\u00${byte.toString(16)}'`;
}
