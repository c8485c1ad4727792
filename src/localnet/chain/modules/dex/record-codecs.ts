import { createObjectSlot } from "../../../../platform/base/caches.ts";
import { splitNs } from "../../../../platform/base/time.ts";
import { LimitOrderExpiration } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_expiration.ts";
import { LimitOrderTranche } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_tranche.ts";
import { LimitOrderTrancheUser } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_tranche_user.ts";
import { TickLiquidity as WireTickLiquidity } from "../../../../cosmos/proto/gen/neutron/dex/tick_liquidity.ts";
import type { Codec } from "../../store/collections.ts";
import { createProtoWriter, isAscii } from "./proto-writer.ts";
import * as records from "./records.ts";
import type { Expiration, PoolReserves, TickLiquidity, TradePairId, Tranche, TrancheUser } from "./types.ts";

const writer = createProtoWriter();

/**
 * Keeps the decoded form of an array with the array. A store returns the same array for a value until the value is written
 * again, so a decoded record cannot be older than its bytes. Records are never modified.
 */
function remembering<T extends object>(codec: Codec<T>): Codec<T> {
  const decoded = createObjectSlot<Uint8Array, T>("decoded record");
  return {
    encode: (record) => {
      const bytes = codec.encode(record);
      decoded.set(bytes, record);
      return bytes;
    },
    decode: (bytes) => {
      const existing = decoded.get(bytes);
      if (existing !== undefined) return existing;
      const record = codec.decode(bytes);
      decoded.set(bytes, record);
      return record;
    },
  };
}

/** Active records. */
export const tickCodec: Codec<TickLiquidity> = remembering({
  encode: (record) => (record.kind === "pool" ? encodePool(record.reserves) : encodeActive(record.tranche)),
  decode: (bytes) => records.fromWireTick(WireTickLiquidity.decode(bytes)),
});

/** Inactive tranches. */
export const trancheCodec: Codec<Tranche> = remembering({
  encode: (tranche) => {
    if (!isPlain(tranche.key.tradePairId, tranche.key.trancheKey))
      return LimitOrderTranche.encode(records.toWireTranche(tranche)).finish();
    writer.start();
    writeTranche(tranche);
    return writer.finish();
  },
  decode: (bytes) => records.fromWireTranche(LimitOrderTranche.decode(bytes)),
});

/** Users' parts of tranches. */
export const trancheUserCodec: Codec<TrancheUser> = remembering({
  encode: (user) => {
    if (!isPlain(user.tradePairId, user.trancheKey, user.address))
      return LimitOrderTrancheUser.encode(records.toWireTrancheUser(user)).finish();
    writer.start();
    writePair(user.tradePairId);
    writer.int64(2, user.tick);
    writer.text(3, user.trancheKey);
    writer.text(4, user.address);
    writer.text(5, user.sharesOwned.toString());
    writer.text(6, "0");
    writer.text(7, user.sharesWithdrawn.toString());
    writer.int64(8, BigInt(user.orderType));
    return writer.finish();
  },
  decode: (bytes) => records.fromWireTrancheUser(LimitOrderTrancheUser.decode(bytes)),
});

/** Expirations. */
export const expirationCodec: Codec<Expiration> = {
  encode: (record) => LimitOrderExpiration.encode(records.toWireExpiration(record)).finish(),
  decode: (bytes) => {
    const { expirationTime, trancheRef } = LimitOrderExpiration.decode(bytes);
    return { timeNs: records.timestampNs(expirationTime ?? { seconds: 0n, nanos: 0 }), trancheRef };
  },
};

/** Texts of a genesis can be of any form. */
function isPlain({ makerDenom, takerDenom }: TradePairId, ...others: readonly string[]): boolean {
  return isAscii(makerDenom) && isAscii(takerDenom) && others.every((text) => text !== "" && isAscii(text));
}

/** The bytes of a side of a pool around its reserves, and the prices that they hold. */
interface PoolFrame {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly makerPrice: bigint;
  readonly priceTakerToMaker: bigint;
  readonly priceOppositeTakerToMaker: bigint;
}

/** Frames on the key object, which all versions of a side share. */
const frames = createObjectSlot<PoolReserves["key"], PoolFrame>("frame");

function encodePool(side: PoolReserves): Uint8Array {
  if (!isPlain(side.key.tradePairId))
    return WireTickLiquidity.encode(records.toWireTick({ kind: "pool", reserves: side })).finish();
  const { head, tail } = frameOf(side);
  writer.start();
  writer.message(1, () => {
    writer.raw(head);
    writer.text(2, side.reserves.toString());
    writer.raw(tail);
  });
  return writer.finish();
}

function frameOf(side: PoolReserves): PoolFrame {
  const known = frames.get(side.key);
  const isSame =
    known !== undefined &&
    known.makerPrice === side.makerPrice &&
    known.priceTakerToMaker === side.priceTakerToMaker &&
    known.priceOppositeTakerToMaker === side.priceOppositeTakerToMaker;
  if (isSame) return known;
  const { makerPrice, priceTakerToMaker, priceOppositeTakerToMaker } = side;
  const frame = {
    head: poolHead(side),
    tail: poolTail(side),
    makerPrice,
    priceTakerToMaker,
    priceOppositeTakerToMaker,
  };
  frames.set(side.key, frame);
  return frame;
}

function poolHead({ key }: PoolReserves): Uint8Array {
  writer.start();
  writer.message(1, () => {
    writePair(key.tradePairId);
    writer.int64(2, key.tick);
    writer.int64(3, key.fee);
  });
  return writer.finish();
}

function poolTail(side: PoolReserves): Uint8Array {
  writer.start();
  writer.text(3, side.priceTakerToMaker.toString());
  writer.text(4, side.priceOppositeTakerToMaker.toString());
  writer.text(5, side.makerPrice.toString());
  return writer.finish();
}

function encodeActive(tranche: Tranche): Uint8Array {
  if (!isPlain(tranche.key.tradePairId, tranche.key.trancheKey))
    return WireTickLiquidity.encode(records.toWireTick({ kind: "tranche", tranche })).finish();
  writer.start();
  writer.message(2, () => writeTranche(tranche));
  return writer.finish();
}

function writeTranche(tranche: Tranche): void {
  const { key, expirationTimeNs } = tranche;
  writer.message(1, () => {
    writePair(key.tradePairId);
    writer.int64(2, key.tick);
    writer.text(3, key.trancheKey);
  });
  writer.text(2, tranche.reservesMaker.toString());
  writer.text(3, tranche.reservesTaker.toString());
  writer.text(4, tranche.totalMaker.toString());
  writer.text(5, tranche.totalTaker.toString());
  if (expirationTimeNs !== undefined) writeTime(expirationTimeNs);
  writer.text(7, tranche.priceTakerToMaker.toString());
  writer.text(8, tranche.makerPrice.toString());
}

function writeTime(timeNs: bigint): void {
  const { seconds, nanos } = splitNs(timeNs);
  writer.message(6, () => {
    writer.int64(1, seconds);
    writer.int64(2, BigInt(nanos));
  });
}

/** A message omits empty texts. */
function writePair({ makerDenom, takerDenom }: TradePairId): void {
  writer.message(1, () => {
    if (makerDenom !== "") writer.text(1, makerDenom);
    if (takerDenom !== "") writer.text(2, takerDenom);
  });
}
