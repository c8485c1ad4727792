import {
  type JsonValue,
  elements,
  isPresent,
  type JsonField,
  member,
} from "../../../../platform/base/json.ts";
import { messageFromJson } from "../../../../cosmos/proto/json.ts";
import { atPath, GenesisError } from "../../runtime/genesis.ts";
import { STORE_NAME } from "./keys.ts";

/** A generated message type with its full name. */
interface MessageType<T> {
  readonly name: string;
  readonly codec: { decode(input: Uint8Array): T };
}

/** Wraps the module's genesis. An absent genesis is an empty object. Readers of the field throw `GenesisError`. */
export function genesisField(genesis: JsonValue | undefined): JsonField {
  return {
    value: genesis ?? {},
    path: `app_state.${STORE_NAME}`,
    error: (path, expected) => new GenesisError(path, `not ${expected}`),
  };
}

/** Returns a member that is an object. An absent member is an empty object. */
export function objectMember(parent: JsonField, name: string): JsonField {
  const field = member(parent, name);
  return isPresent(field) ? field : { ...field, value: {} };
}

/** Decodes a message in proto JSON; undefined when absent. */
export function asMessage<T>(field: JsonField, type: MessageType<T>): T | undefined {
  if (!isPresent(field)) return undefined;
  return atPath(field.path, () => type.codec.decode(messageFromJson(type.name, field.value)));
}

/** Decodes a list of messages in proto JSON; empty when absent. */
export function asMessages<T>(field: JsonField, type: MessageType<T>): readonly T[] {
  return elements(field).flatMap((element) => asMessage(element, type) ?? []);
}
