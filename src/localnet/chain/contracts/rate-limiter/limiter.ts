import { NS_PER_SECOND } from "../../../../platform/base/time.ts";
import type { JsonField } from "../../../../platform/base/json.ts";
import {
  type ContractAttribute,
  ContractError,
  type ContractResponse,
  type ContractScope,
} from "../../modules/wasm/contract.ts";
import { messageFields, respond } from "../messages.ts";
import { type Packet, type Path, readPacket, receivedPath, sentPath } from "./packet.ts";
import { allow, capacities, type Direction, netFlow, type RateLimit, type Transfer, undo } from "./quota.ts";
import { allowedChannels, ANY_CHANNEL, limitsOf } from "./state.ts";

/** `send_packet`: checks and counts an outgoing transfer. */
export function sendPacket(scope: ContractScope, fields: JsonField): ContractResponse {
  const packet = readPacket(fields);
  requireAllowedChannel(scope, packet);
  return countTransfer(scope, sentPath(packet), packet.amount, "out");
}

/** `recv_packet`: checks and counts an incoming transfer. */
export function receivePacket(scope: ContractScope, fields: JsonField): ContractResponse {
  const packet = readPacket(fields);
  return countTransfer(scope, receivedPath(packet), packet.amount, "in");
}

/** `undo_send`: reverts an outgoing transfer that the other chain rejected or that timed out. */
export function undoSend(scope: ContractScope, fields: JsonField): ContractResponse {
  const packet = readPacket(fields);
  const path = sentPath(packet);
  const { any, own, isLimited } = readLimits(scope, path);
  if (!isLimited) return unlimited(path);
  saveLimits(scope, path, {
    any: any.map((limit) => undo(limit, packet.amount)),
    own: own.map((limit) => undo(limit, packet.amount)),
  });
  return attributes("undo_send", path, [{ key: "any_channel", value: String(any.length > 0) }]);
}

/**
 * Compares the packet's denomination rather than the local one, as the reference contract does. A restriction on a voucher must
 * therefore name its trace.
 */
function requireAllowedChannel({ storage }: ContractScope, { denom, sourceChannel }: Packet): void {
  const channels = allowedChannels(denom).get(storage) ?? [];
  if (channels.length > 0 && !channels.includes(sourceChannel))
    throw new ContractError(`Channel ${sourceChannel} has been blocked for denom ${denom}`);
}

function countTransfer(
  scope: ContractScope,
  path: Path,
  amount: bigint,
  direction: Direction,
): ContractResponse {
  const supply = supplyOf(scope, path.denom);
  const { any, own, isLimited } = readLimits(scope, path);
  if (!isLimited) return unlimited(path);
  const transfer: Transfer = { direction, amount, supply, denom: path.denom, nowNs: scope.timeNs };
  // Check the channel's quotas first, and all quotas before saving anything.
  const nextOwn = own.map((limit) => allowed(limit, path, transfer));
  const nextAny = any.map((limit) => allowed(limit, path, transfer));
  saveLimits(scope, path, { any: nextAny, own: nextOwn });
  return attributes("try_transfer", path, [...nextAny, ...nextOwn].flatMap(quotaAttributes));
}

function allowed(limit: RateLimit, path: Path, transfer: Transfer): RateLimit {
  const result = allow(limit, transfer);
  if (result.ok) return result.limit;
  throw new ContractError(
    `IBC Rate Limit exceeded for ${path.channel}/${path.denom}. Tried to transfer ${transfer.amount} which exceeds ` +
      `capacity on the '${limit.quota.name}' quota (${result.used}/${result.max}). ` +
      `Try again after Timestamp(Uint64(${result.periodEnd}))`,
  );
}

interface PathLimits {
  readonly any: readonly RateLimit[];
  readonly own: readonly RateLimit[];
}

function readLimits({ storage }: ContractScope, path: Path): PathLimits & { readonly isLimited: boolean } {
  const any = limitsOf({ ...path, channel: ANY_CHANNEL }).get(storage) ?? [];
  const own = limitsOf(path).get(storage) ?? [];
  return { any, own, isLimited: any.length + own.length > 0 };
}

/** Saves both lists, even if empty, as the reference contract does. */
function saveLimits({ storage }: ContractScope, path: Path, { any, own }: PathLimits): void {
  limitsOf({ ...path, channel: ANY_CHANNEL }).set(storage, any);
  limitsOf(path).set(storage, own);
}

function supplyOf(scope: ContractScope, denom: string): bigint {
  const response = messageFields(scope.query({ bank: { supply: { denom } } }));
  return BigInt(response.member("amount").required().member("amount").required().asText());
}

function unlimited(path: Path): ContractResponse {
  return attributes("try_transfer", path, [{ key: "quota", value: "none" }]);
}

function attributes(
  method: string,
  { channel, denom }: Path,
  more: readonly ContractAttribute[],
): ContractResponse {
  const response = respond({ method, channel_id: channel, denom });
  return { ...response, attributes: [...response.attributes, ...more] };
}

function quotaAttributes({ quota, flow }: RateLimit): readonly ContractAttribute[] {
  const max = capacities(quota);
  const values = {
    used_in: `${netFlow(flow, "in")}`,
    used_out: `${netFlow(flow, "out")}`,
    max_in: `${max.in}`,
    max_out: `${max.out}`,
    period_end: `${flow.periodEnd / NS_PER_SECOND}.${`${flow.periodEnd % NS_PER_SECOND}`.padStart(9, "0")}`,
  };
  return Object.entries(values).map(([key, value]) => ({ key: `${quota.name}_${key}`, value }));
}
