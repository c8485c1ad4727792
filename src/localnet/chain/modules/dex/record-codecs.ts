import { cachedOn, type Codec } from "../../store/collections.ts";
import { LimitOrderExpiration } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_expiration.ts";
import { LimitOrderTranche } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_tranche.ts";
import { LimitOrderTrancheUser } from "../../../../cosmos/proto/gen/neutron/dex/limit_order_tranche_user.ts";
import { TickLiquidity as WireTickLiquidity } from "../../../../cosmos/proto/gen/neutron/dex/tick_liquidity.ts";
import { createObjectSlot } from "../../../../platform/base/caches.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import { splitNs } from "../../../../platform/base/time.ts";
import type { Profile } from "../../deviations/deviations.ts";
import type { Context } from "../../runtime/context.ts";
import * as records from "./records.ts";
import type { Expiration, PoolReserves, TickLiquidity, TradePairId, Tranche, TrancheUser } from "./types.ts";

/** Protobuf wire types, stored in the low bits of a tag. */
const VARINT = 0;
const LENGTH_DELIMITED = 2;

/**
 * Size of the write buffer in bytes. The largest record contains denominations and addresses of 128 bytes, and six numbers of up to
 * 105 digits.
 */
const CAPACITY = 4096;

/**
 * Writes protobuf into a buffer that all records reuse. The general-purpose writer is several times slower, and each swap writes
 * several order book records. This writer accepts only ASCII strings (see {@link isAscii}).
 */
function createProtoWriter() {
  const buffer = new Uint8Array(CAPACITY);
  let at = 0;
  const varint = (value: number): void => {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) buffer[at++] = (rest % 128) | 0x80;
    buffer[at++] = rest;
  };
  const bigVarint = (value: bigint): void => {
    let rest = BigInt.asUintN(64, value);
    for (; rest > 0x7fn; rest >>= 7n) buffer[at++] = Number(rest & 0x7fn) | 0x80;
    buffer[at++] = Number(rest);
  };
  return {
    start: (): void => {
      at = 0;
    },
    text: (field: number, text: string): void => {
      buffer[at++] = field * 8 + LENGTH_DELIMITED;
      varint(text.length);
      const start = at;
      if (start + text.length > CAPACITY) unreachable("a record is larger than the buffer");
      for (let index = 0; index < text.length; index++) buffer[start + index] = text.charCodeAt(index);
      at = start + text.length;
    },
    /** Writes an integer field, unless the value is 0. */
    int64: (field: number, value: bigint): void => {
      if (value === 0n) return;
      buffer[at++] = field * 8 + VARINT;
      const small = Number(value);
      if (small > 0 && small < 2 ** 53) varint(small);
      else bigVarint(value);
    },
    message: (field: number, write: () => void): void => {
      buffer[at++] = field * 8 + LENGTH_DELIMITED;
      const start = ++at;
      write();
      const length = at - start;
      // Only one byte is reserved for the length, so the message is shifted if the length needs two bytes.
      if (length > 0x7f) {
        buffer.copyWithin(start + 1, start, at);
        buffer[start] = length >> 7;
        at += 1;
      }
      buffer[start - 1] = length > 0x7f ? (length & 0x7f) | 0x80 : length;
    },
    raw: (bytes: Uint8Array): void => {
      buffer.set(bytes, at);
      at += bytes.length;
    },
    /** Returns a copy of the bytes written since `start`. */
    finish: (): Uint8Array => buffer.slice(0, at),
  };
}

/** Returns whether a string contains only ASCII characters (one byte each) and is short enough for the buffer. */
function isAscii(text: string): boolean {
  if (text.length > 256) return false;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

const writer = createProtoWriter();

/**
 * Wraps a codec to cache each decoded record on its byte array. The store returns the same array until the value is written again,
 * so the cached record always matches the stored bytes. Callers must not modify a decoded record, because later reads return the
 * same object.
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

const tickCodec: Codec<TickLiquidity> = {
  encode: (record) => (record.kind === "pool" ? encodePool(record.reserves) : encodeActive(record.tranche)),
  decode: (bytes) => records.fromWireTick(WireTickLiquidity.decode(bytes)),
};

const trancheCodec: Codec<Tranche> = {
  encode: (tranche) => {
    if (!isPlain(tranche.key.tradePairId, tranche.key.trancheKey))
      return LimitOrderTranche.encode(records.toWireTranche(tranche)).finish();
    writer.start();
    writeTranche(tranche);
    return writer.finish();
  },
  decode: (bytes) => records.fromWireTranche(LimitOrderTranche.decode(bytes)),
};

const trancheUserCodec: Codec<TrancheUser> = {
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
};

/** Codecs for the records whose field numbers depend on the profile. */
interface RecordCodecs {
  readonly tick: Codec<TickLiquidity>;
  readonly tranche: Codec<Tranche>;
  readonly trancheUser: Codec<TrancheUser>;
}

export function recordCodecs({ profile }: Pick<Context, "profile">): RecordCodecs {
  return codecsOf(profile);
}

const codecsOf = cachedOn("record codecs", ({ proto }: Profile): RecordCodecs => {
  const renumbered = <T extends object>(typeName: string, codec: Codec<T>): Codec<T> =>
    proto === undefined
      ? remembering(codec)
      : remembering({
          encode: (record) => proto.encode(typeName, codec.encode(record)),
          decode: (bytes) => codec.decode(proto.decode(typeName, bytes)),
        });
  return {
    tick: renumbered("neutron.dex.TickLiquidity", tickCodec),
    tranche: renumbered("neutron.dex.LimitOrderTranche", trancheCodec),
    trancheUser: renumbered("neutron.dex.LimitOrderTrancheUser", trancheUserCodec),
  };
});

export const expirationCodec: Codec<Expiration> = {
  encode: (record) => LimitOrderExpiration.encode(records.toWireExpiration(record)).finish(),
  decode: (bytes) => {
    const { expirationTime, trancheRef } = LimitOrderExpiration.decode(bytes);
    return { timeNs: records.timestampNs(expirationTime ?? { seconds: 0n, nanos: 0 }), trancheRef };
  },
};

/** Returns whether the fast writer can encode these strings. Strings from a genesis document can be empty, long or non-ASCII. */
function isPlain({ makerDenom, takerDenom }: TradePairId, ...others: readonly string[]): boolean {
  return isAscii(makerDenom) && isAscii(takerDenom) && others.every((text) => text !== "" && isAscii(text));
}

/** The encoded bytes before and after a pool side's reserves, and the prices encoded in these bytes. */
interface EncodedSide {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly makerPrice: bigint;
  readonly priceTakerToMaker: bigint;
  readonly priceOppositeTakerToMaker: bigint;
}

/**
 * Caches the encoded bytes on the key object, which all versions of a pool side share. The cache pays off because a swap changes a
 * side's reserves, but rarely its prices.
 */
const encodedSides = createObjectSlot<PoolReserves["key"], EncodedSide>("encoded side");

function encodePool(side: PoolReserves): Uint8Array {
  if (!isPlain(side.key.tradePairId))
    return WireTickLiquidity.encode(records.toWireTick({ kind: "pool", reserves: side })).finish();
  const { head, tail } = encodedSideOf(side);
  writer.start();
  writer.message(1, () => {
    writer.raw(head);
    writer.text(2, side.reserves.toString());
    writer.raw(tail);
  });
  return writer.finish();
}

function encodedSideOf(side: PoolReserves): EncodedSide {
  const known = encodedSides.get(side.key);
  const isSame =
    known !== undefined &&
    known.makerPrice === side.makerPrice &&
    known.priceTakerToMaker === side.priceTakerToMaker &&
    known.priceOppositeTakerToMaker === side.priceOppositeTakerToMaker;
  if (isSame) return known;
  const { makerPrice, priceTakerToMaker, priceOppositeTakerToMaker } = side;
  const encoded = {
    head: poolHead(side),
    tail: poolTail(side),
    makerPrice,
    priceTakerToMaker,
    priceOppositeTakerToMaker,
  };
  encodedSides.set(side.key, encoded);
  return encoded;
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

/** Writes a pair, omitting empty denominations. */
function writePair({ makerDenom, takerDenom }: TradePairId): void {
  writer.message(1, () => {
    if (makerDenom !== "") writer.text(1, makerDenom);
    if (takerDenom !== "") writer.text(2, takerDenom);
  });
}
