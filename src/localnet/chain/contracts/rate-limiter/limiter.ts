import { NS_PER_SECOND } from "../../../../platform/base/time.ts";
import { type JsonField, isRecord } from "../../../../platform/base/json.ts";
import * as wasm from "../../modules/wasm/contract.ts";
import { messageFields, respond } from "../messages.ts";
import { type Packet, type Path, readPacket, receivedPath, sentPath } from "./packet.ts";
import * as quotas from "./quota.ts";
import { concat, fromUtf8, prefixEnd, utf8 } from "../../../../platform/base/bytes.ts";
import { parseMessageJson, printMessageJson } from "../../modules/wasm/message-json.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import type { KVStore } from "../../store/cache-store.ts";

/** Handles `send_packet` by checking an outgoing transfer against its quotas and counting its amount. */
export function sendPacket(scope: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  const packet = readPacket(fields);
  requireAllowedChannel(scope, packet);
  return countTransfer(scope, sentPath(packet), packet.amount, "out");
}

/** Handles `recv_packet` by checking an incoming transfer against its quotas and counting its amount. */
export function receivePacket(scope: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  const packet = readPacket(fields);
  return countTransfer(scope, receivedPath(packet), packet.amount, "in");
}

/** Handles `undo_send` by reverting the count of an outgoing transfer that timed out or that the other chain rejected. */
export function undoSend(scope: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  const packet = readPacket(fields);
  const path = sentPath(packet);
  const { any, own, isLimited } = readLimits(scope, path);
  if (!isLimited) return unlimited(path);
  saveLimits(scope, path, {
    any: any.map((limit) => quotas.undo(limit, packet.amount)),
    own: own.map((limit) => quotas.undo(limit, packet.amount)),
  });
  return attributes("undo_send", path, [{ key: "any_channel", value: String(any.length > 0) }]);
}

/**
 * Throws if the denomination may not be sent over the channel. As in the reference contract, the denomination in the packet is
 * looked up, so a voucher's restriction must be stored under its full trace.
 */
function requireAllowedChannel({ storage }: wasm.ContractScope, { denom, sourceChannel }: Packet): void {
  const channels = allowedChannels(denom).get(storage) ?? [];
  if (channels.length > 0 && !channels.includes(sourceChannel))
    throw new wasm.ContractError(`Channel ${sourceChannel} has been blocked for denom ${denom}`);
}

function countTransfer(
  scope: wasm.ContractScope,
  path: Path,
  amount: bigint,
  direction: quotas.Direction,
): wasm.ContractResponse {
  const supply = supplyOf(scope, path.denom);
  const { any, own, isLimited } = readLimits(scope, path);
  if (!isLimited) return unlimited(path);
  const transfer: quotas.Transfer = { direction, amount, supply, denom: path.denom, nowNs: scope.timeNs };
  // Check the channel's quotas first. Save quotas only after all checks have passed.
  const nextOwn = own.map((limit) => allowed(limit, path, transfer));
  const nextAny = any.map((limit) => allowed(limit, path, transfer));
  saveLimits(scope, path, { any: nextAny, own: nextOwn });
  return attributes("try_transfer", path, [...nextAny, ...nextOwn].flatMap(quotaAttributes));
}

function allowed(limit: quotas.RateLimit, path: Path, transfer: quotas.Transfer): quotas.RateLimit {
  const result = quotas.allow(limit, transfer);
  if (result.ok) return result.limit;
  throw new wasm.ContractError(
    `IBC Rate Limit exceeded for ${path.channel}/${path.denom}. Tried to transfer ${transfer.amount} which exceeds ` +
      `capacity on the '${limit.quota.name}' quota (${result.used}/${result.max}). ` +
      `Try again after Timestamp(Uint64(${result.periodEnd}))`,
  );
}

interface PathLimits {
  readonly any: readonly quotas.RateLimit[];
  readonly own: readonly quotas.RateLimit[];
}

function readLimits(
  { storage }: wasm.ContractScope,
  path: Path,
): PathLimits & { readonly isLimited: boolean } {
  const any = limitsOf({ ...path, channel: ANY_CHANNEL }).get(storage) ?? [];
  const own = limitsOf(path).get(storage) ?? [];
  return { any, own, isLimited: any.length + own.length > 0 };
}

/** Saves the quotas for the path and for the channel `any`. As in the reference contract, an empty list is saved, too. */
function saveLimits({ storage }: wasm.ContractScope, path: Path, { any, own }: PathLimits): void {
  limitsOf({ ...path, channel: ANY_CHANNEL }).set(storage, any);
  limitsOf(path).set(storage, own);
}

function supplyOf(scope: wasm.ContractScope, denom: string): bigint {
  const response = messageFields(scope.query({ bank: { supply: { denom } } }));
  return BigInt(response.member("amount").required().member("amount").required().asText());
}

function unlimited(path: Path): wasm.ContractResponse {
  return attributes("try_transfer", path, [{ key: "quota", value: "none" }]);
}

function attributes(
  method: string,
  { channel, denom }: Path,
  more: readonly wasm.ContractAttribute[],
): wasm.ContractResponse {
  const response = respond({ method, channel_id: channel, denom });
  return { ...response, attributes: [...response.attributes, ...more] };
}

function quotaAttributes({ quota, flow }: quotas.RateLimit): readonly wasm.ContractAttribute[] {
  const max = quotas.capacities(quota);
  const values = {
    used_in: `${quotas.netFlow(flow, "in")}`,
    used_out: `${quotas.netFlow(flow, "out")}`,
    max_in: `${max.in}`,
    max_out: `${max.out}`,
    period_end: `${flow.periodEnd / NS_PER_SECOND}.${`${flow.periodEnd % NS_PER_SECOND}`.padStart(9, "0")}`,
  };
  return Object.entries(values).map(([key, value]) => ({ key: `${quota.name}_${key}`, value }));
}

/** Channel name that means all channels. A quota for this channel name counts the transfers on every channel. */
const ANY_CHANNEL = "any";

// Keys are encoded as in cw-storage-plus. A map's namespace and the first part of a two-part key are each preceded by their length.
// The keys are the same as in the deployed contract, so raw queries for the deployed contract work here, too.

/** Encodes a map's namespace, preceded by its length (2 bytes, big-endian). */
function namespace(name: string): Uint8Array {
  return withLength(utf8(name));
}

function withLength(bytes: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(bytes.length >> 8, bytes.length & 0xff), bytes);
}

const LIMITS = namespace("flow");
const ROLES = namespace("rbac");
const RESTRICTIONS = namespace("acfd");
const DELAYS = namespace("timelock_delay");
const QUEUE = utf8("queued_messages");

/** Reads and writes a JSON value under a fixed key. */
interface Entry<T> {
  /** Returns undefined if nothing is stored. */
  readonly get: (storage: KVStore) => T | undefined;
  readonly set: (storage: KVStore, value: T) => void;
  readonly remove: (storage: KVStore) => void;
}

function jsonEntry<T>(
  key: Uint8Array,
  read: (json: wasm.MessageJson) => T,
  write: (value: T) => wasm.MessageJson,
): Entry<T> {
  return {
    get: (storage) => {
      const bytes = storage.get(key);
      return bytes === undefined ? undefined : read(parseMessageJson(bytes));
    },
    set: (storage, value) => storage.set(key, utf8(printMessageJson(write(value)))),
    remove: (storage) => storage.delete(key),
  };
}

/** Returns the store entry with the quotas for a path (channel and denomination). */
export function limitsOf({ channel, denom }: Path): Entry<readonly quotas.RateLimit[]> {
  const key = concat(LIMITS, withLength(utf8(channel)), utf8(denom));
  return jsonEntry<readonly quotas.RateLimit[]>(
    key,
    (json) => listOf(json).map(readLimit),
    (limits) => limits.map(limitJson),
  );
}

/** Returns the store entry with an account's roles, in the order of the contract's enum. */
export function rolesOf(account: string): Entry<readonly string[]> {
  return textList(concat(ROLES, utf8(account)));
}

/**
 * Returns the store entry with the channels over which a denomination may be sent. If the list is empty or not stored, all channels
 * are allowed.
 */
export function allowedChannels(denom: string): Entry<readonly string[]> {
  return textList(concat(RESTRICTIONS, utf8(denom)));
}

/** Returns the store entry with the delay for an account's messages, in hours. */
export function timelockDelay(account: string): Entry<number> {
  return jsonEntry(concat(DELAYS, utf8(account)), Number, (hours) => hours);
}

/** Returns the accounts that have roles, in ascending order. */
export function roleOwners(storage: KVStore): readonly string[] {
  return [...storage.iterate(ROLES, prefixEnd(ROLES))].map(([key]) => fromUtf8(key.subarray(ROLES.length)));
}

/** A queued message that can run after its delay has passed. */
export interface QueuedMessage {
  readonly message: wasm.MessageJson;
  /** Block time at which the message was sent, in nanoseconds since the Unix epoch. */
  readonly submittedAt: bigint;
  readonly delayHours: number;
  readonly id: string;
}

/** The queue of delayed messages, oldest first. */
export const queuedMessages = jsonEntry<readonly QueuedMessage[]>(
  QUEUE,
  (json) => listOf(json).map(readQueued),
  (messages) => messages.map(queuedJson),
);

/** The stored addresses of the governance account and the transfer module. */
export const accounts = {
  governance: jsonEntry(utf8("gov_module"), String, (address) => address),
  transferModule: jsonEntry(utf8("ibc_module"), String, (address) => address),
} as const;

function textList(key: Uint8Array): Entry<readonly string[]> {
  return jsonEntry<readonly string[]>(
    key,
    (json) => listOf(json).map(String),
    (texts) => [...texts],
  );
}

/** Converts a quota and its flow to JSON, for both the store and the `get_quotas` response. */
export function limitJson({ quota, flow }: quotas.RateLimit): wasm.MessageJson {
  return {
    quota: {
      name: quota.name,
      max_percentage_send: quota.maxPercentageSend,
      max_percentage_recv: quota.maxPercentageRecv,
      duration: Number(quota.duration),
      channel_value: quota.channelValue === undefined ? null : `${quota.channelValue}`,
    },
    flow: { inflow: `${flow.inflow}`, outflow: `${flow.outflow}`, period_end: `${flow.periodEnd}` },
  };
}

/** Converts a queued message to JSON, for both the store and the `get_message` response. */
export function queuedJson({ message, submittedAt, delayHours, id }: QueuedMessage): wasm.MessageJson {
  return { message, submitted_at: `${submittedAt}`, timelock_delay: delayHours, message_id: id };
}

function readLimit(json: wasm.MessageJson): quotas.RateLimit {
  const stored = messageFields(json);
  return { quota: readQuota(stored.member("quota")), flow: readFlow(stored.member("flow")) };
}

function readQuota(stored: JsonField): quotas.Quota {
  const value = stored.member("channel_value");
  return {
    name: stored.member("name").asText(),
    maxPercentageSend: stored.member("max_percentage_send").asUint32(),
    maxPercentageRecv: stored.member("max_percentage_recv").asUint32(),
    duration: stored.member("duration").asUint64(),
    channelValue: value.isPresent() ? BigInt(value.asText()) : undefined,
  };
}

function readFlow(stored: JsonField): quotas.Flow {
  const integer = (name: string): bigint => BigInt(stored.member(name).asText());
  return { inflow: integer("inflow"), outflow: integer("outflow"), periodEnd: integer("period_end") };
}

function readQueued(json: wasm.MessageJson): QueuedMessage {
  const stored = messageFields(json);
  return {
    message: isRecord(json) ? (json["message"] ?? null) : null,
    submittedAt: BigInt(stored.member("submitted_at").asText()),
    delayHours: stored.member("timelock_delay").asUint32(),
    id: stored.member("message_id").asText(),
  };
}

function listOf(json: wasm.MessageJson): readonly wasm.MessageJson[] {
  return Array.isArray(json) ? json : unreachable("the contract stores a list here");
}
