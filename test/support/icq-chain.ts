import { createVm } from "../../src/localnet/vm/vm.ts";
import { utf8 } from "../../src/platform/base/bytes.ts";
import type { JsonValue } from "../../src/platform/base/json.ts";
import { echo } from "../../src/localnet/chain/contracts/echo.ts";
import { icqConsumer } from "../../src/localnet/chain/contracts/icq-consumer.ts";
import { ibcKeeper } from "../../src/localnet/chain/modules/ibc/keeper.ts";
import { createIbcModule } from "../../src/localnet/chain/modules/ibc/module.ts";
import {
  createInterchainqueriesModule,
  type InterchainqueriesModule,
} from "../../src/localnet/chain/modules/interchainqueries/module.ts";
import type { ContractCode } from "../../src/localnet/chain/modules/wasm/contract.ts";
import {
  type IbcKeeper,
  defaultParams,
  moduleParams,
} from "../../src/localnet/chain/modules/interchainqueries/keeper.ts";
import { createWasmModule, type WasmModule } from "../../src/localnet/chain/modules/wasm/module.ts";
import { formatAddress, moduleAddress } from "../../src/localnet/chain/runtime/address.ts";
import type {
  Context,
  ChainModule,
  HandlerResult,
  MessageHandler,
  ChainEvent,
} from "../../src/localnet/chain/runtime/context.ts";
import { createGasMeter } from "../../src/localnet/chain/runtime/gas.ts";
import { ModuleError } from "../../src/localnet/chain/runtime/errors.ts";
import { createFakeBank, type FakeBank } from "./fake-bank.ts";
import { type BlockPlace, createMemoryWorld, type MemoryWorld } from "./memory-context.ts";

/** The governance account of the local chain. */
export const AUTHORITY = formatAddress("neutron", moduleAddress("adminmodule"));
/** The escrow account. */
export const ESCROW = formatAddress("neutron", moduleAddress("interchainqueries"));
/** An account that is not a contract. */
export const ALICE = "neutron10h9stc5v6ntgeygf5xf945njqq5h32r54rf7kf";
/** Another account. */
export const BOB = "neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2";

/** gRPC paths that contracts of the test chain may call. */
const ALLOWED_QUERIES = [
  "Params",
  "RegisteredQueries",
  "RegisteredQuery",
  "QueryResult",
  "LastRemoteHeight",
].map((rpc) => `/neutron.interchainqueries.Query/${rpc}`);

/** Result of one transaction. */
export interface Outcome {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly gasUsed: bigint;
  readonly events: readonly ChainEvent[];
  readonly responses: readonly HandlerResult[];
}

/** An encoded message. */
export interface PackedMessage {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** The modules interchainqueries, wasm and ibc as on the local chain, with an in-memory bank. */
export interface IcqChain {
  readonly world: MemoryWorld;
  readonly bank: FakeBank;
  readonly icq: InterchainqueriesModule;
  readonly wasm: WasmModule;
  readonly ibc: ChainModule;
  /** Runs messages as one transaction. An error reverts all of them. */
  readonly deliver: (messages: readonly PackedMessage[], place?: Partial<BlockPlace>) => Outcome;
  /** Runs a gRPC query. */
  readonly query: (path: string, request: Uint8Array, place?: Partial<BlockPlace>) => Uint8Array;
}

export interface IcqChainOptions {
  /** The chain's own name; `neutron` by default. */
  readonly chainName?: string;
  /** Replaces the keeper of the module `ibc`. */
  readonly ibc?: IbcKeeper;
  /** Codes in addition to `icq-consumer` and `echo`. */
  readonly codes?: readonly ContractCode[];
}

/** Creates the modules, with default parameters. */
export function createIcqChain(options: IcqChainOptions = {}): IcqChain {
  const { chainName = "neutron", ibc: otherIbc, codes = [] } = options;
  const world = createMemoryWorld();
  const bank = createFakeBank();
  const messages = new Map<string, MessageHandler>();
  const names = { chainName, bech32Prefix: "neutron", authority: AUTHORITY };
  const wasm = createWasmModule(
    { ...names, codes: [icqConsumer, echo, ...codes], allowedQueries: ALLOWED_QUERIES },
    {
      channels: ibcKeeper,
      vm: createVm(),
      bank: {
        ...bank,
        requireSendEnabled: () => undefined,
        balance: (_context, address, denom) => ({
          denom,
          amount: bank.balance(formatAddress("neutron", address)),
        }),
        balances: () => [],
        burnCoins: () => undefined,
      },
      accounts: { ensureAccount: () => undefined },
      findMessage: (typeUrl) => messages.get(typeUrl),
      findQuery: (path) => modules.flatMap((module) => module.queries).find((query) => query.path === path),
      customMessages: (context, contract, message) => icq.handleCustomMessage(context, contract, message),
      customQueries: (context, request) => icq.handleCustomQuery(context, request),
    },
  );
  const ibc = createIbcModule({ bech32Prefix: "neutron", authority: AUTHORITY });
  const icq = createInterchainqueriesModule(
    { ...names, denom: "untrn" },
    { bank, contracts: wasm.host, ibc: otherIbc ?? ibc.keeper },
  );
  const modules: readonly ChainModule[] = [wasm, ibc, icq];
  for (const handler of modules.flatMap((module) => module.messages)) messages.set(handler.typeUrl, handler);
  moduleParams.set(world.context(), defaultParams("untrn"));
  const deliver: IcqChain["deliver"] = (packed, place) => deliverTx(world, bank, messages, { packed, place });
  const query: IcqChain["query"] = (path, request, place) => {
    const handler = modules.flatMap((module) => module.queries).find((candidate) => candidate.path === path);
    if (handler === undefined) throw new Error(`no query ${path}`);
    return handler.query(world.context(place), request);
  };
  return { world, bank, icq, wasm, ibc, deliver, query };
}

/** Instantiates a code by name and funds the contract. Returns its address. */
export function addContract(chain: IcqChain, name: "icq-consumer" | "echo", untrn = 100_000_000n): string {
  const context = chain.world.context();
  const codeId = name === "icq-consumer" ? 1n : 2n;
  ensureCodes(chain, context);
  const { address } = chain.wasm.host.instantiate(context, {
    creator: ALICE,
    admin: "",
    codeId,
    label: name,
    message: utf8("{}"),
    funds: [],
  });
  chain.bank.fund(address, untrn);
  return address;
}

function ensureCodes(chain: IcqChain, context: Context): void {
  if (chain.world.dump("wasm").length > 0) return;
  const codes: JsonValue = ["icq-consumer", "echo"].map((name) => ({ name, creator: ALICE }));
  chain.wasm.initGenesis(context, { codes });
}

function deliverTx(
  world: MemoryWorld,
  bank: FakeBank,
  handlers: ReadonlyMap<string, MessageHandler>,
  tx: { readonly packed: readonly PackedMessage[]; readonly place: Partial<BlockPlace> | undefined },
): Outcome {
  const gas = tx.place?.gas ?? createGasMeter();
  const from = world.events.length;
  const restore = bank.snapshot();
  try {
    const responses = world.context({ ...tx.place, gas }).atomically((context) =>
      tx.packed.map(({ typeUrl, value }, index) => {
        const handler = handlers.get(typeUrl);
        if (handler === undefined) throw new Error(`no handler of ${typeUrl}`);
        return inMessage(index, () => {
          handler.signers(value);
          return handler.handle(context, value);
        });
      }),
    );
    return {
      code: 0,
      codespace: "",
      log: "",
      gasUsed: gas.used(),
      events: world.events.slice(from),
      responses,
    };
  } catch (error) {
    restore();
    if (!(error instanceof ModuleError)) throw error;
    const { code, codespace, message: log } = error;
    return { code, codespace, log, gasUsed: gas.used(), events: [], responses: [] };
  }
}

function inMessage<T>(index: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof ModuleError
      ? error.wrap(`failed to execute message; message index: ${index}`)
      : error;
  }
}
