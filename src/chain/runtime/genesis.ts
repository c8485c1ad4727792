import type { JsonObject, JsonValue } from "../../base/json.ts";
import { isRecord } from "../../base/json.ts";
import { errorText } from "../../base/errors.ts";
import { messageFromJson, messageToJson } from "../../proto/json.ts";
import { CodedError } from "../../base/errors.ts";

/** A genesis document that the application cannot start from. `path` names the field. */
export class GenesisError extends CodedError<{ readonly code: "bad-genesis"; readonly path: string }> {
  constructor(path: string, text: string, cause?: unknown) {
    super({ code: "bad-genesis", path }, `${path}: ${text}`, cause === undefined ? {} : { cause });
  }
}

/** The part of a generated message type that reading and printing genesis needs. */
interface MessageType<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

/** How a module's genesis is read from and printed as proto JSON. */
export interface GenesisForm<T> {
  readonly module: string;
  readonly typeName: string;
  readonly type: MessageType<T>;
}

/** Reads a module's part of the genesis; undefined when the document has none. Throws `GenesisError`. */
export function readGenesis<T>(form: GenesisForm<T>, json: JsonValue | undefined): T | undefined {
  if (json === undefined) return undefined;
  if (!isRecord(json)) throw new GenesisError(`app_state.${form.module}`, "an object was expected");
  try {
    return form.type.decode(messageFromJson(form.typeName, json));
  } catch (thrown) {
    throw new GenesisError(`app_state.${form.module}`, errorText(thrown), thrown);
  }
}

/** Whether a module's part of the genesis says something under this name: an absent message reads as an empty one. */
export function givesPart(json: JsonValue | undefined, name: string): boolean {
  return isRecord(json) && json[name] !== undefined && json[name] !== null;
}

/** Prints a module's part of the genesis. */
export function printGenesis<T>(form: GenesisForm<T>, state: T): JsonValue {
  return messageToJson(form.typeName, form.type.encode(state).finish());
}

/** Refuses parts of an `app_state` that no module reads: a misspelt name would be ignored in silence. */
export function checkModuleNames(appState: JsonObject, modules: readonly string[]): void {
  for (const name of Object.keys(appState)) {
    if (!modules.includes(name))
      throw new GenesisError(`app_state.${name}`, `no such module (known: ${modules.join(", ")})`);
  }
}
