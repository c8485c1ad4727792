import {
  type ContractCode,
  ContractError,
  type ContractScope,
  NO_RESPONSE,
  type MessageJson,
} from "../../modules/wasm/contract.ts";
import { messageFields, text } from "../messages.ts";
import { execute, instantiate } from "./execute.ts";
import { receivePacket, sendPacket, undoSend } from "./limiter.ts";
import { readVariant } from "./serde.ts";
import {
  allowedChannels,
  limitJson,
  limitsOf,
  queuedJson,
  queuedMessages,
  roleOwners,
  rolesOf,
} from "./state.ts";

const SUDO_VARIANTS = { send_packet: "fields", recv_packet: "fields", undo_send: "fields" } as const;

/**
 * The reference limiter for IBC transfers: quotas per channel and denomination, each a percentage of the supply per window.
 * Messages, arithmetic and texts match the contract on the deployed chain. The `rate-limited-ibc` module calls `sudo`.
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

const VARIANTS = {
  get_quotas: "fields",
  get_role_owners: "bare",
  get_roles: "fields",
  get_message_ids: "bare",
  get_message: "fields",
  get_denom_restrictions: "fields",
} as const;

/** Runs a smart query. A query without fields may be a bare name. */
function query({ storage }: ContractScope, message: MessageJson): MessageJson {
  const { name, fields } = readVariant("QueryMsg", message, VARIANTS);
  switch (name) {
    case "get_quotas": {
      const path = { channel: text(fields, "channel_id"), denom: text(fields, "denom") };
      return found(limitsOf(path).get(storage), `path ${path.channel}/${path.denom}`).map(limitJson);
    }
    case "get_role_owners":
      return [...roleOwners(storage)];
    case "get_roles": {
      const owner = text(fields, "owner");
      return [...found(rolesOf(owner).get(storage), `roles of ${owner}`)];
    }
    case "get_message_ids":
      return (queuedMessages.get(storage) ?? []).map(({ id }) => id);
    case "get_message": {
      const id = text(fields, "id");
      const queued = (queuedMessages.get(storage) ?? []).find((each) => each.id === id);
      return queuedJson(found(queued, id));
    }
    default: {
      const denom = text(fields, "denom");
      return [...found(allowedChannels(denom).get(storage), `restrictions of ${denom}`)];
    }
  }
}

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new ContractError(`${what} not found`);
  return value;
}
