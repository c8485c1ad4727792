import type { MessageJson } from "../../modules/wasm/contract.ts";
import { concat, fromUtf8, prefixEnd, utf8 } from "../../../../platform/base/bytes.ts";
import { isRecord, type JsonField } from "../../../../platform/base/json.ts";
import { parseMessageJson, printMessageJson } from "../../modules/wasm/message-json.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import type { KVStore } from "../../store/cache-store.ts";
import { messageFields } from "../messages.ts";
import type { Flow, Quota, RateLimit } from "./quota.ts";
import type { Path } from "./packet.ts";

/** Channel name of the path that counts a denomination's transfers across all channels. */
export const ANY_CHANNEL = "any";

// Keys as built by cw-storage-plus: a map's namespace is preceded by its length, and so is the first part of a two-part key. Raw
// queries written for the deployed contract find the same keys here.

/** Encodes a map's namespace, preceded by its length as 2 bytes big-endian. */
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

/** Reads and writes JSON under a key. */
export interface Entry<T> {
  /** Returns undefined if nothing is stored. */
  readonly get: (storage: KVStore) => T | undefined;
  readonly set: (storage: KVStore, value: T) => void;
  readonly remove: (storage: KVStore) => void;
}

function jsonEntry<T>(
  key: Uint8Array,
  read: (json: MessageJson) => T,
  write: (value: T) => MessageJson,
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

/** A path's quotas. */
export function limitsOf({ channel, denom }: Path): Entry<readonly RateLimit[]> {
  const key = concat(LIMITS, withLength(utf8(channel)), utf8(denom));
  return jsonEntry<readonly RateLimit[]>(
    key,
    (json) => listOf(json).map(readLimit),
    (limits) => limits.map(limitJson),
  );
}

/** An account's roles, in enum order. */
export function rolesOf(account: string): Entry<readonly string[]> {
  return textList(concat(ROLES, utf8(account)));
}

/** Channels over which a denomination may be sent; if empty or absent, all channels. */
export function allowedChannels(denom: string): Entry<readonly string[]> {
  return textList(concat(RESTRICTIONS, utf8(denom)));
}

/** Delay for an account's messages, in hours. */
export function timelockDelay(account: string): Entry<number> {
  return jsonEntry(concat(DELAYS, utf8(account)), Number, (hours) => hours);
}

/** Returns the accounts that have roles, in ascending order. */
export function roleOwners(storage: KVStore): readonly string[] {
  return [...storage.iterate(ROLES, prefixEnd(ROLES))].map(([key]) => fromUtf8(key.subarray(ROLES.length)));
}

/** A message that runs once its delay has passed. */
export interface QueuedMessage {
  readonly message: MessageJson;
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
export function limitJson({ quota, flow }: RateLimit): MessageJson {
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
export function queuedJson({ message, submittedAt, delayHours, id }: QueuedMessage): MessageJson {
  return { message, submitted_at: `${submittedAt}`, timelock_delay: delayHours, message_id: id };
}

function readLimit(json: MessageJson): RateLimit {
  const stored = messageFields(json);
  return { quota: readQuota(stored.member("quota")), flow: readFlow(stored.member("flow")) };
}

function readQuota(stored: JsonField): Quota {
  const value = stored.member("channel_value");
  return {
    name: stored.member("name").asText(),
    maxPercentageSend: stored.member("max_percentage_send").asUint32(),
    maxPercentageRecv: stored.member("max_percentage_recv").asUint32(),
    duration: stored.member("duration").asUint64(),
    channelValue: value.isPresent() ? BigInt(value.asText()) : undefined,
  };
}

function readFlow(stored: JsonField): Flow {
  const integer = (name: string): bigint => BigInt(stored.member(name).asText());
  return { inflow: integer("inflow"), outflow: integer("outflow"), periodEnd: integer("period_end") };
}

function readQueued(json: MessageJson): QueuedMessage {
  const stored = messageFields(json);
  return {
    message: isRecord(json) ? (json["message"] ?? null) : null,
    submittedAt: BigInt(stored.member("submitted_at").asText()),
    delayHours: stored.member("timelock_delay").asUint32(),
    id: stored.member("message_id").asText(),
  };
}

function listOf(json: MessageJson): readonly MessageJson[] {
  return Array.isArray(json) ? json : unreachable("the contract stores a list here");
}
