import { parseAddress, formatAddress, moduleAddress } from "../../runtime/address.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import type { MsgDeposit, MsgPlaceLimitOrder } from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { type Profile, SPECIFICATION } from "../../deviations/deviations.ts";
import type { Coin } from "../../runtime/coins.ts";
import { createContext } from "../../runtime/context.ts";
import { createGasMeter } from "../../runtime/gas.ts";
import { createBranch, type KVStore } from "../../store/cache-store.ts";
import { deposit } from "./liquidity.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { MODULE_NAME } from "./keys.ts";
import { parseDeposit, parsePlaceLimitOrder } from "./messages.ts";
import { placeLimitOrder } from "./limit-orders.ts";
import type { DexBank, DexOptions } from "./types.ts";

interface SeedBalance {
  /** Bech32. */
  readonly address: string;
  readonly coins: readonly Coin[];
}

/** Contents of a genesis state, specified as messages that run before the first block. */
export interface SeedOptions extends DexOptions {
  /** Block time at which the messages run. */
  readonly timeNs: bigint;
  /** Default: `specification`. */
  readonly profile?: Profile;
  readonly balances: readonly SeedBalance[];
  readonly deposits: readonly MsgDeposit[];
  readonly orders: readonly MsgPlaceLimitOrder[];
}

/** The module's genesis state, and the balances after the messages have run, including the module account's balance. */
export interface SeededDex {
  readonly genesis: JsonValue;
  readonly balances: readonly SeedBalance[];
}

/** Runs messages on an empty state. Throws `ModuleError` if a message fails. */
export function seedDex(options: SeedOptions): SeededDex {
  const { timeNs, bech32Prefix, profile = SPECIFICATION } = options;
  const context = createContext(
    { chainId: "", height: 0n, timeNs, profile },
    { mode: "deliver", gas: createGasMeter(), branch: createBranch(() => EMPTY), emit: () => undefined },
  );
  const ledger = createLedger(options);
  const keepers = { ...options, bank: ledger.bank };
  initGenesis(context, undefined, bech32Prefix);
  for (const message of options.deposits) deposit(context, parseDeposit(message, bech32Prefix), keepers);
  for (const message of options.orders)
    placeLimitOrder(context, parsePlaceLimitOrder(message, bech32Prefix), keepers);
  const balances = ledger.balances();
  return { genesis: exportGenesis(context, ledger.bank), balances };
}

const EMPTY: KVStore = {
  get: () => undefined,
  has: () => false,
  set: () => undefined,
  delete: () => undefined,
  iterate: () => [][Symbol.iterator](),
  iterateReverse: () => [][Symbol.iterator](),
};

interface Ledger {
  readonly bank: DexBank;
  /** Returns the balances, ordered by address and denomination. */
  readonly balances: () => readonly SeedBalance[];
}

function createLedger({ bech32Prefix, balances }: SeedOptions): Ledger {
  const amounts = new Map<string, Map<string, bigint>>();
  const add = (address: string, coins: readonly Coin[], sign: 1n | -1n): void => {
    const own = amounts.get(address) ?? new Map<string, bigint>();
    amounts.set(address, own);
    for (const { denom, amount } of coins) {
      const after = (own.get(denom) ?? 0n) + sign * amount;
      if (after < 0n) throw new Error(`${address} has too few ${denom}`);
      own.set(denom, after);
    }
  };
  const coinsOf = (address: string): readonly Coin[] =>
    sorted(amounts.get(address) ?? new Map<string, bigint>()).flatMap(([denom, amount]) =>
      amount > 0n ? [{ denom, amount }] : [],
    );
  const text = (address: Uint8Array): string => formatAddress(bech32Prefix, address);
  const own = text(moduleAddress(MODULE_NAME));
  const sum = (denom: string): bigint =>
    [...amounts.values()].reduce((total, coins) => total + (coins.get(denom) ?? 0n), 0n);
  for (const { address, coins } of balances) add(address, coins, 1n);
  return {
    bank: {
      balance: (_context, address, denom) => ({
        denom,
        amount: amounts.get(text(address))?.get(denom) ?? 0n,
      }),
      holders: (_context, denom) =>
        sorted(amounts)
          .flatMap(([address, coins]) =>
            (coins.get(denom) ?? 0n) > 0n ? [parseAddress(bech32Prefix, address)] : [],
          )
          .values(),
      balances: (_context, address) => coinsOf(text(address)).values(),
      supply: (_context, denom) => sum(denom),
      sendToModule: (_context, from, _module, coins) => {
        add(text(from), coins, -1n);
        add(own, coins, 1n);
      },
      sendFromModule: (_context, _module, to, coins) => {
        add(own, coins, -1n);
        add(text(to), coins, 1n);
      },
      mint: (_context, _module, coins) => add(own, coins, 1n),
      burn: (_context, _module, coins) => add(own, coins, -1n),
    },
    balances: () => sorted(amounts).map(([address]) => ({ address, coins: coinsOf(address) })),
  };
}

function sorted<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
