import { toHex } from "../../../platform/base/bytes.ts";
import { unreachable } from "../../../platform/base/errors.ts";
import { type Profile, SPECIFICATION } from "../deviations/deviations.ts";
import { type Branch, createBranch } from "../store/cache-store.ts";
import * as multiStore from "../store/multi-store.ts";
import type { AnteStep } from "./ante-step.ts";
import {
  BLOCK_RECORD_STORE,
  type BlockRecord,
  readBlockRecord,
  blockContext,
  type BlockRules,
  executeBlock,
} from "./execute-block.ts";
import { type Context, createContext, type ExecutionMode, type ChainModule } from "./context.ts";
import { createGasMeter, type Interrupt } from "./gas.ts";
import { type GasTracer, tracedRules, UNTRACED } from "./gas-trace.ts";
import { checkModuleNames } from "./genesis.ts";
import { collectQueries, runQuery, createSimulateQuery } from "./query-router.ts";
import { collectHandlers, runTx } from "./tx-runner.ts";
import { planUpgrades, runUpgrades, type Upgrade } from "./upgrade.ts";
import type * as abci from "./abci.ts";

/** The modules of an application, the order of their hooks, and the rules for transactions and queries. */
export interface ApplicationOptions {
  readonly version: string;
  readonly appVersion: bigint;
  readonly chainName: string;
  /** Default: `specification`. */
  readonly profile?: Profile;
  /** The modules, in the order in which their genesis is read and exported. */
  readonly modules: readonly ChainModule[];
  /** Upgrades that add modules to a saved state, in the order of their releases. */
  readonly upgrades: readonly Upgrade[];
  /** Names of the modules whose begin hooks run first, in this order. All other begin hooks follow in module order. */
  readonly beginBlockOrder?: readonly string[];
  /** Names of the modules whose end hooks run first, in this order. All other end hooks follow in module order. */
  readonly endBlockOrder: readonly string[];
  readonly ante: AnteStep;
  readonly post: AnteStep;
  /** Returns a block's changes to the validator set. Default: none. */
  readonly validatorUpdates?: (context: Context) => readonly abci.ValidatorPower[];
  /** Returns the total gas that a block's transactions may use, or 0 or less if there is no limit. */
  readonly maxBlockGas: (context: Context) => bigint;
  /** Returns the gas limit for simulations. If the function returns undefined or a higher limit, the block's limit applies. */
  readonly simulationGas?: (context: Context) => bigint | undefined;
  /** Number of recent heights that can be queried. */
  readonly keepRecent: number;
  readonly tracer?: GasTracer;
}

/**
 * Opens an application on its saved state. Without storage, the state starts empty and stays in memory. Throws `StoreSetError` if
 * the saved state's stores differ from the modules' stores and no upgrade explains the difference.
 */
export function createApplication(
  options: ApplicationOptions,
  storage?: multiStore.StateStorage,
): abci.Application {
  const { tracer = UNTRACED, profile = SPECIFICATION } = options;
  const stores = options.modules.flatMap((module) => module.stores);
  const { keepRecent } = options;
  const machine = createMachine({ stores, keepRecent, ...(storage && { storage }) }, profile);
  const openUpgrades = () => {
    const planned = planUpgrades(storage, options.modules, options.upgrades);
    // Run the upgrades in the check state too, so that checks and simulations before the next block can use the added modules.
    const lastBlock = machine.lastBlock();
    const nextBlock = { ...lastBlock, height: lastBlock.height + 1n };
    runUpgrades(planned, blockContext(nextBlock, machine.checkState()));
    return planned;
  };
  let pendingUpgrades = openUpgrades();
  const rules = blockRulesOf(options, profile, tracer);
  const check = (tx: Uint8Array, mode: ExecutionMode): abci.TxResult => runCheck(tx, mode, machine, rules);
  const simulate = (tx: Uint8Array, interrupt?: Interrupt): abci.TxResult =>
    runSimulation(tx, machine, { ...options, rules }, interrupt);
  const queries = collectQueries([
    ...options.modules.flatMap((module) => module.queries),
    createSimulateQuery(simulate),
  ]);
  const query = (request: abci.QueryRequest, interrupt?: Interrupt): abci.QueryResponse =>
    runQuery(request, {
      version: options.version,
      chainName: options.chainName,
      handlers: queries,
      simulate: (tx) => simulate(tx, interrupt),
      interrupt,
      latest: machine.committed(),
      view: (height) => committedView(machine, height),
      contextOf: (view) => queryContext(machine, view, interrupt),
    });
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
      // Run genesis at height 0, as in the SDK, even if the initial height is higher.
      const context = blockContext({ chainId, timeNs, height: 0n, profile }, genesis);
      for (const module of options.modules) module.initGenesis(context, request.appState[module.name]);
      const deliver = (tx: Uint8Array): abci.TxResult =>
        deliverGenesisTx(tx, machine.lastBlock(), genesis, rules);
      for (const { name, genesisTxs } of options.modules)
        genesisTxs?.(context, request.appState[name], deliver);
      const chosen = options.validatorUpdates?.(context) ?? [];
      return { appHash: machine.committed().appHash, validators: joinValidators(validators, chosen) };
    },
    checkTx: (tx, recheck) => check(tx, recheck ? "recheck" : "check"),
    simulate,
    finalizeBlock: (request) => {
      const expected = machine.lastBlock().height + 1n;
      if (request.height !== expected)
        throw new Error(`invalid height: ${request.height}; expected: ${expected}`);
      const { appHash } = machine.committed();
      const block = machine.openBlock();
      const { chainId } = machine.lastBlock();
      const facts = { chainId, height: request.height, timeNs: request.timeNs, profile };
      runUpgrades(pendingUpgrades, blockContext(facts, block));
      pendingUpgrades = [];
      const executed = executeBlock({ ...request, appHash }, chainId, block, rules);
      return { ...executed, appHash: machine.finalize(block).appHash };
    },
    commit: machine.commit,
    reload: () => {
      machine.reload();
      pendingUpgrades = openUpgrades();
    },
    query,
    rerun: (request, around, interrupt) => rerunBlock(request, machine, rules, { around, interrupt }),
    exportState: () => {
      const view = machine.committed();
      const context = queryContext(machine, view);
      // Skip modules whose stores do not exist in this state. When the export is imported, these modules start from their default
      // genesis, as in an upgrade.
      const modules = options.modules.filter((module) => module.stores.every(view.has));
      return Object.fromEntries(modules.map((module) => [module.name, module.exportGenesis(context)]));
    },
    queryPaths: () => [...queries.keys()],
    messageTypes: () => [...rules.tx.codec.handlers.keys()],
  };
}

/**
 * Merges the genesis document's validators with the modules' validators. If a validator is in both lists, the document's power is
 * used, because an export contains powers that were set through a local chain's control API.
 */
function joinValidators(
  document: readonly abci.ValidatorPower[],
  chosen: readonly abci.ValidatorPower[],
): readonly abci.ValidatorPower[] {
  const known = new Set(document.map(({ publicKey }) => toHex(publicKey)));
  return [...document, ...chosen.filter(({ publicKey }) => !known.has(toHex(publicKey)))];
}

function blockRulesOf(options: ApplicationOptions, profile: Profile, tracer: GasTracer): BlockRules {
  const { modules, ante, post, chainName, beginBlockOrder = [], endBlockOrder } = options;
  return {
    tx: tracedRules(
      {
        codec: { chainName, handlers: collectHandlers(modules) },
        ante,
        post,
        readConsensusParams: options.maxBlockGas,
      },
      tracer,
    ),
    run: runTx,
    profile,
    pre: modules.flatMap(({ preBlock }) => preBlock ?? []),
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
 * Runs CheckTx. The transaction's writes stay in the check state until the next commit. An account can therefore have several
 * pending transactions with consecutive sequences.
 */
function runCheck(tx: Uint8Array, mode: ExecutionMode, machine: Machine, rules: BlockRules): abci.TxResult {
  const block = machine.lastBlock();
  const branch = machine.checkState();
  const maxBlockGas = rules.maxBlockGas(blockContext(block, branch));
  const environment = { proposerAddress: block.proposerAddress, maxBlockGas };
  return runTx(tx, rules.tx, { mode, block, environment, branch });
}

/** Runs a simulation on a branch of the check state, which is then discarded. */
function runSimulation(
  tx: Uint8Array,
  machine: Machine,
  { rules, simulationGas }: { readonly rules: BlockRules } & Pick<ApplicationOptions, "simulationGas">,
  interrupt?: Interrupt,
): abci.TxResult {
  const block = machine.lastBlock();
  const branch = machine.checkState().branch();
  const context = blockContext(block, branch);
  const environment = {
    proposerAddress: block.proposerAddress,
    maxBlockGas: rules.maxBlockGas(context),
    simulationGas: simulationGas?.(context),
  };
  return runTx(tx, rules.tx, { mode: "simulate", block, environment, branch, interrupt });
}

function deliverGenesisTx(
  tx: Uint8Array,
  record: BlockRecord,
  branch: Branch,
  rules: BlockRules,
): abci.TxResult {
  const environment = { proposerAddress: record.proposerAddress, maxBlockGas: 0n };
  return runTx(tx, rules.tx, { mode: "deliver", block: { ...record, height: 0n }, environment, branch });
}

/** Reruns a block's transactions on a branch of the state before the block. The branch is then discarded. */
function rerunBlock(
  request: abci.FinalizeBlockRequest,
  machine: Machine,
  rules: BlockRules,
  { around, interrupt }: { readonly around: abci.RunAround; readonly interrupt: Interrupt | undefined },
): readonly abci.TxResult[] | undefined {
  const view = committedView(machine, request.height - 1n);
  // The genesis state is not stored separately from the first block's state, so the first block cannot be rerun.
  if (view === undefined || readBlockRecord(view.store(BLOCK_RECORD_STORE)) === undefined) return undefined;
  const run: BlockRules["run"] = (tx, txRules, scope, index) => {
    const again = (): abci.TxResult => runTx(tx, txRules, { ...scope, interrupt });
    return index < request.txs.length - 1 ? again() : around(again);
  };
  const { chainId } = machine.lastBlock();
  const block = { ...request, appHash: view.appHash };
  return executeBlock(block, chainId, createBranch(view.store), { ...rules, run }).txResults;
}

/** Creates the context for a query. As in the SDK, query handlers may write, but their writes are dropped with the branch. */
function queryContext(machine: Machine, view: multiStore.StoreView, interrupt?: Interrupt): Context {
  const branch = createBranch(view.store);
  const block = readBlockRecord(view.store(BLOCK_RECORD_STORE)) ?? machine.lastBlock();
  const { profile } = machine.lastBlock();
  const gas = createGasMeter();
  return createContext(
    { ...block, profile },
    { mode: "check", gas, interrupt, branch, emit: () => undefined },
  );
}

/** Returns the view at a committed height, or undefined for a height that is pruned, or finalized but not committed yet. */
function committedView(machine: Machine, height: bigint): multiStore.StoreView | undefined {
  return height > machine.committed().height ? undefined : machine.view(height);
}

/** An application's states: the committed state, the check state, the genesis state and the finalized block. */
type Machine = ReturnType<typeof createMachine>;

const NO_BLOCK: BlockRecord = { chainId: "", height: 0n, timeNs: 0n, proposerAddress: new Uint8Array(20) };

/** Opens the saved state, or an empty state if there is no storage. */
function createMachine(options: Omit<multiStore.MultiStoreOptions, "initialHeight">, profile: Profile) {
  const open = () => {
    const saved = multiStore.createMultiStore({ ...options, initialHeight: 1n });
    const latest = viewAt(saved, saved.height());
    return {
      stores: saved,
      committed: latest,
      lastBlock: { ...(readBlockRecord(latest.store(BLOCK_RECORD_STORE)) ?? NO_BLOCK), profile },
      checkState: createBranch(latest.store),
    };
  };
  let { stores, committed, lastBlock, checkState } = open();
  let genesis: Branch | undefined;
  let finalized: multiStore.CommitChanges | undefined;
  return {
    view: (height: bigint): multiStore.StoreView | undefined => stores.view(height),
    /** Returns the view at the latest committed height, which queries read. */
    committed: () => committed,
    /** Returns the last committed block's record or, before the first block, the genesis record. */
    lastBlock: () => lastBlock,
    /** Returns the branch of the committed state that collects the checks' writes until the next commit. */
    checkState: () => checkState,
    openBlock: (): Branch => {
      if (finalized !== undefined)
        throw new Error(`block ${finalized.height} is finalized and not committed`);
      return genesis === undefined ? stores.branch() : aboveGenesis(genesis);
    },
    /**
     * Returns a branch of the empty state for the genesis. The first block will run on top of this branch. Throws if a height has
     * already been committed.
     */
    beginGenesis: (record: BlockRecord): Branch => {
      if (stores.height() > 0n) throw new Error(`a state of height ${stores.height()} already exists`);
      stores = multiStore.createMultiStore({ ...options, initialHeight: record.height + 1n });
      genesis = stores.branch();
      lastBlock = { ...record, profile };
      checkState = genesis.branch();
      return genesis;
    },
    /** Writes a block's branch to the trees as the next height. Queries cannot read this height until `commit` is called. */
    finalize: (block: Branch): multiStore.CommitChanges => {
      block.write();
      genesis = undefined;
      finalized = stores.commit();
      return finalized;
    },
    /** Makes the finalized height the latest committed height and starts a new check state. */
    commit: (): multiStore.CommitChanges => {
      const changes = finalized ?? unreachable("commit was called without a finalized block");
      finalized = undefined;
      committed = viewAt(stores, changes.height);
      lastBlock = { ...(readBlockRecord(committed.store(BLOCK_RECORD_STORE)) ?? lastBlock), profile };
      checkState = createBranch((name) => committed.store(name));
      return changes;
    },
    reload: (): void => {
      ({ stores, committed, lastBlock, checkState } = open());
      finalized = undefined;
    },
  };
}

function viewAt(stores: multiStore.MultiStore, height: bigint): multiStore.StoreView {
  return stores.view(height) ?? unreachable(`height ${height} is not stored`);
}

/**
 * Creates the first block's branch of the genesis state. When the branch is written, the genesis state is also written to the
 * trees. InitChain commits nothing, so the genesis state becomes part of the first height.
 */
function aboveGenesis(genesis: Branch): Branch {
  const block = genesis.branch();
  return {
    ...block,
    write: () => {
      block.write();
      genesis.write();
    },
  };
}
