import { unreachable } from "../../../../platform/base/errors.ts";
import { parseGoBigInt } from "../../../../platform/base/integers.ts";
import { NS_PER_SECOND, splitNs } from "../../../../platform/base/time.ts";
import type { Timestamp } from "../../../../cosmos/proto/gen/google/protobuf/timestamp.ts";
import type { LimitOrderExpiration } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_expiration.ts";
import type { LimitOrderTranche } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_tranche.ts";
import type { LimitOrderTrancheUser } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_tranche_user.ts";
import type { Pool as WirePool } from "../../../../cosmos/proto/gen/neutron/dex/pool.ts";
import type { PoolReserves as WirePoolReserves } from "../../../../cosmos/proto/gen/neutron/dex/pool_reserves.ts";
import type { TickLiquidity as WireTickLiquidity } from "../../../../cosmos/proto/gen/neutron/dex/tick_liquidity.ts";
import type * as types from "./types.ts";

const NO_PAIR: types.TradePairId = { makerDenom: "", takerDenom: "" };

export function toWireReserves(record: types.PoolReserves): WirePoolReserves {
  const { tradePairId, tick, fee } = record.key;
  return {
    key: { tradePairId, tickIndexTakerToMaker: tick, fee },
    reservesMakerDenom: record.reserves.toString(),
    priceTakerToMaker: record.priceTakerToMaker.toString(),
    priceOppositeTakerToMaker: record.priceOppositeTakerToMaker.toString(),
    makerPrice: record.makerPrice.toString(),
  };
}

/** Converts one side of a pool from protobuf. Throws if one of its numeric strings is malformed. */
function fromWireReserves(wire: WirePoolReserves): types.PoolReserves {
  return {
    key: {
      tradePairId: wire.key?.tradePairId ?? NO_PAIR,
      tick: wire.key?.tickIndexTakerToMaker ?? 0n,
      fee: wire.key?.fee ?? 0n,
    },
    reserves: parseNumber(wire.reservesMakerDenom),
    priceTakerToMaker: parseNumber(wire.priceTakerToMaker),
    priceOppositeTakerToMaker: parseNumber(wire.priceOppositeTakerToMaker),
    makerPrice: parseNumber(wire.makerPrice),
  };
}

export function toWirePool({ id, lower, upper }: types.Pool): WirePool {
  return { id, lowerTick0: toWireReserves(lower), upperTick1: toWireReserves(upper) };
}

export function toWireTranche(record: types.Tranche): LimitOrderTranche {
  const { tradePairId, tick, trancheKey } = record.key;
  const { expirationTimeNs } = record;
  return {
    key: { tradePairId, tickIndexTakerToMaker: tick, trancheKey },
    reservesMakerDenom: record.reservesMaker.toString(),
    reservesTakerDenom: record.reservesTaker.toString(),
    totalMakerDenom: record.totalMaker.toString(),
    totalTakerDenom: record.totalTaker.toString(),
    expirationTime: expirationTimeNs === undefined ? undefined : splitNs(expirationTimeNs),
    priceTakerToMaker: record.priceTakerToMaker.toString(),
    makerPrice: record.makerPrice.toString(),
  };
}

/** Converts a tranche from protobuf. Throws if one of its numeric strings is malformed. */
export function fromWireTranche(wire: LimitOrderTranche): types.Tranche {
  return {
    key: {
      tradePairId: wire.key?.tradePairId ?? NO_PAIR,
      tick: wire.key?.tickIndexTakerToMaker ?? 0n,
      trancheKey: wire.key?.trancheKey ?? "",
    },
    reservesMaker: parseNumber(wire.reservesMakerDenom),
    reservesTaker: parseNumber(wire.reservesTakerDenom),
    totalMaker: parseNumber(wire.totalMakerDenom),
    totalTaker: parseNumber(wire.totalTakerDenom),
    expirationTimeNs: wire.expirationTime === undefined ? undefined : timestampNs(wire.expirationTime),
    priceTakerToMaker: parseNumber(wire.priceTakerToMaker),
    makerPrice: parseNumber(wire.makerPrice),
  };
}

export function toWireTrancheUser(record: types.TrancheUser): LimitOrderTrancheUser {
  return {
    tradePairId: record.tradePairId,
    tickIndexTakerToMaker: record.tick,
    trancheKey: record.trancheKey,
    address: record.address,
    sharesOwned: record.sharesOwned.toString(),
    sharesCancelled: "0",
    sharesWithdrawn: record.sharesWithdrawn.toString(),
    orderType: record.orderType,
  };
}

/** Converts a user's position in a tranche from protobuf. Throws if a numeric string is malformed. */
export function fromWireTrancheUser(wire: LimitOrderTrancheUser): types.TrancheUser {
  return {
    tradePairId: wire.tradePairId ?? NO_PAIR,
    tick: wire.tickIndexTakerToMaker,
    trancheKey: wire.trancheKey,
    address: wire.address,
    sharesOwned: parseNumber(wire.sharesOwned),
    sharesWithdrawn: parseNumber(wire.sharesWithdrawn),
    orderType: wire.orderType,
  };
}

export function toWireTick(record: types.TickLiquidity): WireTickLiquidity {
  return record.kind === "pool"
    ? { record: { $case: "liquidity", value: toWireReserves(record.reserves) } }
    : { record: { $case: "limitOrderTranche", value: toWireTranche(record.tranche) } };
}

/** Converts an order book record from protobuf. Throws if the record contains neither a pool nor a tranche. */
export function fromWireTick({ record }: WireTickLiquidity): types.TickLiquidity {
  if (record === undefined) return unreachable("a tick record without liquidity");
  return record.$case === "liquidity"
    ? { kind: "pool", reserves: fromWireReserves(record.value) }
    : { kind: "tranche", tranche: fromWireTranche(record.value) };
}

export function toWireExpiration({ timeNs, trancheRef }: types.Expiration): LimitOrderExpiration {
  return { expirationTime: splitNs(timeNs), trancheRef };
}

/** Converts a timestamp to nanoseconds since the Unix epoch. */
export function timestampNs({ seconds, nanos }: Timestamp): bigint {
  return seconds * NS_PER_SECOND + BigInt(nanos);
}

/** Parses a number that protobuf encodes as a string. An empty string means 0. */
function parseNumber(text: string): bigint {
  return text === "" ? 0n : parseGoBigInt(text);
}
