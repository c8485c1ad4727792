import type { JsonObject } from "../../src/platform/base/json.ts";
import {
  type LastCommitVote,
  type Misbehavior,
  type ChainEvent,
  type Context,
  type BlockInput,
  type ChainModule,
  event,
} from "../../src/localnet/chain/runtime/context.ts";
import { createAdminModule } from "../../src/localnet/chain/modules/adminmodule/module.ts";
import { createAuthModule } from "../../src/localnet/chain/modules/auth/module.ts";
import { createBankModule } from "../../src/localnet/chain/modules/bank/module.ts";
import { evidenceAge, keyTypes } from "../../src/localnet/chain/modules/consensus/module.ts";
import { createContractManagerModule } from "../../src/localnet/chain/modules/contractmanager/module.ts";
import { createHarpoonModule } from "../../src/localnet/chain/modules/harpoon/module.ts";
import { createSlashingModule } from "../../src/localnet/chain/modules/slashing/module.ts";
import { joinHooks, type StakingHooks } from "../../src/localnet/chain/modules/staking/types.ts";
import type { StakingKeeper } from "../../src/localnet/chain/modules/staking/keeper.ts";
import { createStakingModule } from "../../src/localnet/chain/modules/staking/module.ts";
import { collectHandlers } from "../../src/localnet/chain/runtime/tx-runner.ts";
import type { GasMeter } from "../../src/localnet/chain/runtime/gas.ts";
import { messageFromJson } from "../../src/cosmos/proto/json.ts";
import { toBase64 } from "../../src/platform/base/bytes.ts";
import { createMemoryWorld } from "./memory-context.ts";

export const AUTHORITY = "neutron1hxskfdxpp5hqgtjj6am6nkjefhfzj359x0ar3z";
export const ECHO = "neutron1nc5tatafv6eyq7llkr2gv50ff9e22mnf70qgjlv737ktmt4eswrqcd0mrx";
/** Addresses of contracts are longer than those of accounts. */
const CONTRACT_ADDRESS_LENGTH = 66;

interface Place {
  readonly height: bigint;
  readonly timeNs: bigint;
}

/** The modules of staking over memory, with contracts that note their sudo calls. */
export interface StakeWorld {
  readonly events: ChainEvent[];
  /** Sudo calls in order. */
  readonly calls: (readonly [contract: string, message: string])[];
  /** Called for every sudo message; throws to fail it. */
  onSudo: (context: Context, contract: string, message: string) => void;
  /** What the node says about the headers of the next blocks. */
  header: Partial<BlockInput>;
  readonly context: () => Context;
  /** Runs a block: begin hooks, `transactions`, end hooks. Returns the events of the hooks and the validator updates. */
  readonly block: (
    place: Place,
    votes?: readonly LastCommitVote[],
    transactions?: () => unknown,
    misbehavior?: readonly Misbehavior[],
  ) => {
    readonly events: readonly ChainEvent[];
    readonly updates: readonly { readonly key: string; readonly power: bigint }[];
  };
  /** Runs a message in the gateway's JSON. Returns the encoded response. */
  readonly run: (message: JsonObject) => Uint8Array;
  /** Keeps the writes of `work` only when it returns. */
  readonly atomically: <T>(work: () => T, gas?: GasMeter) => T;
  /** Runs a query with encoded messages. */
  readonly query: (path: string, request: Uint8Array) => Uint8Array;
  readonly staking: StakingKeeper;
  readonly modules: readonly ReturnType<typeof createStakeModules>["modules"][number][];
  readonly dump: (store: string) => readonly (readonly [key: string, value: string])[];
}

function createStakeModules(sudo: (context: Context, contract: string, message: string) => void) {
  const names = { chainName: "neutron", bech32Prefix: "neutron", authority: AUTHORITY, denom: "untrn" };
  const pools = { bonded_tokens_pool: ["burner", "staking"], not_bonded_tokens_pool: ["burner", "staking"] };
  const auth = createAuthModule({ bech32Prefix: "neutron", moduleAccounts: pools });
  const bank = createBankModule({ blockedModules: Object.keys(pools) }, auth.keeper);
  const hooks: Partial<StakingHooks>[] = [];
  const staking = createStakingModule(names, { bank: bank.keeper, hooks: joinHooks(() => hooks), keyTypes });
  const slashing = createSlashingModule(names, { staking: staking.keeper, evidenceAge });
  const isContract = (_context: Context, address: string): boolean =>
    address.length === CONTRACT_ADDRESS_LENGTH;
  const harpoon = createHarpoonModule(names, { contracts: { isContract, sudo } });
  const manager = createContractManagerModule(names, { contracts: { isContract, sudo } });
  hooks.push(slashing.hooks, harpoon.hooks);
  const others: readonly ChainModule[] = [auth, bank, manager, harpoon, staking, slashing];
  const admin = createAdminModule(names, { findMessage: (typeUrl) => collectHandlers(others).get(typeUrl) });
  return { modules: [admin, ...others], staking, slashing };
}

/** Starts the modules from a genesis state. */
export function createStakeWorld(genesis: JsonObject, timeNs: bigint): StakeWorld {
  const memory = createMemoryWorld();
  const calls: (readonly [string, string])[] = [];
  const { modules, staking, slashing } = createStakeModules((context, contract, message) => {
    calls.push([contract, message]);
    context.emit(event("sudo", [["_contract_address", contract]]));
    if (contract === ECHO)
      context.emit(
        event("wasm", [
          ["_contract_address", contract],
          ["sudo", message],
        ]),
      );
    world.onSudo(context, contract, message);
  });
  let place: Place = { height: 0n, timeNs };
  let current: Context | undefined;
  const context = (): Context => current ?? memory.context(place);
  const handlers = new Map(modules.flatMap(({ messages }) => messages.map((one) => [one.typeUrl, one])));
  const queries = new Map(modules.flatMap(({ queries: some }) => some.map((one) => [one.path, one])));
  const world: StakeWorld = {
    events: memory.events,
    calls,
    onSudo: () => undefined,
    header: {},
    context,
    staking: staking.keeper,
    modules,
    dump: memory.dump,
    block: (at, lastCommit = [], transactions = () => undefined, misbehavior = []) => {
      place = at;
      const begun = memory.events.length;
      slashing.beginBlock?.(context(), { lastCommit, misbehavior });
      staking.beginBlock?.(context(), { lastCommit, ...world.header });
      const begin = withMode("BeginBlock", memory.events.slice(begun));
      transactions();
      const ending = memory.events.length;
      staking.endBlock?.(context());
      const events = [...begin, ...withMode("EndBlock", memory.events.slice(ending))];
      const updates = staking.keeper.validatorUpdates(context());
      return {
        events,
        updates: updates.map(({ publicKey, power }) => ({ key: toBase64(publicKey), power })),
      };
    },
    run: ({ "@type": type, ...fields }) => {
      const typeUrl = typeof type === "string" ? type : "";
      const handler = handlers.get(typeUrl);
      if (handler === undefined) throw new Error(`nobody handles ${typeUrl}`);
      const bytes = messageFromJson(typeUrl.slice(1), fields);
      return handler.handle(context(), bytes).response;
    },
    atomically: (work, gas) =>
      (gas === undefined ? context() : context().withGas(gas)).atomically((inner) => {
        current = inner;
        try {
          return work();
        } finally {
          current = undefined;
        }
      }),
    query: (path, request) => queries.get(path)?.query(context(), request) ?? new Uint8Array(0),
  };
  for (const module of modules) module.initGenesis(context(), genesis[module.name]);
  return world;
}

function withMode(mode: string, events: readonly ChainEvent[]): readonly ChainEvent[] {
  return events.map(({ type, attributes }) => ({
    type,
    attributes: [...attributes, { key: "mode", value: mode, index: true }],
  }));
}
