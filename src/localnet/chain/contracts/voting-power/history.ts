import { concat, fromUtf8, uint64BigEndian, utf8 } from "../../../../platform/base/bytes.ts";
import type { JsonValue, JsonField } from "../../../../platform/base/json.ts";
import type { ContractScope } from "../../modules/wasm/contract.ts";
import { messageFields } from "../messages.ts";

/** A value with its past. A reading finds the value at the end of a block; without a height, the present one. */
export interface History<T> {
  readonly get: (scope: ContractScope, height?: bigint) => T | undefined;
  readonly set: (scope: ContractScope, value: T) => void;
}

interface JsonForm<T> {
  readonly read: (json: JsonField) => T;
  readonly write: (value: T) => JsonValue;
}

/** Declares values with a past. Each has one entry for each height at which it changed: `name / key 0x00 height`. */
export function createHistory<T>(name: string, { read, write }: JsonForm<T>): (key: string) => History<T> {
  return (key) => {
    // No address contains the byte 0, so no key begins with another one.
    const prefix = concat(utf8(`${name}/${key}`), Uint8Array.of(0));
    return {
      get: ({ height: now, storage }, height = now) => {
        const end = concat(prefix, uint64BigEndian(height + 1n));
        for (const [, value] of storage.iterateReverse(prefix, end))
          return read(messageFields(JSON.parse(fromUtf8(value))));
        return undefined;
      },
      set: ({ height, storage }, value) =>
        storage.set(concat(prefix, uint64BigEndian(height)), utf8(JSON.stringify(write(value)))),
    };
  };
}
