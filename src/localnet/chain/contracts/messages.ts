import { isRecord, JsonField } from "../../../platform/base/json.ts";
import * as wasm from "../modules/wasm/contract.ts";

/** Wraps a message's fields for reading. Reading a field of the wrong type throws a `ContractError` with the field's path. */
export function messageFields(value: unknown): JsonField {
  return new JsonField(value, "", (path, expected) => new wasm.ContractError(`${path}: not ${expected}`));
}

/** Returns a message's name and fields. A message is an object with one member, because serde serializes a Rust enum in this format. */
function readMessage(message: wasm.MessageJson): readonly [name: string, fields: JsonField] {
  const entries = isRecord(message) ? Object.entries(message) : [];
  const [name, fields] = entries[0] ?? ["", undefined];
  if (entries.length !== 1 || !isRecord(fields))
    throw new wasm.ContractError("Error parsing into type Message: expected one variant with fields");
  return [name, messageFields(fields)];
}

/**
 * Creates an entry point that passes each message to the handler of the same name. For an unknown name, throws an error that
 * contains `type`, the name of the Rust enum.
 */
export function byName<T>(
  type: string,
  handlers: Readonly<Record<string, (scope: wasm.ContractScope, fields: JsonField) => T>>,
): (scope: wasm.ContractScope, message: wasm.MessageJson) => T {
  return (scope, message) => {
    const [name, fields] = readMessage(message);
    const handle = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
    if (handle === undefined) throw unknownVariant(type, name, Object.keys(handlers));
    return handle(scope, fields);
  };
}

/** Creates a contract response that contains only attributes, without messages or data. */
export function respond(attributes: Readonly<Record<string, string>>): wasm.ContractResponse {
  return {
    ...wasm.NO_RESPONSE,
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value })),
  };
}

/** Returns the string in a field. Throws `ContractError` if the field is missing or has another type. */
export function text(fields: JsonField, name: string): string {
  return fields.member(name).required().asText();
}

/** Creates the error for an unknown message name, with the error text of a Rust contract. */
export function unknownVariant(type: string, name: string, known: readonly string[]): wasm.ContractError {
  const expected = known.map((each) => `\`${each}\``).join(known.length === 2 ? " or " : ", ");
  const list = known.length <= 2 ? `expected ${expected}` : `expected one of ${expected}`;
  return new wasm.ContractError(`Error parsing into type ${type}: unknown variant \`${name}\`, ${list}`);
}

/** Returns the list of strings in a field. Throws `ContractError` if the field is missing or has another type. */
export function texts(fields: JsonField, name: string): string[] {
  return fields
    .member(name)
    .required()
    .elements()
    .map((each) => each.asText());
}
