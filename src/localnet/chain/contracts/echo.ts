import type { JsonValue } from "../../../platform/base/json.ts";
import { type ContractCode, NO_RESPONSE } from "../modules/wasm/contract.ts";
import { parseContractResult } from "../modules/wasm/response-json.ts";

/**
 * A contract that returns what its caller sends. `execute` reads its own message as a contract result
 * (`{"ok":{"messages":[…],…}}` or `{"error":"…"}`), so the caller can make it emit any sub-message. `sudo` returns the
 * message as the attribute `sudo`, `reply` returns nothing, `query` returns its own message.
 */
export const echo: ContractCode = {
  name: "echo",
  instantiate: () => NO_RESPONSE,
  execute: (_scope, _caller, message) => parseContractResult(message),
  sudo: (_scope, message) => ({
    ...NO_RESPONSE,
    attributes: [{ key: "sudo", value: JSON.stringify(message) }],
  }),
  reply: () => NO_RESPONSE,
  query: (_scope, message): JsonValue => message,
};
