import {
  ContractCodeHistoryOperationType,
  type ContractInfo,
} from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { formatAddress, parseAddress, tryParseAddress } from "../../runtime/address.ts";
import type { Coin } from "../../runtime/coins.ts";
import { collectEvents, type Context, event, type ChainEvent } from "../../runtime/context.ts";
import * as errors from "../../runtime/errors.ts";
import * as keeper from "./keeper.ts";
import { type CodeReport, createCodeReports } from "./code-store.ts";
import { type Caller, ContractError, type ContractResponse, type Reply } from "./contract.ts";
import type { Dispatch } from "./dispatch.ts";
import { emitContractEvents, chargeInstance, chargeReply } from "./gas.ts";
import {
  createEntryPoints,
  type EntryCall,
  type EntryPoints,
  createIbcCalls,
  type IbcCalls,
} from "./entry-points.ts";
import { compactJson } from "./go-field.ts";
import { bindPort } from "./ibc-channels.ts";
import * as keys from "./keys.ts";
import type { ContractQuerier } from "./querier.ts";
import type { Instantiation, Migration, WasmDeps, WasmOptions } from "./types.ts";

/**
 * Runs contracts. A call charges gas, moves funds, runs the entry point, emits an event for the call and the contract's events, and
 * then runs the contract's messages. A call or query that fails throws `ModuleError`.
 */
export interface ContractHost {
  readonly isContract: (context: Context, address: string) => boolean;
  readonly instantiate: (
    context: Context,
    contract: Instantiation,
  ) => { readonly address: string; readonly data: Uint8Array };
  /**
   * Executes a contract. Returns the data (possibly empty) from the last reply that set data. If no reply set data, returns the
   * response's data.
   */
  readonly execute: (context: Context, address: string, caller: Caller, message: Uint8Array) => Uint8Array;
  /** Migrates a contract and, like `execute`, returns the call's data. */
  readonly migrate: (context: Context, migration: Migration) => Uint8Array;
  /** Calls a contract on behalf of the chain itself, with `message` as JSON text. Like `execute`, but returns the call's data. */
  readonly sudo: (context: Context, address: string, message: string) => Uint8Array;
  readonly reply: (context: Context, address: string, reply: Reply) => Uint8Array | undefined;
  /** Runs a smart query, whose message and result are JSON. */
  readonly query: (context: Context, address: string, message: Uint8Array) => Uint8Array;
  /** Returns whether an error's message came from a contract, so that other contracts may see it. */
  readonly isDeterministic: (error: errors.ModuleError) => boolean;
  readonly ibc: IbcCalls;
}

/** The message dispatcher and the querier. The dispatcher and the querier call the host, so they can only be created after the host. */
export interface HostParts {
  readonly dispatch: Dispatch;
  readonly querier: ContractQuerier;
}

/** Limits how deep contract calls or smart queries may nest. */
interface DepthGuard {
  /** Runs `work`. Throws if calls nest deeper than the guard's limit. */
  readonly run: <T>(work: () => T) => T;
  readonly depth: () => number;
}

/** State and dependencies shared by all calls. */
interface CallDeps extends WasmDeps {
  readonly bech32Prefix: string;
  readonly entryPoints: EntryPoints;
  readonly reports: ReturnType<typeof createCodeReports>;
  readonly parts: () => HostParts;
  /** Errors whose message came from a contract. */
  readonly deterministic: WeakSet<errors.ModuleError>;
}

/** Maximum call depth. The deployed chain's limit of 500 could overflow the JavaScript stack. */
const MAX_CALL_DEPTH = 50;
/** Maximum nesting depth of smart queries, as on the deployed chain. */
const MAX_QUERY_DEPTH = 10;
const NO_DATA = new Uint8Array(0);

/** Creates the host, which calls `parts` whenever it needs the dispatcher or the querier. */
export function createContractHost(
  options: WasmOptions,
  deps: WasmDeps & Pick<Required<WasmDeps>, "tracer">,
  parts: () => HostParts,
): ContractHost {
  const guardCall = createDepthGuard(MAX_CALL_DEPTH, keys.ErrExceedMaxCallDepth);
  const guardQuery = createDepthGuard(MAX_QUERY_DEPTH, keys.ErrExceedMaxQueryStackSize);
  const deterministic = new WeakSet<errors.ModuleError>();
  const isDeterministic = (error: errors.ModuleError): boolean => deterministic.has(error);
  const host: CallDeps = {
    ...deps,
    bech32Prefix: options.bech32Prefix,
    entryPoints: createEntryPoints(options, {
      vm: deps.vm,
      tracer: deps.tracer,
      querier: () => parts().querier,
      isDeterministic,
      messageDepth: guardCall.depth,
    }),
    reports: createCodeReports(),
    parts,
    deterministic,
  };
  return {
    isContract: (context, address) => {
      const bytes = tryParseAddress(options.bech32Prefix, address);
      return bytes.ok && keeper.contracts.has(context, bytes.value);
    },
    instantiate: (context, contract) => guardCall.run(() => instantiate(host, context, contract)),
    execute: (context, address, caller, message) =>
      guardCall.run(() => execute(host, context, address, { caller, message })),
    migrate: (context, migration) => guardCall.run(() => migrate(host, context, migration)),
    sudo: (context, address, message) => guardCall.run(() => sudo(host, context, address, utf8(message))),
    reply: (context, address, reply) => guardCall.run(() => sendReply(host, context, address, reply)),
    query: (context, address, message) => guardQuery.run(() => query(host, context, address, message)),
    isDeterministic,
    ibc: createIbcCalls({
      entryPoints: host.entryPoints,
      load: (context, address) => keeper.loadContract(context, address, options.bech32Prefix),
      guard: guardCall.run,
      run: (call) => runEntryPoint(host, keys.ErrExecuteFailed, call),
      respond: (context, address, response) => respond(host, context, address, response),
    }),
  };
}

/** Creates a guard that counts nested calls in a variable. A variable is safe here, because contract calls are synchronous. */
function createDepthGuard(limit: number, tooDeep: errors.ErrorKind): DepthGuard {
  let depth = 0;
  return {
    run: (work) => {
      if (depth >= limit) throw tooDeep();
      depth += 1;
      try {
        return work();
      } finally {
        depth -= 1;
      }
    },
    depth: () => depth,
  };
}

function instantiate(
  host: CallDeps,
  context: Context,
  contract: Instantiation,
): { readonly address: string; readonly data: Uint8Array } {
  const { codeId, creator, funds } = contract;
  const message = compactJson(contract.message);
  chargeInstance(context, codeId, "instantiate");
  const code = keeper.codes.get(context, codeId);
  if (code === undefined) throw keys.ErrNoSuchCode(`code id ${codeId}`);
  if (contract.isAuthority !== true && !keeper.isAllowed(code.instantiateConfig, creator))
    throw errors.ErrUnauthorized("can not instantiate");
  const parsedCreator = parseAddress(host.bech32Prefix, creator);
  const bytes = keeper.addressOf(context, { ...contract, creator: parsedCreator, checksum: code.codeHash });
  if (keeper.contracts.has(context, bytes))
    throw keys.ErrDuplicate(
      "contract address already exists, try a different combination of creator, checksum and salt",
    );
  const address = formatAddress(host.bech32Prefix, bytes);
  host.accounts.ensureAccount(context, address);
  transferFunds(host, context, { from: creator, to: address }, funds);
  const loaded = { address, bytes, hash: code.codeHash };
  const caller = { sender: creator, funds };
  const response = callCode(host, context, loaded, { entryPoint: "instantiate", caller, message });
  const ibcPortId = bindPort(context, address, host.reports(context, code.codeHash));
  storeContract(host, context, bytes, { ...contract, message, ibcPortId });
  context.emit(event("instantiate", [...contractAttribute(address), ["code_id", codeId.toString()]]));
  return { address, data: processResponse(host, context, address, response) ?? NO_DATA };
}

/** Moves a call's funds to the contract and, as in wasmd, drops the transfer's event of type `message`. */
function transferFunds(
  { bank }: CallDeps,
  context: Context,
  { from, to }: { readonly from: string; readonly to: string },
  funds: readonly Coin[],
): void {
  if (funds.length === 0) return;
  bank.requireSendEnabled(context, funds);
  const events: ChainEvent[] = [];
  bank.sendCoins(collectEvents(context, events), from, to, funds);
  for (const each of events) if (each.type !== "message") context.emit(each);
}

/**
 * Stores a new contract's record. As in wasmd, the record is stored after the entry point has run, but before the contract's
 * messages run.
 */
function storeContract(
  host: CallDeps,
  context: Context,
  bytes: Uint8Array,
  contract: Instantiation & { readonly ibcPortId: string },
): void {
  const { codeId, creator, admin, label, message, ibcPortId } = contract;
  const created = positionOf(context);
  keeper.indexContract(
    context,
    { address: bytes, creator: parseAddress(host.bech32Prefix, creator) },
    {
      operation: ContractCodeHistoryOperationType.CONTRACT_CODE_HISTORY_OPERATION_TYPE_INIT,
      codeId,
      updated: created,
      msg: message,
    },
  );
  keeper.contracts.set(context, bytes, {
    codeId,
    creator,
    admin,
    label,
    created,
    ibcPortId,
    extension: undefined,
  });
}

function positionOf(context: Context): { readonly blockHeight: bigint; readonly txIndex: bigint } {
  return { blockHeight: context.height, txIndex: BigInt(keeper.runningTransaction(context) ?? 0) };
}

function execute(
  host: CallDeps,
  context: Context,
  address: string,
  call: { readonly caller: Caller; readonly message: Uint8Array },
): Uint8Array {
  const loaded = keeper.loadContract(context, address, host.bech32Prefix);
  const { sender, funds } = call.caller;
  chargeInstance(context, loaded.info.codeId, "execute");
  transferFunds(host, context, { from: sender, to: address }, funds);
  return callContract(host, context, loaded, { entryPoint: "execute", ...call }) ?? NO_DATA;
}

/** Runs a contract's entry point and processes the response. Returns the call's data, or undefined if the call set no data. */
function callContract(
  host: CallDeps,
  context: Context,
  loaded: keeper.LoadedCode,
  call: EntryCall,
): Uint8Array | undefined {
  const response = callCode(host, context, loaded, call);
  context.emit(event(call.entryPoint, contractAttribute(loaded.address)));
  return processResponse(host, context, loaded.address, response);
}

/** The chain errors that wrap a contract's own error, by entry point. */
const FAILURES = {
  instantiate: keys.ErrInstantiateFailed,
  execute: keys.ErrExecuteFailed,
  migrate: keys.ErrMigrationFailed,
  sudo: keys.ErrExecuteFailed,
  reply: keys.ErrExecuteFailed,
};

function callCode(
  host: CallDeps,
  context: Context,
  code: keeper.LoadedCode,
  call: EntryCall,
): ContractResponse {
  return runEntryPoint(host, FAILURES[call.entryPoint], () => host.entryPoints.call(context, code, call));
}

/**
 * Replaces a contract's code. Like instantiation, removes white space between the message's JSON tokens. Does not run the entry point if
 * the old and new code have the same migrate version.
 */
function migrate(host: CallDeps, context: Context, migration: Migration): Uint8Array {
  const { address, sender, codeId } = migration;
  const message = compactJson(migration.message);
  const bytes = parseAddress(host.bech32Prefix, address);
  const info = keeper.contracts.get(context, bytes);
  if (info === undefined) throw errors.ErrInvalidRequest("unknown contract");
  const isAuthority = migration.isAuthority === true;
  if (!isAuthority && info.admin !== sender) throw errors.ErrUnauthorized("can not migrate");
  const code = keeper.codes.get(context, codeId);
  if (code === undefined) throw errors.ErrInvalidRequest("unknown code");
  if (!isAuthority && !keeper.isAllowed(code.instantiateConfig, sender))
    throw errors.ErrUnauthorized("to use new code");
  const ibcPortId = portAfterMigration(context, { address, info }, host.reports(context, code.codeHash));
  let response: ContractResponse | undefined;
  if (!isSameVersion(host, context, info, code.codeHash)) {
    chargeInstance(context, codeId, "migrate");
    const loaded = { address, bytes, hash: code.codeHash };
    response = callCode(host, context, loaded, { entryPoint: "migrate", message });
  }
  const updated = positionOf(context);
  keeper.indexMigration(context, bytes, {
    operation: ContractCodeHistoryOperationType.CONTRACT_CODE_HISTORY_OPERATION_TYPE_MIGRATE,
    codeId,
    updated,
    msg: message,
  });
  keeper.contracts.set(context, bytes, { ...info, codeId, ibcPortId });
  context.emit(event("migrate", [["code_id", codeId.toString()], ...contractAttribute(address)]));
  return (response && processResponse(host, context, address, response)) ?? NO_DATA;
}

/** Returns a contract's port after a migration. Rejects new code that lacks IBC entry points if the contract has a port. */
function portAfterMigration(
  context: Context,
  { address, info }: { readonly address: string; readonly info: ContractInfo },
  report: CodeReport,
): string {
  if (info.ibcPortId === "") return bindPort(context, address, report);
  if (!report.hasIbcEntryPoints) throw keys.ErrMigrationFailed("requires ibc callbacks");
  return info.ibcPortId;
}

function isSameVersion(host: CallDeps, context: Context, info: ContractInfo, newHash: Uint8Array): boolean {
  const old = keeper.codes.get(context, info.codeId);
  const newVersion = host.reports(context, newHash).migrateVersion;
  const oldVersion = old === undefined ? undefined : host.reports(context, old.codeHash).migrateVersion;
  return newVersion !== undefined && newVersion === oldVersion;
}

function sudo(host: CallDeps, context: Context, address: string, message: Uint8Array): Uint8Array {
  const loaded = keeper.loadContract(context, address, host.bech32Prefix);
  chargeInstance(context, loaded.info.codeId, "sudo");
  return callContract(host, context, loaded, { entryPoint: "sudo", message }) ?? NO_DATA;
}

function sendReply(host: CallDeps, context: Context, address: string, reply: Reply): Uint8Array | undefined {
  const loaded = keeper.loadContract(context, address, host.bech32Prefix);
  chargeReply(context, reply.result);
  return callContract(host, context, loaded, { entryPoint: "reply", reply });
}

function query(host: CallDeps, context: Context, address: string, message: Uint8Array): Uint8Array {
  const loaded = keeper.loadContract(context, address, host.bech32Prefix);
  chargeInstance(context, loaded.info.codeId, "query");
  return runEntryPoint(host, keys.ErrQueryFailed, () => host.entryPoints.query(context, loaded, message));
}

/** Converts a `ContractError` to a chain error ("text: execute wasm contract failed"). Rethrows other errors. */
function runEntryPoint<T>({ deterministic }: CallDeps, failed: errors.ErrorKind, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const known = failed(error.message);
    deterministic.add(known);
    throw known;
  }
}

/**
 * Charges gas for a contract's events, emits them, and runs the contract's messages. Returns the call's data, or undefined if the
 * call set no data.
 */
function processResponse(
  host: CallDeps,
  context: Context,
  address: string,
  response: ContractResponse,
): Uint8Array | undefined {
  return errors.wrapErrors("dispatch", () => respond(host, context, address, response));
}

function respond(
  { parts }: CallDeps,
  context: Context,
  address: string,
  response: ContractResponse,
): Uint8Array | undefined {
  emitContractEvents(context, address, response);
  return parts().dispatch(context, address, response);
}

function contractAttribute(address: string): readonly (readonly [string, string])[] {
  return [["_contract_address", address]];
}
