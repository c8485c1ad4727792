import type { JsonObject } from "../../src/platform/base/json.ts";
import { fromBase64 } from "../../src/platform/base/bytes.ts";
import { votingPowerContract } from "../../src/localnet/chain/contracts/voting-power.ts";
import type {
  ContractAttribute,
  ContractScope,
  MessageJson,
} from "../../src/localnet/chain/modules/wasm/contract.ts";
import { contractStore } from "../../src/localnet/chain/modules/wasm/keeper.ts";
import type { Context } from "../../src/localnet/chain/runtime/context.ts";
import { messageToJson } from "../../src/cosmos/proto/json.ts";
import { AUTHORITY, createStakeWorld, ECHO, type StakeWorld } from "./stake-world.ts";

const ADDRESS = new Uint8Array(32).fill(9);

/** Hook types that the contract needs. */
const HOOKS = [1, 3, 4, 5, 8, 9, 10];

/** The staking modules with the voting-power contract as subscriber. */
export interface VotingWorld {
  readonly world: StakeWorld;
  readonly subscribe: () => void;
  /** Runs a smart query of the contract. */
  readonly ask: (message: JsonObject) => MessageJson;
  /** Executes a message. Returns the attributes of the response. */
  readonly execute: (message: JsonObject) => readonly ContractAttribute[];
}

/** Starts the modules from a genesis state. The contract gets no hooks before `subscribe`. */
export function createVotingWorld(genesis: JsonObject): VotingWorld {
  const world = createStakeWorld(genesis, 0n);
  const queries = new Map(world.modules.flatMap(({ queries: some }) => some.map((one) => [one.path, one])));
  const scopeOf = (context: Context): ContractScope => ({
    chainId: "test-1",
    height: context.height,
    timeNs: context.timeNs,
    transactionIndex: () => undefined,
    address: ECHO,
    storage: contractStore(context, ADDRESS),
    query: (request) => {
      const { path, data } = stargateOf(request);
      const response = queries.get(path)?.query(context, fromBase64(data)) ?? new Uint8Array(0);
      return messageToJson(`${path.slice(1).replace(".Query/", ".Query")}Response`, response);
    },
    useGas: () => {},
  });
  world.onSudo = (context, _contract, message) => {
    votingPowerContract.sudo?.(scopeOf(context), JSON.parse(message));
  };
  return {
    world,
    subscribe: () => {
      world.run({
        "@type": "/neutron.harpoon.MsgManageHookSubscription",
        authority: AUTHORITY,
        hook_subscription: { contract_address: ECHO, hooks: HOOKS },
      });
    },
    ask: (message) => votingPowerContract.query?.(scopeOf(world.context()), message) ?? null,
    execute: (message) => {
      const caller = { sender: AUTHORITY, funds: [] };
      return votingPowerContract.execute?.(scopeOf(world.context()), caller, message).attributes ?? [];
    },
  };
}

function stargateOf(request: Readonly<Record<string, unknown>>): {
  readonly path: string;
  readonly data: string;
} {
  const { stargate } = JSON.parse(JSON.stringify(request));
  return stargate;
}
