import { CodedError, errorText } from "../../../platform/base/errors.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../../platform/base/json.ts";
import { messageFromJson, messageToJson } from "../../../cosmos/proto/json.ts";

/** The genesis document is invalid. `path` names the field. */
export class GenesisError extends CodedError<{ readonly code: "bad-genesis"; readonly path: string }> {
  constructor(path: string, text: string, cause?: unknown) {
    super({ code: "bad-genesis", path }, `${path}: ${text}`, cause === undefined ? {} : { cause });
  }
}

interface MessageType<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

/** Type of a module's genesis state. The document contains it as proto JSON. */
export interface GenesisSchema<T> {
  /** The module's name: its member in `app_state`. */
  readonly module: string;
  /** Full name of the protobuf message. */
  readonly typeName: string;
  readonly type: MessageType<T>;
}

/** Decodes a module's genesis state. Returns undefined when the document has none. Throws `GenesisError`. */
export function readGenesis<T>(schema: GenesisSchema<T>, json: JsonValue | undefined): T | undefined {
  if (json === undefined) return undefined;
  if (!isRecord(json)) throw new GenesisError(`app_state.${schema.module}`, "an object was expected");
  try {
    return schema.type.decode(messageFromJson(schema.typeName, json));
  } catch (thrown) {
    throw new GenesisError(`app_state.${schema.module}`, errorText(thrown), thrown);
  }
}

/**
 * Returns a message of a decoded genesis state, or `fallback` when the document does not have it. The decoded state
 * does not show this: a non-nullable message is never undefined, and all fields of an absent one are zero.
 */
export function partOr<T>(json: JsonValue | undefined, name: string, part: T | undefined, fallback: T): T {
  const isGiven = isRecord(json) && json[name] !== undefined && json[name] !== null;
  return isGiven && part !== undefined ? part : fallback;
}

/** Runs `read` for one field; anything it throws becomes a `GenesisError` with the field's path. */
export function atPath<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw new GenesisError(path, thrown instanceof Error ? thrown.message : String(thrown), thrown);
  }
}

/** Encodes a module's genesis state as proto JSON. */
export function printGenesis<T>(schema: GenesisSchema<T>, state: T): JsonValue {
  return messageToJson(schema.typeName, schema.type.encode(state).finish());
}

/** Throws `GenesisError` when `app_state` has a member that no module reads: a misspelt name must not pass unnoticed. */
export function checkModuleNames(appState: JsonObject, modules: readonly string[]): void {
  for (const name of Object.keys(appState)) {
    if (!modules.includes(name))
      throw new GenesisError(`app_state.${name}`, `no such module (known: ${modules.join(", ")})`);
  }
}
