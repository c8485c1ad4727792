// Part of generate.mjs: rewrites the codecs from ts-proto so that they all decode messages as a Go node does.

/** In Go, fields of these types are plain values: a field that occurs again is replaced, not merged. */
const REPLACED = ["Timestamp", "Duration"];

/** ts-proto declares the codecs' common type in every file. */
const MESSAGE_FNS = /\nexport interface MessageFns<T> \{\n[^}]*\}\n/;
/** ts-proto indents a codec with a long name by one more level. */
const INDENTED_CODEC = /^(export const \w+: MessageFns<\w+> =)\n {2}\{\n([\s\S]*?)^ {2}\};\n/gm;
/** Matches the method `decode`. Captures the message's type, its initial value, and the cases for its fields. */
const DECODE =
  /^ {2}decode\(input: [^)]*\): (\w+) \{\n[\s\S]*?const message = (\w+\(\));\n[\s\S]*?switch \(tag >>> 3\) \{\n([\s\S]*?)^ {8}\}\n[\s\S]*?^ {2}\},\n/gm;
const FIELD = /^ {10}case \d+: \{\n([\s\S]*?)^ {10}\}\n/gm;
const ONE_TAG = /^ {12}if \(tag !== (\d+)\) \{\n {14}break;\n {12}\}\n\n([\s\S]*)^ {12}continue;\n/m;
/** A repeated number field has two tags: one for a single number and one for a packed list. */
const TAG_OF_NUMBERS = /^ {12}if \(tag === (\d+)\) \{\n([\s\S]*?)\n {14}continue;\n {12}\}\n/gm;
const NESTED_MESSAGE = /(message\.\w+) = (\w+)\.decode\(reader, reader\.uint32\(\)\);/g;

/**
 * Rewrites a file from ts-proto so that `decodeFields` in message-fns.ts decodes its messages. A message field that occurs again
 * is merged, as protobuf requires and gogoproto does; ts-proto would replace it. Throws if the code has an unexpected form.
 */
export function rewriteCodecs(source) {
  const codecs = source
    .replace(MESSAGE_FNS, "")
    .replaceAll(INDENTED_CODEC, (_, head, body) => `${head} {\n${body.replaceAll(/^ {2}/gm, "")}};\n`);
  const rewritten = codecs.replaceAll(DECODE, (_, type, initial, fields) => {
    const decodeField =
      fields === "" ? "() => false" : `(message, tag, reader) => {\n${decodeFieldBody(fields)}    }`;
    return (
      `  decode(input: MessageReader | Uint8Array, length?: number, previous?: ${type}): ${type} {\n` +
      `    return decodeFields(input, length, previous ?? ${initial}, ${decodeField});\n  },\n`
    );
  });
  const unknown = /.*(?:BinaryReader \||\bcontinue;|tag !==|tag ===).*/.exec(rewritten);
  if (unknown !== null) throw new Error(`a codec of ts-proto has an unknown form: ${unknown[0].trim()}`);
  return rewritten;
}

function decodeFieldBody(fields) {
  const cases = fields.replaceAll(FIELD, (_, field) => {
    const one = ONE_TAG.exec(field);
    const tags = one === null ? [...field.matchAll(TAG_OF_NUMBERS)] : [one];
    return tags.map(([, tag, body]) => tagCase(tag, body)).join("");
  });
  return `      switch (tag) {\n${cases}      }\n      return false;\n`;
}

function tagCase(tag, body) {
  const indented = /^ */.exec(body)[0].length;
  const statements = body
    .trimEnd()
    .split("\n")
    .map((line) => `${" ".repeat(10)}${line.slice(indented)}\n`)
    .join("")
    .replaceAll(NESTED_MESSAGE, (text, field, type) =>
      REPLACED.includes(type) ? text : `${field} = ${type}.decode(reader, reader.uint32(), ${field});`,
    );
  const [open, close] = /^ {10}const /m.test(statements) ? [" {", "        }\n"] : ["", ""];
  return `        case ${tag}:${open}\n${statements}          return true;\n${close}`;
}
