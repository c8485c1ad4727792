import type { Application, QueryRequest, QueryResponse, TxResult, ValidatorPower } from "../abci.ts";
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
import { answerGrpc, collectQueries, errorAnswer } from "./query-router.ts";
import {
  ErrInvalidHeight,
  ErrInvalidRequest,
  ErrNotFound,
  ErrPanic,
  ErrUnknownRequest,
} from "./sdk-errors.ts";
import { queryStore } from "./store-query.ts";
import { runTx } from "./tx-runner.ts";

/** What an application is made of. Orders are lists of module names; modules that a list leaves out come after it. */
export interface ApplicationOptions {
  readonly version: string;
  readonly appVersion: bigint;
  /** First part of the type URLs of the chain's own modules. */
  readonly chainName: string;
  readonly modules: readonly ChainModule[];
  readonly genesisOrder: readonly string[];
  readonly beginBlockOrder: readonly string[];
  readonly endBlockOrder: readonly string[];
  readonly ante: AnteStep;
  readonly post: AnteStep;
  readonly validatorUpdates?: (context: Context) => readonly ValidatorPower[];
  readonly maxBlockGas: (context: Context) => bigint;
  /** Heights that queries can look at. */
  readonly keepRecent: number;
}

/** Opens an application on its saved state, or an empty one. */
export function createApplication(options: ApplicationOptions, storage?: StateStorage): Application {
  const stores = options.modules.flatMap((module) => module.stores);
  const machine = createMachine({
    stores,
    keepRecent: options.keepRecent,
    ...(storage === undefined ? {} : { storage }),
  });
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
      const context = blockContext({ chainId, timeNs, height: 0n }, genesis);
      for (const module of inOrder(options.modules, options.genesisOrder))
        module.initGenesis(context, request.appState[module.name]);
      const chosen = options.validatorUpdates?.(context) ?? [];
      return { appHash: machine.committed().appHash, validators: chosen.length > 0 ? chosen : validators };
    },
    checkTx: (tx, recheck) => run(tx, recheck ? "recheck" : "check"),
    simulate: (tx) => run(tx, "simulate"),
    finalizeBlock: (request) => {
      const expected = machine.lastBlock().height + 1n;
      if (request.height !== expected)
        throw new Error(`invalid height: ${request.height}; expected: ${expected}`);
      const block = machine.openBlock();
      const executed = executeBlock(request, machine.lastBlock().chainId, block, rules);
      return { ...executed, appHash: machine.seal(block).appHash };
    },
    commit: machine.reveal,
    query: (request) =>
      answerQuery(request, { options, machine, queries, simulate: (tx) => run(tx, "simulate") }),
    exportState: () => {
      const context = queryContext(machine, machine.committed());
      return Object.fromEntries(
        options.modules.map((module) => [module.name, module.exportGenesis(context)]),
      );
    },
    queryPaths: () => [...queries.keys()],
  };
}

function blockRulesOf(options: ApplicationOptions): BlockRules {
  const { modules, ante, post, chainName } = options;
  return {
    tx: { codec: { chainName, handlers: collectHandlers(modules) }, ante, post },
    begin: inOrder(modules, options.beginBlockOrder).flatMap(({ beginBlock }) => beginBlock ?? []),
    end: inOrder(modules, options.endBlockOrder).flatMap(({ endBlock }) => endBlock ?? []),
    validatorUpdates: options.validatorUpdates ?? (() => []),
    maxBlockGas: options.maxBlockGas,
  };
}

function inOrder(modules: readonly ChainModule[], order: readonly string[]): readonly ChainModule[] {
  const rank = ({ name }: ChainModule): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return modules.toSorted((a, b) => rank(a) - rank(b));
}

/** Checks pile up on their layer until the next block; a simulation runs on a layer above it that is dropped. */
function runOutsideBlock(tx: Uint8Array, mode: ExecutionMode, machine: Machine, rules: BlockRules): TxResult {
  const block = machine.lastBlock();
  const branch = mode === "simulate" ? createBranch(machine.check().store) : machine.check();
  const environment = {
    proposerAddress: block.proposerAddress,
    maxBlockGas: rules.maxBlockGas(blockContext(block, branch)),
  };
  return runTx(tx, rules.tx, { mode, block, environment, stores: branch.store });
}

/** Writes of a query are seen by nobody else. */
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

/** A query cannot change the state, so a bug in one is an answer too: undefined/111222, as baseapp answers a panic. */
function answerQuery(request: QueryRequest, scope: QueryScope): QueryResponse {
  try {
    return routeQuery(request, scope);
  } catch (thrown) {
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return errorAnswer(ErrPanic(text), { grpcCode: GRPC_INTERNAL, grpcMessage: text });
  }
}

/** Routes an ABCI query as baseapp does: gRPC paths first, then by the first word. */
function routeQuery(request: QueryRequest, scope: QueryScope): QueryResponse {
  const { machine, options } = scope;
  const handler = scope.queries.get(request.path);
  if (handler !== undefined) return answerGrpcAt(handler, request, machine);
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
      return errorAnswer(ErrUnknownRequest("expected path is p2p filter <addr|id> <parameter>"));
    default:
      return errorAnswer(ErrUnknownRequest("unknown query path"));
  }
}

/** A kept height, but not one that is finalized and not yet committed. */
function committedView(machine: Machine, height: bigint): StoreView | undefined {
  return height > machine.committed().height ? undefined : machine.stores.view(height);
}

function answerGrpcAt(handler: QueryHandler, request: QueryRequest, machine: Machine): QueryResponse {
  const latest = machine.committed().height;
  const height = request.height === 0n ? latest : request.height;
  if (height < 0n)
    return errorAnswer(ErrInvalidRequest("cannot query with height < 0; please provide a valid height"));
  if (latest === 0n)
    return errorAnswer(ErrInvalidHeight("the chain is not ready; please wait for first block"));
  if (height > latest) {
    return errorAnswer(
      ErrInvalidHeight("cannot query with height in the future; please provide a valid height"),
    );
  }
  if (height <= 1n && request.prove) {
    return errorAnswer(
      ErrInvalidRequest("cannot query with proof when height <= 1; please provide a valid height"),
    );
  }
  const view = committedView(machine, height);
  if (view === undefined) {
    const text = `failed to load state at height ${height}; version does not exist (latest height: ${latest})`;
    return errorAnswer(ErrNotFound(text));
  }
  return answerGrpc(handler, queryContext(machine, view), request.data);
}
