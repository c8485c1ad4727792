import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { fromHex, toHex } from "../../src/platform/base/bytes.ts";

/** Message fields of a type that hold a type with other field numbers, directly or further inside. */
const NESTED: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  PoolReservesKey: { 1: "TradePairID" },
  PoolReserves: { 1: "PoolReservesKey" },
  LimitOrderTrancheKey: { 1: "TradePairID" },
  LimitOrderTranche: { 1: "LimitOrderTrancheKey" },
  LimitOrderTrancheUser: { 1: "TradePairID" },
  TickLiquidity: { 1: "PoolReserves", 2: "LimitOrderTranche" },
  Pool: { 2: "PoolReserves", 3: "PoolReserves" },
  DepositRecord: { 8: "Pool" },
};

/** Deployed field numbers, and those of the specification (S1, S2). */
const RENUMBERED: Readonly<Record<string, Readonly<Record<number, number>>>> = {
  TradePairID: { 2: 1, 3: 2 },
  LimitOrderTrancheUser: { 6: 7, 7: 6 },
};

interface Field {
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** Changes the field numbers of a deployed message, in hex, to those of the specification. */
export function renumber(typeName: string, hex: string): string {
  return toHex(renumberBytes(typeName.replace(/^neutron\.dex\./, ""), fromHex(hex)));
}

function renumberBytes(type: string, bytes: Uint8Array): Uint8Array {
  const reader = new BinaryReader(bytes);
  const fields: Field[] = [];
  while (reader.pos < reader.len) {
    const [deployed, wireType] = reader.tag();
    const number = RENUMBERED[type]?.[deployed] ?? deployed;
    const nested = NESTED[type]?.[deployed];
    const writer = new BinaryWriter().tag(number, wireType);
    if (wireType === WireType.LengthDelimited) {
      const value = reader.bytes();
      writer.bytes(nested === undefined ? value : renumberBytes(nested, value));
    } else {
      writer.raw(reader.skip(wireType));
    }
    fields.push({ number, bytes: writer.finish() });
  }
  const writer = new BinaryWriter();
  for (const field of fields.toSorted((a, b) => a.number - b.number)) writer.raw(field.bytes);
  return writer.finish();
}
