import { createAuthModule } from "../../src/localnet/chain/modules/auth/module.ts";
import { balances as storedBalances, supplies } from "../../src/localnet/chain/modules/bank/balances.ts";
import { createBankModule } from "../../src/localnet/chain/modules/bank/module.ts";
import { createDexModule } from "../../src/localnet/chain/modules/dex/module.ts";
import { moduleParams } from "../../src/localnet/chain/modules/dex/params.ts";
import type { DexBank } from "../../src/localnet/chain/modules/dex/types.ts";
import { profileNamed } from "../../src/localnet/chain/deviations/profile-named.ts";
import type { Profile } from "../../src/localnet/chain/deviations/deviations.ts";
import { formatAddress, moduleAddress, parseAddress } from "../../src/localnet/chain/runtime/address.ts";
import type { Coin } from "../../src/localnet/chain/runtime/coins.ts";
import {
  type Context,
  createContext,
  type ChainModule,
  type ChainEvent,
} from "../../src/localnet/chain/runtime/context.ts";
import { createGasMeter, type GasMeter } from "../../src/localnet/chain/runtime/gas.ts";
import { type Branch, createBranch, type KVStore } from "../../src/localnet/chain/store/cache-store.ts";
import { createSortedStore } from "./sorted-store.ts";

const PREFIX = "neutron";
const MODULES = { dex: ["minter", "burner"], faucet: ["minter"] };

/** Address of the module account. */
export const DEX_ADDRESS = formatAddress(PREFIX, moduleAddress("dex"));
/** Address that may change the parameters: the admin module of the deployed chain. */
export const AUTHORITY = formatAddress(PREFIX, moduleAddress("adminmodule"));

/** Coins of a world. */
export interface WorldBank {
  readonly bank: DexBank;
  /** Creates coins in an account. */
  readonly fund: (context: Context, address: Uint8Array, coins: readonly Coin[]) => void;
}

/** The dex over stores in memory. */
export interface DexWorld {
  readonly module: ChainModule;
  readonly profile: Profile;
  readonly bank: DexBank;
  /** Runs `work` on a layer of its own with a new gas meter; an exception drops the layer and its events. */
  readonly run: <T>(timeNs: bigint, work: (context: Context) => T) => Outcome<T>;
  /** Runs `work` on a layer that is dropped. */
  readonly read: <T>(timeNs: bigint, work: (context: Context) => T) => T;
  /** Creates coins in an account. */
  readonly fund: (address: string, coins: readonly Coin[]) => void;
  /** Forgets everything, also the parameters. */
  readonly clear: () => void;
}

/** What a run returned and emitted, and the gas it used. */
interface Outcome<T> {
  readonly result: T;
  readonly events: readonly ChainEvent[];
  readonly gas: bigint;
}

/** Creates a world with default parameters. */
export function createDexWorld(
  { bank, fund }: WorldBank = createRealBank(),
  profile: Profile = profileNamed(),
): DexWorld {
  const stores = new Map<string, KVStore>();
  const open = (name: string): KVStore => {
    const store = stores.get(name) ?? createSortedStore();
    stores.set(name, store);
    return store;
  };
  const run = <T>(timeNs: bigint, work: (context: Context) => T): Outcome<T> => {
    const gas = createGasMeter();
    const events: ChainEvent[] = [];
    const branch = createBranch(open);
    const context = worldContext(timeNs, { gas, branch, events, profile });
    const result = work(context);
    branch.write();
    return { result, events, gas: gas.used() };
  };
  run(0n, (context) => moduleParams.set(context, moduleParams.defaults));
  return {
    module: createDexModule({ chainName: "neutron", bech32Prefix: PREFIX, authority: AUTHORITY }, bank),
    profile,
    bank,
    run,
    read: (timeNs, work) =>
      work(worldContext(timeNs, { gas: createGasMeter(), branch: createBranch(open), events: [], profile })),
    fund: (address, coins) => {
      const sorted = coins.toSorted((a, b) => (a.denom < b.denom ? -1 : 1));
      run(0n, (context) => fund(context, parseAddress(PREFIX, address), sorted));
    },
    clear: () => stores.clear(),
  };
}

/** The bank and auth modules of the program. */
export function createRealBank(): WorldBank {
  const auth = createAuthModule({ bech32Prefix: PREFIX, moduleAccounts: MODULES });
  const { keeper } = createBankModule({ blockedModules: Object.keys(MODULES) }, auth.keeper);
  return {
    bank: keeper,
    fund: (context, address, coins) => {
      keeper.mint(context, "faucet", coins);
      keeper.send(context, moduleAddress("faucet"), address, coins);
    },
  };
}

interface WorldScope {
  readonly gas: GasMeter;
  readonly branch: Branch;
  readonly events: ChainEvent[];
  readonly profile: Profile;
}

function worldContext(timeNs: bigint, { gas, branch, events, profile }: WorldScope): Context {
  const emit = (event: ChainEvent): void => {
    events.push(event);
  };
  return createContext(
    { chainId: "test-1", height: 10n, timeNs, profile },
    { mode: "deliver", gas, branch, emit },
  );
}

/** Returns all balances above zero: address, denomination, amount. */
export function allBalances(context: Context): readonly (readonly [string, string, bigint])[] {
  return [...storedBalances.entries(context)].map(
    ([{ address, denom }, amount]) => [formatAddress(PREFIX, address), denom, amount] as const,
  );
}

/** Returns all supplies by denomination. */
export function allSupplies(context: Context): readonly (readonly [denom: string, amount: bigint])[] {
  return [...supplies.entries(context)];
}
