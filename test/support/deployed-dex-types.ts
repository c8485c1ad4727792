import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

// Types of the exchange as clients of the deployed chain (release 6.0.3) have them. They know nothing of this repository's definitions.

/** A field: its name, and its type if it is a message. Every field may repeat. */
type Field = readonly [name: string, type?: string];

/** Fields by number. */
const TYPES: Readonly<Record<string, Readonly<Record<number, Field>>>> = {
  TradePairID: { 2: ["maker_denom"], 3: ["taker_denom"] },
  PoolReservesKey: { 1: ["trade_pair_id", "TradePairID"], 2: ["tick_index_taker_to_maker"], 3: ["fee"] },
  PoolReserves: { 1: ["key", "PoolReservesKey"], 2: ["reserves_maker_denom"] },
  LimitOrderTrancheKey: {
    1: ["trade_pair_id", "TradePairID"],
    2: ["tick_index_taker_to_maker"],
    3: ["tranche_key"],
  },
  LimitOrderTranche: { 1: ["key", "LimitOrderTrancheKey"], 2: ["reserves_maker_denom"] },
  LimitOrderTrancheUser: {
    1: ["trade_pair_id", "TradePairID"],
    3: ["tranche_key"],
    4: ["address"],
    5: ["shares_owned"],
    6: ["shares_withdrawn"],
    7: ["shares_cancelled"],
  },
  TickLiquidity: { 1: ["pool_reserves", "PoolReserves"], 2: ["limit_order_tranche", "LimitOrderTranche"] },
  Pool: { 2: ["lower_tick0", "PoolReserves"], 3: ["upper_tick1", "PoolReserves"] },
  QueryAllTickLiquidityResponse: { 1: ["tick_liquidity", "TickLiquidity"] },
  QueryAllLimitOrderTrancheUserResponse: { 1: ["limit_order_tranche_user", "LimitOrderTrancheUser"] },
  QueryPoolResponse: { 1: ["pool", "Pool"] },
};

/** A decoded message: each field as the list of its values. Fields that the type does not have are left out. */
export interface Decoded {
  readonly [name: string]: readonly (string | Decoded)[];
}

/** Decodes a message of the deployed chain. Numbers become decimal texts. Throws for an unknown type. */
export function decodeDeployed(type: string, bytes: Uint8Array): Decoded {
  const fields = TYPES[type];
  if (fields === undefined) throw new Error(`no type ${type}`);
  const decoded: Record<string, (string | Decoded)[]> = {};
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const [name, inner] = fields[number] ?? [];
    if (name === undefined) reader.skip(wireType);
    else (decoded[name] ??= []).push(valueOf(reader, wireType, inner));
  }
  return decoded;
}

function valueOf(reader: BinaryReader, wireType: WireType, inner: string | undefined): string | Decoded {
  if (wireType === WireType.Varint) return reader.int64().toString();
  return inner === undefined ? reader.string() : decodeDeployed(inner, reader.bytes());
}
