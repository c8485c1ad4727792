import type { ContractCode } from "../../modules/wasm/contract.ts";
import { NO_RESPONSE } from "../../modules/wasm/contract.ts";
import { messageFields } from "../messages.ts";
import { execute, instantiate } from "./execute.ts";
import { receivePacket, sendPacket, undoSend } from "./limiter.ts";
import { query } from "./queries.ts";
import { readVariant } from "./serde.ts";

const SUDO_VARIANTS = { send_packet: "fields", recv_packet: "fields", undo_send: "fields" } as const;

/**
 * The reference limiter of IBC transfers: quotas of a channel and a denomination, in percent of the supply, within windows.
 * Messages, arithmetic and texts are those of the contract that the deployed chain uses. The module `rate-limited-ibc`
 * calls `sudo`.
 */
export const rateLimiter: ContractCode = {
  name: "rate-limiter",
  instantiate: (scope, _caller, message) => instantiate(scope, messageFields(message)),
  execute,
  sudo: (scope, message) => {
    const { name, fields } = readVariant("SudoMsg", message, SUDO_VARIANTS);
    if (name === "send_packet") return sendPacket(scope, fields);
    return name === "recv_packet" ? receivePacket(scope, fields) : undoSend(scope, fields);
  },
  reply: () => NO_RESPONSE,
  query,
};
