import { decodeBech32 } from "../../../../platform/base/bytes.ts";
import type { JsonField } from "../../../../platform/base/json.ts";
import {
  type Caller,
  ContractError,
  type ContractResponse,
  type ContractScope,
  type MessageJson,
} from "../../modules/wasm/contract.ts";
import { orThrow } from "../../runtime/errors.ts";
import { respond, text, texts } from "../messages.ts";
import type { Path } from "./packet.ts";
import { createQuota, newFlow, type Quota, type RateLimit } from "./quota.ts";
import { readVariant, uint64, type Variant } from "./serde.ts";
import {
  accounts,
  allowedChannels,
  limitsOf,
  type QueuedMessage,
  queuedMessages,
  rolesOf,
  timelockDelay,
} from "./state.ts";

/** Roles, in the order of the contract's enum. The governance account has all of them. */
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
type Handler = (scope: ContractScope, fields: JsonField) => ContractResponse;

/** Messages, each with the role that its sender must have. */
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

const VARIANTS: Readonly<Record<string, "fields">> = Object.fromEntries(
  [...Object.keys(MESSAGES), "process_messages"].map((name) => [name, "fields"]),
);

/** Initializes the contract's state: the paths, and the governance account with all roles. */
export function instantiate(scope: ContractScope, message: JsonField): ContractResponse {
  const governance = text(message, "gov_module");
  const transferModule = text(message, "ibc_module");
  accounts.governance.set(scope.storage, governance);
  accounts.transferModule.set(scope.storage, transferModule);
  rolesOf(governance).set(scope.storage, ROLES);
  for (const path of message.member("paths").required().elements()) storePath(scope, path);
  return respond({ method: "instantiate", ibc_module: transferModule, gov_module: governance });
}

/** Runs or queues a message. The sender's role is checked before its delay. */
export function execute(scope: ContractScope, { sender }: Caller, message: MessageJson): ContractResponse {
  const variant = readVariant("ExecuteMsg", message, VARIANTS);
  const known = MESSAGES[variant.name];
  if (known === undefined) return runQueued(scope, variant);
  const roles = rolesOf(sender).get(scope.storage) ?? [];
  if (!roles.includes(known.role)) throw new ContractError("Unauthorized");
  return queueMessage(scope, sender, message) ?? known.handle(scope, variant.fields);
}

function runQueued(scope: ContractScope, { fields }: Variant): ContractResponse {
  const [ids, count] = [fields.member("message_ids"), fields.member("count")];
  const chosen = {
    ids: ids.isPresent() ? ids.elements().map((field) => field.asText()) : undefined,
    count: count.isPresent() ? Number(uint64(fields, "count")) : undefined,
  };
  // Sender and role were checked when the message was queued.
  processMessages(scope, chosen, (queued) => {
    const { name, fields: own } = readVariant("ExecuteMsg", queued, VARIANTS);
    MESSAGES[name]?.handle(scope, own);
  });
  return respond({ method: "process_messages" });
}

function addPath(scope: ContractScope, fields: JsonField): ContractResponse {
  const { channel, denom } = storePath(scope, fields);
  return respond({ method: "try_add_channel", channel_id: channel, denom });
}

/** Stores a path's quotas, replacing any earlier quotas and their flows. */
function storePath(scope: ContractScope, fields: JsonField): Path {
  const path = readPath(fields);
  const limits = fields
    .member("quotas")
    .required()
    .elements()
    .map((each): RateLimit => {
      const quota = readQuota(each);
      return { quota, flow: newFlow(quota.duration, scope.timeNs) };
    });
  limitsOf(path).set(scope.storage, limits);
  return path;
}

function removePath({ storage }: ContractScope, fields: JsonField): ContractResponse {
  const path = readPath(fields);
  limitsOf(path).remove(storage);
  return respond({ method: "try_remove_channel", denom: path.denom, channel_id: path.channel });
}

function resetPathQuota(scope: ContractScope, fields: JsonField): ContractResponse {
  const path = readPath(fields);
  const name = text(fields, "quota_id");
  changeQuotas(scope, path, name, ({ quota }) => ({ quota, flow: newFlow(quota.duration, scope.timeNs) }));
  return respond({ method: "try_reset_channel", channel_id: path.channel });
}

/** Changes a quota's percentages and duration. Its flow, channel value and current window are unchanged. */
function editPathQuota(scope: ContractScope, fields: JsonField): ContractResponse {
  const edited = readQuota(fields.member("quota").required());
  changeQuotas(scope, readPath(fields), edited.name, ({ quota, flow }) => ({
    quota: { ...edited, channelValue: quota.channelValue },
    flow,
  }));
  return respond({ method: "edit_path_quota" });
}

function changeQuotas(
  { storage }: ContractScope,
  path: Path,
  name: string,
  change: (limit: RateLimit) => RateLimit,
): void {
  const entry = limitsOf(path);
  const limits = entry.get(storage);
  if (limits === undefined) throw new ContractError(`Quota ${name} not found for channel ${path.channel}`);
  entry.set(
    storage,
    limits.map((limit) => (limit.quota.name === name ? change(limit) : limit)),
  );
}

function setDenomRestrictions({ storage }: ContractScope, fields: JsonField): ContractResponse {
  const channels = texts(fields, "allowed_channels");
  allowedChannels(text(fields, "denom")).set(storage, channels);
  return respond({ method: "set_denom_restrictions" });
}

function unsetDenomRestrictions({ storage }: ContractScope, fields: JsonField): ContractResponse {
  allowedChannels(text(fields, "denom")).remove(storage);
  return respond({ method: "unset_denom_restrictions" });
}

function grantRole(scope: ContractScope, fields: JsonField): ContractResponse {
  const { signer, roles } = readGrant(fields);
  const entry = rolesOf(signer);
  const present = entry.get(scope.storage) ?? [];
  entry.set(
    scope.storage,
    ROLES.filter((role) => present.includes(role) || roles.includes(role)),
  );
  return respond({ method: "grant_role" });
}

function revokeRole(scope: ContractScope, fields: JsonField): ContractResponse {
  const { signer, roles } = readGrant(fields);
  const entry = rolesOf(signer);
  const present = entry.get(scope.storage);
  if (present === undefined) throw new ContractError(`roles of ${signer} not found`);
  const left = present.filter((role) => !roles.some((revoked) => revoked === role));
  if (left.length === 0) entry.remove(scope.storage);
  else entry.set(scope.storage, left);
  return respond({ method: "revoke_role" });
}

function setTimelockDelay({ storage }: ContractScope, fields: JsonField): ContractResponse {
  const signer = text(fields, "signer");
  const hours = fields.member("hours").required().asUint32();
  timelockDelay(signer).set(storage, hours);
  return respond({ method: "set_timelock_delay", signer, hours: hours.toString() });
}

function removeQueued(scope: ContractScope, fields: JsonField): ContractResponse {
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
    (reason) => new ContractError(`${signer} is not an address: ${reason}`),
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

/** Queues the message if its sender has a delay. Otherwise, returns undefined. */
function queueMessage(
  scope: ContractScope,
  sender: string,
  message: MessageJson,
): ContractResponse | undefined {
  const delayHours = timelockDelay(sender).get(scope.storage) ?? 0;
  if (delayHours === 0) return undefined;
  const index = scope.transactionIndex();
  if (index === undefined) throw new ContractError("a message with a delay must be sent in a transaction");
  const id = `${scope.height}_${index}`;
  const queue = queuedMessages.get(scope.storage) ?? [];
  queuedMessages.set(scope.storage, [...queue, { message, submittedAt: scope.timeNs, delayHours, id }]);
  return respond({ "message.id": id });
}

/** Removes all queued messages with this id. Does nothing if the id is unknown. */
function removeMessage({ storage }: ContractScope, id: string): void {
  const queue = queuedMessages.get(storage) ?? [];
  queuedMessages.set(
    storage,
    queue.filter((message) => message.id !== id),
  );
}

/**
 * Runs the queued messages whose delay has passed: those with the given ids, or else the first `count`. A message that is not yet
 * due moves to the end of the queue. A message that fails is dropped, as in the reference contract.
 */
function processMessages(
  scope: ContractScope,
  chosen: { readonly ids: readonly string[] | undefined; readonly count: number | undefined },
  run: (message: MessageJson) => void,
): void {
  const queue = queuedMessages.get(scope.storage) ?? [];
  const [taken, left] = takeMessages(queue, chosen);
  const due = taken.filter((message) => isDue(message, scope.timeNs));
  const early = taken.filter((message) => !isDue(message, scope.timeNs));
  queuedMessages.set(scope.storage, [...left, ...early]);
  for (const { message } of due)
    try {
      run(message);
    } catch (error) {
      // Any other exception is a bug in the contract.
      if (!(error instanceof ContractError)) throw error;
    }
}

function takeMessages(
  queue: readonly QueuedMessage[],
  { ids, count }: { readonly ids: readonly string[] | undefined; readonly count: number | undefined },
): readonly [taken: readonly QueuedMessage[], left: readonly QueuedMessage[]] {
  if (ids !== undefined)
    return [queue.filter(({ id }) => ids.includes(id)), queue.filter(({ id }) => !ids.includes(id))];
  if (count === undefined) throw new ContractError("both count and message_ids are None");
  return [queue.slice(0, count), queue.slice(count)];
}

const HOUR_NS = 3_600_000_000_000n;

function isDue({ submittedAt, delayHours }: QueuedMessage, nowNs: bigint): boolean {
  return nowNs >= submittedAt + BigInt(delayHours) * HOUR_NS;
}
