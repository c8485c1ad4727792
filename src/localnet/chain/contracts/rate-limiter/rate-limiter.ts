import * as wasm from "../../modules/wasm/contract.ts";
import { messageFields, text, respond, texts } from "../messages.ts";
import * as limiter from "./limiter.ts";
import { readVariant, uint64, type Variant } from "./serde.ts";
import { decodeBech32 } from "../../../../platform/base/bytes.ts";
import type { JsonField } from "../../../../platform/base/json.ts";
import { orThrow } from "../../runtime/errors.ts";
import type { Path } from "./packet.ts";
import { createQuota, newFlow, type Quota, type RateLimit } from "./quota.ts";

const SUDO_VARIANTS = { send_packet: "fields", recv_packet: "fields", undo_send: "fields" } as const;

/**
 * The reference rate limiter for IBC transfers. Each quota applies to a channel and denomination, and limits the flow within a
 * window to a percentage of the supply. Messages, arithmetic and error messages match the contract on the deployed chain. The
 * `rate-limited-ibc` module calls `sudo`.
 */
export const rateLimiter: wasm.ContractCode = {
  name: "rate-limiter",
  instantiate: (scope, _caller, message) => instantiate(scope, messageFields(message)),
  execute,
  sudo: (scope, message) => {
    const { name, fields } = readVariant("SudoMsg", message, SUDO_VARIANTS);
    if (name === "send_packet") return limiter.sendPacket(scope, fields);
    return name === "recv_packet" ? limiter.receivePacket(scope, fields) : limiter.undoSend(scope, fields);
  },
  reply: () => wasm.NO_RESPONSE,
  query,
};

const QUERY_VARIANTS = {
  get_quotas: "fields",
  get_role_owners: "bare",
  get_roles: "fields",
  get_message_ids: "bare",
  get_message: "fields",
  get_denom_restrictions: "fields",
} as const;

/** Runs a smart query. A query without fields can be a plain string that contains only its name. */
function query({ storage }: wasm.ContractScope, message: wasm.MessageJson): wasm.MessageJson {
  const { name, fields } = readVariant("QueryMsg", message, QUERY_VARIANTS);
  switch (name) {
    case "get_quotas": {
      const path = { channel: text(fields, "channel_id"), denom: text(fields, "denom") };
      return found(limiter.limitsOf(path).get(storage), `path ${path.channel}/${path.denom}`).map(
        limiter.limitJson,
      );
    }
    case "get_role_owners":
      return [...limiter.roleOwners(storage)];
    case "get_roles": {
      const owner = text(fields, "owner");
      return [...found(limiter.rolesOf(owner).get(storage), `roles of ${owner}`)];
    }
    case "get_message_ids":
      return (limiter.queuedMessages.get(storage) ?? []).map(({ id }) => id);
    case "get_message": {
      const id = text(fields, "id");
      const queued = (limiter.queuedMessages.get(storage) ?? []).find((each) => each.id === id);
      return limiter.queuedJson(found(queued, id));
    }
    default: {
      const denom = text(fields, "denom");
      return [...found(limiter.allowedChannels(denom).get(storage), `restrictions of ${denom}`)];
    }
  }
}

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new wasm.ContractError(`${what} not found`);
  return value;
}

/** Names of the roles, in the order of the Rust contract's enum. The governance account has every role. */
const ROLES = [
  "AddRateLimit",
  "RemoveRateLimit",
  "ResetPathQuota",
  "EditPathQuota",
  "GrantRole",
  "RevokeRole",
  "RemoveMessage",
  "SetTimelockDelay",
  "ManageDenomRestrictions",
] as const;

type Role = (typeof ROLES)[number];
type Handler = (scope: wasm.ContractScope, fields: JsonField) => wasm.ContractResponse;

/** Handlers for the contract's messages, each with the role that the sender must have. */
const MESSAGES: Readonly<Record<string, { readonly role: Role; readonly handle: Handler }>> = {
  add_path: { role: "AddRateLimit", handle: addPath },
  remove_path: { role: "RemoveRateLimit", handle: removePath },
  reset_path_quota: { role: "ResetPathQuota", handle: resetPathQuota },
  grant_role: { role: "GrantRole", handle: grantRole },
  revoke_role: { role: "RevokeRole", handle: revokeRole },
  edit_path_quota: { role: "EditPathQuota", handle: editPathQuota },
  remove_message: { role: "RemoveMessage", handle: removeQueued },
  set_timelock_delay: { role: "SetTimelockDelay", handle: setTimelockDelay },
  set_denom_restrictions: { role: "ManageDenomRestrictions", handle: setDenomRestrictions },
  unset_denom_restrictions: { role: "ManageDenomRestrictions", handle: unsetDenomRestrictions },
};

const EXECUTE_VARIANTS: Readonly<Record<string, "fields">> = Object.fromEntries(
  [...Object.keys(MESSAGES), "process_messages"].map((name) => [name, "fields"]),
);

/** Stores the quotas of the initial paths, and gives the governance account all roles. */
function instantiate(scope: wasm.ContractScope, message: JsonField): wasm.ContractResponse {
  const governance = text(message, "gov_module");
  const transferModule = text(message, "ibc_module");
  limiter.accounts.governance.set(scope.storage, governance);
  limiter.accounts.transferModule.set(scope.storage, transferModule);
  limiter.rolesOf(governance).set(scope.storage, ROLES);
  for (const path of message.member("paths").required().elements()) storePath(scope, path);
  return respond({ method: "instantiate", ibc_module: transferModule, gov_module: governance });
}

/** Checks the sender's role. Then runs the message immediately or, if the sender has a delay, queues the message. */
function execute(
  scope: wasm.ContractScope,
  { sender }: wasm.Caller,
  message: wasm.MessageJson,
): wasm.ContractResponse {
  const variant = readVariant("ExecuteMsg", message, EXECUTE_VARIANTS);
  const known = MESSAGES[variant.name];
  if (known === undefined) return runQueued(scope, variant);
  const roles = limiter.rolesOf(sender).get(scope.storage) ?? [];
  if (!roles.includes(known.role)) throw new wasm.ContractError("Unauthorized");
  return queueMessage(scope, sender, message) ?? known.handle(scope, variant.fields);
}

function runQueued(scope: wasm.ContractScope, { fields }: Variant): wasm.ContractResponse {
  const [ids, count] = [fields.member("message_ids"), fields.member("count")];
  const chosen = {
    ids: ids.isPresent() ? ids.elements().map((field) => field.asText()) : undefined,
    count: count.isPresent() ? Number(uint64(fields, "count")) : undefined,
  };
  // The sender's role was checked when the message was queued.
  processMessages(scope, chosen, (queued) => {
    const { name, fields: own } = readVariant("ExecuteMsg", queued, EXECUTE_VARIANTS);
    MESSAGES[name]?.handle(scope, own);
  });
  return respond({ method: "process_messages" });
}

function addPath(scope: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  const { channel, denom } = storePath(scope, fields);
  return respond({ method: "try_add_channel", channel_id: channel, denom });
}

/** Stores a path's quotas, replacing any earlier quotas and their flows. */
function storePath(scope: wasm.ContractScope, fields: JsonField): Path {
  const path = readPath(fields);
  const limits = fields
    .member("quotas")
    .required()
    .elements()
    .map((each): RateLimit => {
      const quota = readQuota(each);
      return { quota, flow: newFlow(quota.duration, scope.timeNs) };
    });
  limiter.limitsOf(path).set(scope.storage, limits);
  return path;
}

function removePath({ storage }: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  const path = readPath(fields);
  limiter.limitsOf(path).remove(storage);
  return respond({ method: "try_remove_channel", denom: path.denom, channel_id: path.channel });
}

function resetPathQuota(scope: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  const path = readPath(fields);
  const name = text(fields, "quota_id");
  changeQuotas(scope, path, name, ({ quota }) => ({ quota, flow: newFlow(quota.duration, scope.timeNs) }));
  return respond({ method: "try_reset_channel", channel_id: path.channel });
}

/** Changes a quota's percentages and duration. The quota's flow, channel value and current window stay the same. */
function editPathQuota(scope: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  const edited = readQuota(fields.member("quota").required());
  changeQuotas(scope, readPath(fields), edited.name, ({ quota, flow }) => ({
    quota: { ...edited, channelValue: quota.channelValue },
    flow,
  }));
  return respond({ method: "edit_path_quota" });
}

function changeQuotas(
  { storage }: wasm.ContractScope,
  path: Path,
  name: string,
  change: (limit: RateLimit) => RateLimit,
): void {
  const entry = limiter.limitsOf(path);
  const limits = entry.get(storage);
  if (limits === undefined)
    throw new wasm.ContractError(`Quota ${name} not found for channel ${path.channel}`);
  entry.set(
    storage,
    limits.map((limit) => (limit.quota.name === name ? change(limit) : limit)),
  );
}

function setDenomRestrictions({ storage }: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  const channels = texts(fields, "allowed_channels");
  limiter.allowedChannels(text(fields, "denom")).set(storage, channels);
  return respond({ method: "set_denom_restrictions" });
}

function unsetDenomRestrictions({ storage }: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  limiter.allowedChannels(text(fields, "denom")).remove(storage);
  return respond({ method: "unset_denom_restrictions" });
}

function grantRole(scope: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  const { signer, roles } = readGrant(fields);
  const entry = limiter.rolesOf(signer);
  const present = entry.get(scope.storage) ?? [];
  entry.set(
    scope.storage,
    ROLES.filter((role) => present.includes(role) || roles.includes(role)),
  );
  return respond({ method: "grant_role" });
}

function revokeRole(scope: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  const { signer, roles } = readGrant(fields);
  const entry = limiter.rolesOf(signer);
  const present = entry.get(scope.storage);
  if (present === undefined) throw new wasm.ContractError(`roles of ${signer} not found`);
  const left = present.filter((role) => !roles.some((revoked) => revoked === role));
  if (left.length === 0) entry.remove(scope.storage);
  else entry.set(scope.storage, left);
  return respond({ method: "revoke_role" });
}

function setTimelockDelay({ storage }: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  const signer = text(fields, "signer");
  const hours = fields.member("hours").required().asUint32();
  limiter.timelockDelay(signer).set(storage, hours);
  return respond({ method: "set_timelock_delay", signer, hours: hours.toString() });
}

function removeQueued(scope: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  removeMessage(scope, text(fields, "message_id"));
  return respond({ method: "remove_message" });
}

function readPath(fields: JsonField): Path {
  return { channel: text(fields, "channel_id"), denom: text(fields, "denom") };
}

function readQuota(fields: JsonField): Quota {
  const [send, receive, ...others] = fields
    .member("send_recv")
    .required()
    .elements()
    .map((field) => field.asUint32());
  if (send === undefined || receive === undefined || others.length > 0)
    throw fields.error(`${fields.path}.send_recv`, "a list of two percentages");
  return createQuota(text(fields, "name"), uint64(fields, "duration"), [send, receive]);
}

function readGrant(fields: JsonField): { readonly signer: string; readonly roles: readonly Role[] } {
  const signer = text(fields, "signer");
  orThrow(
    () => decodeBech32(signer),
    (reason) => new wasm.ContractError(`${signer} is not an address: ${reason}`),
  );
  const roles = fields
    .member("roles")
    .required()
    .elements()
    .map((field) => {
      const name = field.asText();
      const known = ROLES.find((role) => role === name);
      if (known === undefined) throw field.error(field.path, `one of ${ROLES.join(", ")}, not ${name}`);
      return known;
    });
  return { signer, roles };
}

/** Queues the message if its sender has a delay. Returns undefined if the message should run immediately. */
function queueMessage(
  scope: wasm.ContractScope,
  sender: string,
  message: wasm.MessageJson,
): wasm.ContractResponse | undefined {
  const delayHours = limiter.timelockDelay(sender).get(scope.storage) ?? 0;
  if (delayHours === 0) return undefined;
  const index = scope.transactionIndex();
  if (index === undefined)
    throw new wasm.ContractError("a message with a delay must be sent in a transaction");
  const id = `${scope.height}_${index}`;
  const queue = limiter.queuedMessages.get(scope.storage) ?? [];
  limiter.queuedMessages.set(scope.storage, [
    ...queue,
    { message, submittedAt: scope.timeNs, delayHours, id },
  ]);
  return respond({ "message.id": id });
}

/** Removes all queued messages with this id, or does nothing if there are none. */
function removeMessage({ storage }: wasm.ContractScope, id: string): void {
  const queue = limiter.queuedMessages.get(storage) ?? [];
  limiter.queuedMessages.set(
    storage,
    queue.filter((message) => message.id !== id),
  );
}

/**
 * Selects the queued messages with the given ids or, without ids, the first `count` messages. Runs each selected message whose
 * delay has passed. A message that is not yet due moves to the end of the queue. A message that fails is dropped, as in the
 * reference contract.
 */
function processMessages(
  scope: wasm.ContractScope,
  chosen: { readonly ids: readonly string[] | undefined; readonly count: number | undefined },
  run: (message: wasm.MessageJson) => void,
): void {
  const queue = limiter.queuedMessages.get(scope.storage) ?? [];
  const [taken, left] = takeMessages(queue, chosen);
  const due = taken.filter((message) => isDue(message, scope.timeNs));
  const early = taken.filter((message) => !isDue(message, scope.timeNs));
  limiter.queuedMessages.set(scope.storage, [...left, ...early]);
  for (const { message } of due)
    try {
      run(message);
    } catch (error) {
      // Rethrow an exception that is not a `ContractError`, because it is a bug in the contract.
      if (!(error instanceof wasm.ContractError)) throw error;
    }
}

function takeMessages(
  queue: readonly limiter.QueuedMessage[],
  { ids, count }: { readonly ids: readonly string[] | undefined; readonly count: number | undefined },
): readonly [taken: readonly limiter.QueuedMessage[], left: readonly limiter.QueuedMessage[]] {
  if (ids !== undefined)
    return [queue.filter(({ id }) => ids.includes(id)), queue.filter(({ id }) => !ids.includes(id))];
  if (count === undefined) throw new wasm.ContractError("both count and message_ids are None");
  return [queue.slice(0, count), queue.slice(count)];
}

const HOUR_NS = 3_600_000_000_000n;

function isDue({ submittedAt, delayHours }: limiter.QueuedMessage, nowNs: bigint): boolean {
  return nowNs >= submittedAt + BigInt(delayHours) * HOUR_NS;
}
