import { Argument, type Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { parseFee, parseTick } from "./arguments.ts";
import { DEX_TABLES } from "./tables.ts";
import { type ServiceQuery, serviceQueryCommands } from "../../../../cli/module-query.ts";

/** `relaywatch query dex` (dex.md, "CLI"). */
export function queryDexCommand(context: CliContext): Command {
  return serviceQueryCommands(
    { service: "neutron.dex.Query", arguments: ARGUMENTS, tables: DEX_TABLES, queries: QUERIES },
    context,
  );
}

const ARGUMENTS = {
  pair_id: () => new Argument("<pair-id>", "'A<>B'"),
  token_in: () => new Argument("<token-in>", "maker denomination: the one that the side sells"),
  tick_index: () => new Argument("<tick-index>", "[-5] for -5").argParser(parseTick),
  fee: () => new Argument("<fee>", "basis points").argParser(parseFee),
  tranche_key: () => new Argument("<tranche-key>", "key of a tranche"),
  address: () => new Argument("<address>", "bech32 address"),
  pool_id: () => new Argument("<pool-id>", "id of a pool").argParser(parseFee),
  id: () => new Argument("<id>", "id of a pool").argParser(parseFee),
};

const TRANCHE_ARGUMENTS = ["pair_id", "token_in", "tick_index", "tranche_key"] as const;

const QUERIES: readonly ServiceQuery<keyof typeof ARGUMENTS, keyof typeof DEX_TABLES>[] = [
  { name: "params", rpc: "Params", description: "print the module's parameters" },
  {
    name: "show-pool",
    rpc: "Pool",
    description: "print a pool by its centre and fee",
    arguments: ["pair_id", "tick_index", "fee"],
  },
  { name: "show-pool-by-id", rpc: "PoolByID", description: "print a pool", arguments: ["pool_id"] },
  {
    name: "list-pool-reserves",
    rpc: "PoolReservesAll",
    description: "list the reserves of all pools on one side of a pair",
    arguments: ["pair_id", "token_in"],
    isList: true,
  },
  {
    name: "show-pool-reserves",
    rpc: "PoolReserves",
    description: "print one side of a pool",
    arguments: ["pair_id", "tick_index", "token_in", "fee"],
  },
  {
    name: "list-user-limit-orders",
    rpc: "LimitOrderTrancheUserAllByAddress",
    description: "list the limit orders of an address",
    arguments: ["address"],
    isList: true,
  },
  {
    name: "list-limit-order-tranche-user",
    rpc: "LimitOrderTrancheUserAll",
    description: "list all limit orders",
    isList: true,
  },
  {
    name: "show-limit-order-tranche-user",
    rpc: "LimitOrderTrancheUser",
    description: "print an address's part of a tranche",
    arguments: ["address", "tranche_key"],
    option: {
      flags: "--calc-withdraw",
      field: "calc_withdrawable_shares",
      description: "also print the shares that can be withdrawn",
    },
  },
  {
    name: "show-limit-order-tranche",
    rpc: "LimitOrderTranche",
    description: "print a tranche",
    arguments: TRANCHE_ARGUMENTS,
  },
  {
    name: "list-limit-order-tranche",
    rpc: "LimitOrderTrancheAll",
    description: "list the active tranches on one side of a pair",
    arguments: ["pair_id", "token_in"],
    isList: true,
  },
  {
    name: "list-user-deposits",
    rpc: "UserDepositsAll",
    description: "list the pool shares of an address",
    arguments: ["address"],
    option: {
      flags: "--include-pool-data",
      field: "include_pool_data",
      description: "also print the pools and all shares",
    },
    isList: true,
  },
  {
    name: "list-tick-liquidity",
    rpc: "TickLiquidityAll",
    description: "list pools and limit orders on one side of a pair, the cheapest for a taker first",
    arguments: ["pair_id", "token_in"],
    isList: true,
  },
  {
    name: "list-pool-metadata",
    rpc: "PoolMetadataAll",
    description: "list pair, centre and fee of all pools",
    isList: true,
  },
  {
    name: "show-pool-metadata",
    rpc: "PoolMetadata",
    description: "print pair, centre and fee of a pool",
    arguments: ["id"],
  },
  {
    name: "list-inactive-limit-order-tranche",
    alias: "list-filled-limit-order-tranche",
    rpc: "InactiveLimitOrderTrancheAll",
    description: "list filled, cancelled and expired tranches",
    isList: true,
  },
  {
    name: "show-inactive-limit-order-tranche",
    alias: "show-filled-limit-order-tranche",
    rpc: "InactiveLimitOrderTranche",
    description: "print a filled, cancelled or expired tranche",
    arguments: TRANCHE_ARGUMENTS,
  },
];
