import type { Application, QueryRequest, QueryResponse, TxResult, ValidatorPower } from "../abci.ts";
import { toHex } from "../../../platform/base/bytes.ts";
import { createBranch } from "../store/branch.ts";
import type { StoreView } from "../store/multi-store.ts";
import type { StateStorage } from "../store/state-storage.ts";
import type { AnteStep } from "./ante/ante-step.ts";
import { createSimulateQuery, queryApp } from "./app-query.ts";
import { blockContext, type BlockRules, executeBlock } from "./block-execution.ts";
import { BLOCK_RECORD_STORE, readBlockRecord } from "./block-record.ts";
import type { Context, ExecutionMode } from "./context.ts";
import { createContext } from "./execution-context.ts";
import { createGasMeter } from "./gas.ts";
import { checkModuleNames } from "./genesis.ts";
import { createMachine, type Machine } from "./machine.ts";
import { collectHandlers } from "./message-router.ts";
import type { ChainModule, QueryHandler } from "./module.ts";
import { collectQueries, errorResponse, runGrpcQuery } from "./query-router.ts";
import {
  ErrInvalidHeight,
  ErrInvalidRequest,
  ErrNotFound,
  ErrPanic,
  ErrUnknownRequest,
} from "./sdk-errors.ts";
import { queryStore } from "./store-query.ts";
import { runTx } from "./tx-runner.ts";
import { planUpgrades, runUpgrades, type Upgrade } from "./upgrade.ts";

/** Modules and rules of an application. */
export interface ApplicationOptions {
  readonly version: string;
  readonly appVersion: bigint;
  /** First part of the type URLs of the chain's own modules. */
  readonly chainName: string;
  /** Genesis and genesis export run in this order. */
  readonly modules: readonly ChainModule[];
  /** Upgrades that add modules to saved states, in order of release. */
  readonly upgrades: readonly Upgrade[];
  /** Names of the modules whose begin hooks run first, in this order. The other begin hooks follow in module order. */
  readonly beginBlockOrder?: readonly string[];
  /** Names of the modules whose end hooks run first, in this order. The other end hooks follow in module order. */
  readonly endBlockOrder: readonly string[];
  readonly ante: AnteStep;
  readonly post: AnteStep;
  /** Default: no changes. */
  readonly validatorUpdates?: (context: Context) => readonly ValidatorPower[];
  /** Gas that all transactions of a block may use together; 0 or less: no limit. */
  readonly maxBlockGas: (context: Context) => bigint;
  /** Number of recent heights that queries can read. */
  readonly keepRecent: number;
}

/**
 * Opens an application on its saved state. Without storage it starts empty and stays in memory. Throws `StoreSetError`
 * when the saved state has other stores than the modules, and no upgrade explains the difference.
 */
export function createApplication(options: ApplicationOptions, storage?: StateStorage): Application {
  const stores = options.modules.flatMap((module) => module.stores);
  let pendingUpgrades = planUpgrades(storage, options.modules, options.upgrades);
  const machine = createMachine({
    stores,
    keepRecent: options.keepRecent,
    ...(storage === undefined ? {} : { storage }),
  });
  // Checks and simulations before the next block see the added modules. Their writes are dropped with the check state.
  const { lastBlock } = machine;
  runUpgrades(pendingUpgrades, { ...lastBlock(), height: lastBlock().height + 1n }, machine.checkState());
  const rules = blockRulesOf(options);
  const run = (tx: Uint8Array, mode: ExecutionMode): TxResult => runOutsideBlock(tx, mode, machine, rules);
  const queries = collectQueries([
    ...options.modules.flatMap((module) => module.queries),
    createSimulateQuery((tx) => run(tx, "simulate")),
  ]);
  return {
    info: () => ({
      height: machine.committed().height,
      appHash: machine.committed().appHash,
      version: options.version,
      appVersion: options.appVersion,
    }),
    initChain: (request) => {
      checkModuleNames(
        request.appState,
        options.modules.map(({ name }) => name),
      );
      const { chainId, timeNs, initialHeight, validators } = request;
      const height = initialHeight - 1n;
      const genesis = machine.beginGenesis({ chainId, timeNs, height, proposerAddress: new Uint8Array(20) });
      // The SDK runs genesis at height 0, whatever the initial height is.
      const context = blockContext({ chainId, timeNs, height: 0n }, genesis);
      for (const module of options.modules) module.initGenesis(context, request.appState[module.name]);
      const chosen = options.validatorUpdates?.(context) ?? [];
      return { appHash: machine.committed().appHash, validators: joinValidators(validators, chosen) };
    },
    checkTx: (tx, recheck) => run(tx, recheck ? "recheck" : "check"),
    simulate: (tx) => run(tx, "simulate"),
    finalizeBlock: (request) => {
      const expected = machine.lastBlock().height + 1n;
      if (request.height !== expected)
        throw new Error(`invalid height: ${request.height}; expected: ${expected}`);
      const { appHash } = machine.committed();
      const block = machine.openBlock();
      const { chainId } = machine.lastBlock();
      runUpgrades(pendingUpgrades, { chainId, height: request.height, timeNs: request.timeNs }, block);
      pendingUpgrades = [];
      const executed = executeBlock({ ...request, appHash }, chainId, block, rules);
      return { ...executed, appHash: machine.finalize(block).appHash };
    },
    commit: machine.commit,
    query: (request) =>
      answerQuery(request, { options, machine, queries, simulate: (tx) => run(tx, "simulate") }),
    exportState: () => {
      const view = machine.committed();
      const context = queryContext(machine, view);
      // A module without stores in this state starts from its default genesis at the import, as at an upgrade.
      const modules = options.modules.filter((module) => module.stores.every(view.has));
      return Object.fromEntries(modules.map((module) => [module.name, module.exportGenesis(context)]));
    },
    queryPaths: () => [...queries.keys()],
    messageTypes: () => [...rules.tx.codec.handlers.keys()],
  };
}

/**
 * Joins the validators of a genesis document with those of the modules. The document decides the power of a key that both have:
 * an export has the powers that the control API of a local chain set.
 */
function joinValidators(
  document: readonly ValidatorPower[],
  chosen: readonly ValidatorPower[],
): readonly ValidatorPower[] {
  const known = new Set(document.map(({ publicKey }) => toHex(publicKey)));
  return [...document, ...chosen.filter(({ publicKey }) => !known.has(toHex(publicKey)))];
}

function blockRulesOf(options: ApplicationOptions): BlockRules {
  const { modules, ante, post, chainName, beginBlockOrder = [], endBlockOrder } = options;
  return {
    tx: { codec: { chainName, handlers: collectHandlers(modules) }, ante, post },
    begin: inOrder(modules, beginBlockOrder).flatMap(({ beginBlock }) => beginBlock ?? []),
    end: inOrder(modules, endBlockOrder).flatMap(({ endBlock }) => endBlock ?? []),
    validatorUpdates: options.validatorUpdates ?? (() => []),
    maxBlockGas: options.maxBlockGas,
  };
}

function inOrder(modules: readonly ChainModule[], order: readonly string[]): readonly ChainModule[] {
  const rank = ({ name }: ChainModule): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return modules.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Runs a check or a simulation. The writes of checks stay in the check state until the next commit, so that several
 * pending transactions of one account pass with consecutive sequences. A simulation writes to a branch that is dropped.
 */
function runOutsideBlock(tx: Uint8Array, mode: ExecutionMode, machine: Machine, rules: BlockRules): TxResult {
  const block = machine.lastBlock();
  const checkState = machine.checkState();
  const branch = mode === "simulate" ? createBranch(checkState.store) : checkState;
  const environment = {
    proposerAddress: block.proposerAddress,
    maxBlockGas: rules.maxBlockGas(blockContext(block, branch)),
  };
  return runTx(tx, rules.tx, { mode, block, environment, stores: branch.store });
}

/** Creates the context of a query. Handlers may write, as in the SDK; the writes go to a branch that is dropped. */
function queryContext(machine: Machine, view: StoreView): Context {
  const branch = createBranch(view.store);
  const block = readBlockRecord(view.store(BLOCK_RECORD_STORE)) ?? machine.lastBlock();
  return createContext(block, {
    mode: "check",
    gas: createGasMeter(),
    stores: branch.store,
    emit: () => undefined,
  });
}

interface QueryScope {
  readonly options: ApplicationOptions;
  readonly machine: Machine;
  readonly queries: ReadonlyMap<string, QueryHandler>;
  readonly simulate: (tx: Uint8Array) => TxResult;
}

const GRPC_INTERNAL = 13;

/** A query cannot change the state, so a bug in one is a response too: `ErrPanic`, as baseapp does when it recovers. */
function answerQuery(request: QueryRequest, scope: QueryScope): QueryResponse {
  try {
    return routeQuery(request, scope);
  } catch (thrown) {
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return errorResponse(ErrPanic(text), { grpcCode: GRPC_INTERNAL, grpcMessage: text });
  }
}

/** Routes an ABCI query as baseapp does: gRPC paths first, then by the first path segment. */
function routeQuery(request: QueryRequest, scope: QueryScope): QueryResponse {
  const { machine, options } = scope;
  const handler = scope.queries.get(request.path);
  if (handler !== undefined) return queryGrpc(handler, request, machine);
  const [first = "", ...rest] = request.path.replace(/^\//, "").split("/");
  const latest = machine.committed();
  switch (first) {
    case "app":
      return queryApp(rest, request, {
        version: options.version,
        height: latest.height,
        chainName: options.chainName,
        simulate: scope.simulate,
      });
    case "store":
      return queryStore(rest, request, { latest, view: (height) => committedView(machine, height) });
    case "p2p":
      return errorResponse(ErrUnknownRequest("expected path is p2p filter <addr|id> <parameter>"));
    default:
      return errorResponse(ErrUnknownRequest("unknown query path"));
  }
}

/** Returns a kept height. The multistore already has a finalized height before its commit; queries must not see it. */
function committedView(machine: Machine, height: bigint): StoreView | undefined {
  return height > machine.committed().height ? undefined : machine.stores.view(height);
}

/** Runs a gRPC query at the requested height. The order of these checks and their texts are baseapp's. */
function queryGrpc(handler: QueryHandler, request: QueryRequest, machine: Machine): QueryResponse {
  const latest = machine.committed().height;
  const height = request.height === 0n ? latest : request.height;
  if (height < 0n)
    return errorResponse(ErrInvalidRequest("cannot query with height < 0; please provide a valid height"));
  if (latest === 0n)
    return errorResponse(ErrInvalidHeight("the chain is not ready; please wait for first block"));
  if (height > latest) {
    return errorResponse(
      ErrInvalidHeight("cannot query with height in the future; please provide a valid height"),
    );
  }
  if (height <= 1n && request.prove) {
    return errorResponse(
      ErrInvalidRequest("cannot query with proof when height <= 1; please provide a valid height"),
    );
  }
  const view = committedView(machine, height);
  if (view === undefined) {
    const text = `failed to load state at height ${height}; version does not exist (latest height: ${latest})`;
    return errorResponse(ErrNotFound(text));
  }
  return runGrpcQuery(handler, queryContext(machine, view), request.data);
}
