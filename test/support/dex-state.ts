import { toHex } from "../../src/platform/base/bytes.ts";
import { formatRfc3339Ns } from "../../src/platform/base/time.ts";
import type { Tranche } from "../../src/localnet/chain/modules/dex/types.ts";
import { moduleParams } from "../../src/localnet/chain/modules/dex/params.ts";
import {
  toWireTick,
  toWireTranche,
  toWireTrancheUser,
} from "../../src/localnet/chain/modules/dex/records.ts";
import * as store from "../../src/localnet/chain/modules/dex/store.ts";
import type { Profile } from "../../src/localnet/chain/deviations/deviations.ts";
import type { Context } from "../../src/localnet/chain/runtime/context.ts";
import { LimitOrderTranche } from "../../src/cosmos/proto/gen/neutron/dex/limit_order_tranche.ts";
import { LimitOrderTrancheUser } from "../../src/cosmos/proto/gen/neutron/dex/limit_order_tranche_user.ts";
import { Params } from "../../src/cosmos/proto/gen/neutron/dex/params.ts";
import { PoolMetadata } from "../../src/cosmos/proto/gen/neutron/dex/pool_metadata.ts";
import { TickLiquidity } from "../../src/cosmos/proto/gen/neutron/dex/tick_liquidity.ts";
import { messageToJson } from "../../src/cosmos/proto/json.ts";
import { CANONICAL_CHAIN_NAME } from "../../src/cosmos/proto/registry.ts";
import { allBalances, allSupplies, DEX_ADDRESS } from "./dex-world.ts";

interface MessageType<T> {
  readonly encode: (message: T) => { finish(): Uint8Array };
}

type Print = <T>(name: string, type: MessageType<T>, message: T) => unknown;

function printer(profile: Profile): Print {
  const { proto } = profile;
  return (name, type, message) => {
    const typeName = `neutron.dex.${name}`;
    const bytes = type.encode(message).finish();
    const own = proto?.encode(typeName, bytes) ?? bytes;
    return messageToJson(typeName, own, CANONICAL_CHAIN_NAME, proto);
  };
}

/** Prints the state in the form of `final` of a vector. */
export function printState(context: Context): Readonly<Record<string, unknown>> {
  const print = printer(context.profile);
  return {
    params: print("Params", Params, moduleParams.get(context)),
    tick_liquidity: [...store.allTicks(context)].map((record) =>
      print("TickLiquidity", TickLiquidity, toWireTick(record)),
    ),
    inactive_limit_order_tranches: [...store.inactiveTranches.all(context)].map((tranche) =>
      print("LimitOrderTranche", LimitOrderTranche, toWireTranche(tranche)),
    ),
    limit_order_tranche_users: [...store.trancheUsers.all(context)].map((user) =>
      print("LimitOrderTrancheUser", LimitOrderTrancheUser, toWireTrancheUser(user)),
    ),
    limit_order_expirations: [...store.expirations.all(context)].map((expiration) => ({
      expiration_time: formatRfc3339Ns(expiration.timeNs),
      tranche_ref_hex: toHex(expiration.trancheRef),
    })),
    pool_metadata: [...store.poolMetadata.entries(context)].map(([, metadata]) =>
      print("PoolMetadata", PoolMetadata, metadata),
    ),
    pool_share_supply: Object.fromEntries(
      allSupplies(context)
        .filter(([denom]) => denom.startsWith("neutron/pool/"))
        .map(([denom, amount]) => [denom, amount.toString()]),
    ),
    balances: printBalances(context),
    tranche_count: store.trancheCount.get(context).toString(),
    pool_count: store.poolCount.get(context).toString(),
    jits_in_block: store.getJitsInBlock(context).toString(),
  };
}

function printBalances(context: Context): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const byAddress: Record<string, Record<string, string>> = {};
  for (const [address, denom, amount] of allBalances(context))
    byAddress[address] = { ...byAddress[address], [denom]: amount.toString() };
  return byAddress;
}

/** Returns the denominations whose balance of the module is not the sum of reserves and of what it owes to orders. */
export function unbalancedDenoms(context: Context): readonly string[] {
  const sums = new Map<string, bigint>();
  const add = (denom: string, amount: bigint): void => void sums.set(denom, (sums.get(denom) ?? 0n) + amount);
  for (const record of store.allTicks(context)) {
    if (record.kind === "pool") add(record.reserves.key.tradePairId.makerDenom, record.reserves.reserves);
    else addTranche(record.tranche, add);
  }
  for (const tranche of store.inactiveTranches.all(context)) addTranche(tranche, add);
  for (const [address, denom, amount] of allBalances(context))
    if (address === DEX_ADDRESS) add(denom, -amount);
  return [...sums].filter(([, sum]) => sum !== 0n).map(([denom]) => denom);
}

function addTranche(
  { key, reservesMaker, reservesTaker }: Tranche,
  add: (denom: string, amount: bigint) => void,
): void {
  add(key.tradePairId.makerDenom, reservesMaker);
  add(key.tradePairId.takerDenom, reservesTaker);
}
