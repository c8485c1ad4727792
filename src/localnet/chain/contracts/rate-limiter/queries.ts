import type { JsonValue } from "../../../../platform/base/json.ts";
import { ContractError, type ContractScope } from "../../modules/wasm/contract.ts";
import { text } from "../messages.ts";
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

const VARIANTS = {
  get_quotas: "fields",
  get_role_owners: "bare",
  get_roles: "fields",
  get_message_ids: "bare",
  get_message: "fields",
  get_denom_restrictions: "fields",
} as const;

/** Answers a smart query. Queries without fields are bare names. */
export function query({ storage }: ContractScope, message: JsonValue): JsonValue {
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
