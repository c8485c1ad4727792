import { CodedError, errorMessage, errorText } from "../../../platform/base/errors.ts";
import { isRecord, JsonField, type JsonObject, type JsonValue } from "../../../platform/base/json.ts";
import { messageFromJson, messageToJson } from "../../../cosmos/proto/json.ts";
import { CANONICAL_CHAIN_NAME } from "../../../cosmos/proto/registry.ts";
import type { ProtoVariant } from "../../../cosmos/proto/variant.ts";

/** Thrown for an invalid genesis document. `path` is the path of the invalid field, such as "app_state.bank.params". */
export class GenesisError extends CodedError<{ readonly code: "bad-genesis"; readonly path: string }> {
  constructor(path: string, text: string, cause?: unknown) {
    super({ code: "bad-genesis", path }, `${path}: ${text}`, cause === undefined ? {} : { cause });
  }
}

interface MessageType<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

/** Converts a module's genesis state from and to proto JSON, its format in the genesis document. */
export interface GenesisSchema<T> {
  /** Name of the module and of its member in `app_state`. */
  readonly module: string;
  /** Decodes the state, using the field names from `variant`. Returns undefined if `json` is undefined. Throws `GenesisError`. */
  readonly read: (json: JsonValue | undefined, variant?: ProtoVariant) => T | undefined;
  /** Encodes the state as proto JSON, using the field names from `variant`. */
  readonly print: (state: T, variant?: ProtoVariant) => JsonValue;
}

/** Creates the schema that reads and prints a module's genesis state. `typeName` is the full name of the protobuf message. */
export function genesisSchema<T>(module: string, typeName: string, type: MessageType<T>): GenesisSchema<T> {
  return {
    module,
    read: (json, variant) => {
      if (json === undefined) return undefined;
      if (!isRecord(json)) throw new GenesisError(`app_state.${module}`, "expected an object");
      try {
        const bytes = messageFromJson(typeName, json, CANONICAL_CHAIN_NAME, variant);
        return type.decode(variant?.decode(typeName, bytes) ?? bytes);
      } catch (thrown) {
        throw new GenesisError(`app_state.${module}`, errorText(thrown), thrown);
      }
    },
    print: (state, variant) => {
      const bytes = type.encode(state).finish();
      const own = variant?.encode(typeName, bytes) ?? bytes;
      return messageToJson(typeName, own, CANONICAL_CHAIN_NAME, variant);
    },
  };
}

/**
 * Wraps a module's genesis state so that it can be read member by member. A missing state is treated as an empty object. The
 * returned field's methods throw `GenesisError` for values of the wrong type.
 */
export function genesisField(module: string, genesis: JsonValue | undefined): JsonField {
  return new JsonField(genesis ?? {}, `app_state.${module}`, notExpected);
}

function notExpected(path: string, expected: string): GenesisError {
  return new GenesisError(path, `not ${expected}`);
}

/**
 * Returns a message from a decoded genesis state, or `fallback` if the document lacks the message. Checks the JSON, because a
 * missing non-nullable message is decoded to a message with zero values.
 */
export function partOr<T>(json: JsonValue | undefined, name: string, part: T | undefined, fallback: T): T {
  const isGiven = isRecord(json) && json[name] !== undefined && json[name] !== null;
  return isGiven && part !== undefined ? part : fallback;
}

/** Runs `read` for the genesis field at `path`. Converts any error that `read` throws to a `GenesisError` with the path. */
export function atPath<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw new GenesisError(path, errorMessage(thrown), thrown);
  }
}

/** Runs `read` for each item of a list. Converts any error that `read` throws to a `GenesisError` with the item's path. */
export function eachAtPath<T, R>(path: string, items: readonly T[], read: (item: T) => R): readonly R[] {
  return items.map((item, index) => atPath(`${path}[${index}]`, () => read(item)));
}

/** Throws `GenesisError` if `app_state` has a member that no module reads, so that a misspelt name does not go unnoticed. */
export function checkModuleNames(appState: JsonObject, modules: readonly string[]): void {
  for (const name of Object.keys(appState)) {
    if (!modules.includes(name))
      throw new GenesisError(`app_state.${name}`, `no such module (known: ${modules.join(", ")})`);
  }
}

/** Converts messages of one type from and to JSON, for modules that read their genesis state member by member. */
interface GenesisPart<T> {
  readonly print: (message: T) => JsonValue;
  /** Throws `GenesisError` if the field is invalid or missing. */
  readonly read: (field: JsonField) => T;
  readonly readOptional: (field: JsonField) => T | undefined;
  /** Reads a list of messages. A missing list is treated as empty. */
  readonly readList: (field: JsonField) => readonly T[];
}

/** Creates the converter between JSON and a protobuf message type, which is given by its full name and codec. */
export function genesisPart<T>(typeName: string, type: MessageType<T>): GenesisPart<T> {
  const read = (field: JsonField): T =>
    atPath(field.path, () => type.decode(messageFromJson(typeName, field.value)));
  const readOptional = (field: JsonField): T | undefined => (field.isPresent() ? read(field) : undefined);
  return {
    print: (message) => messageToJson(typeName, type.encode(message).finish()),
    read,
    readOptional,
    readList: (field) => field.elements().flatMap((each) => readOptional(each) ?? []),
  };
}
