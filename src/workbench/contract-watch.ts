import { statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { TxMsgData } from "../cosmos/proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import * as query from "../cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import * as wire from "../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { raceAbort } from "../platform/base/abort.ts";
import { equalBytes, sha256, toHex, utf8 } from "../platform/base/bytes.ts";
import type { Clock } from "../platform/base/clock.ts";
import { CodedError, errorText } from "../platform/base/errors.ts";
import type { Service } from "../platform/base/service.ts";
import { MempoolError } from "../localnet/node/base/errors.ts";
import type { NodeView, StoredTx } from "../localnet/node/base/node-view.ts";
import type { RunningNode } from "../localnet/node/create-node.ts";
import { type GasProfiles, ProfileError } from "./profile/profile-tx.ts";
import { accountNamed, type ChainProfile, CHAINS } from "../localnet/accounts/chains.ts";
import {
  createLocalAccount,
  type LocalAccount,
  LocalAccountError,
} from "../localnet/accounts/local-account.ts";

/** A genesis contract to migrate whenever its code file changes. */
interface WatchedContract {
  readonly file: string;
  readonly label: string;
  /** Name of the test account that uploads code and may migrate the contract. */
  readonly admin: string;
  /** JSON text of the message that is passed to the contract's `migrate` entry point. */
  readonly migrate: string;
}

export interface ContractWatchOptions {
  readonly contracts: readonly WatchedContract[];
  /** Reads a code file and checks the code as the chain does. Throws an error with the reason if the chain would reject the code. */
  readonly read: (file: string) => Uint8Array;
  /** Called with one line of text for each migration and each error. */
  readonly report: (line: string) => void;
  /** The chain to use; by default, the local chain of the default localnet. */
  readonly chain?: ChainProfile;
}

interface ContractWatchDeps {
  readonly node: Promise<Pick<RunningNode, "view">>;
  /** Profiles a transaction. Throws `ProfileError`. */
  readonly makeProfile: GasProfiles["make"];
  readonly clock: Clock;
}

/** Interval between checks of a code file, in ms. A change is used after two equal checks, because a compiler may still be writing. */
const POLL_MS = 300;
/** Maximum wait for a block that includes a transaction. */
const TX_DEADLINE_MS = 60_000;

/** Thrown if the chain rejects the upload of new code or the migration to it. */
class WatchError extends CodedError<{ readonly code: "watch-refused" }> {}

/**
 * Creates a service that, whenever a code file changes, checks and uploads the code, and migrates the contract. If a step fails,
 * the contract keeps its previous code, and the service reports the error and continues. Files are polled, because file events do
 * not work on all file systems or for replaced files.
 */
export function createContractWatch(options: ContractWatchOptions, deps: ContractWatchDeps): Service {
  const followed = options.contracts.map((contract) => createFollower(contract, options, deps));
  return {
    name: "contract watch",
    run: async (signal) => {
      const { view } = await raceAbort(deps.node, signal);
      for (;;) {
        for (const look of followed) await look(view, signal);
        await deps.clock.sleep(POLL_MS, signal);
      }
    },
  };
}

type Look = (view: NodeView, signal: AbortSignal) => Promise<void>;

function createFollower(
  contract: WatchedContract,
  { read, report, chain = CHAINS.local }: ContractWatchOptions,
  { clock, makeProfile }: Omit<ContractWatchDeps, "node">,
): Look {
  const { file, label, admin } = contract;
  const account = createLocalAccount(chain, admin);
  let seen: string | undefined;
  let handled: string | undefined;
  return async (view, signal) => {
    const state = stateOf(file);
    const isStable = state !== undefined && state === seen;
    seen = state;
    if (!isStable || state === handled || view.status().latestHeight < 1n) return;
    handled = state;
    try {
      const done = await follow(contract, read(file), { view, chain, account, clock, makeProfile, signal });
      if (done !== undefined) report(`${label}: ${done}`);
    } catch (error) {
      signal.throwIfAborted();
      report(`${label}: ${reasonOf(error)}; the contract keeps its code`);
    }
  };
}

/** Returns an error's message if the error is intended for users. Rethrows all other errors, which are bugs. */
function reasonOf(error: unknown): string {
  const isKnown =
    error instanceof WatchError ||
    error instanceof MempoolError ||
    error instanceof LocalAccountError ||
    (error instanceof Error && error.name === "CliError");
  if (!isKnown) throw error;
  return errorText(error);
}

/** Returns a value that changes whenever the file is written or replaced, or undefined if the file does not exist. */
function stateOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat && `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}

interface Migrating {
  readonly view: NodeView;
  readonly chain: ChainProfile;
  readonly account: LocalAccount;
  readonly clock: Clock;
  readonly makeProfile: GasProfiles["make"];
  readonly signal: AbortSignal;
}

/** Uploads code and migrates the contract to it. Returns a line to report, or undefined if the contract already uses this code. */
async function follow(
  { label, migrate }: WatchedContract,
  code: Uint8Array,
  migrating: Migrating,
): Promise<string | undefined> {
  const { view, chain, account } = migrating;
  const { address, codeId } = findContract(view, chain, label);
  const checksum = sha256(code);
  if (equalBytes(codeOf(view, codeId).dataHash, checksum)) return undefined;
  const packed = new Uint8Array(gzipSync(code));
  const stored = await send("MsgStoreCode", migrating, {
    value: wire.MsgStoreCode.encode({
      sender: account.address,
      wasmByteCode: packed,
      instantiatePermission: undefined,
    }).finish(),
    // Gas: 3 per byte of code, 10 per byte of the transaction, and a fixed amount per transaction, all rounded up.
    gasLimit: 3n * BigInt(code.length) + 11n * BigInt(packed.length) + 500_000n,
  });
  const next = wire.MsgStoreCodeResponse.decode(responseOf(stored)).codeId;
  const { result } = await send("MsgMigrateContract", migrating, {
    value: wire.MsgMigrateContract.encode({
      sender: account.address,
      contract: address,
      codeId: next,
      msg: utf8(migrate),
    }).finish(),
    gasLimit: MIGRATE_GAS,
  });
  return `migrated to code ${next} (${toHex(checksum).slice(0, 8)}…, ${code.length} bytes), ${result.gasUsed} gas; ${address}`;
}

const MIGRATE_GAS = 10_000_000n;

function ask(view: NodeView, rpc: string, data: Uint8Array): Uint8Array {
  const path = `/cosmwasm.wasm.v1.Query/${rpc}`;
  const response = view.query({ path, data, height: 0n, prove: false });
  if (response.code !== 0) throw new WatchError({ code: "watch-refused" }, `${rpc}: ${response.log}`);
  return response.value;
}

/** Finds a genesis contract, created by `operator`, by its label. If several contracts have the label, returns the newest. */
function findContract(
  view: NodeView,
  chain: ChainProfile,
  label: string,
): { readonly address: string; readonly codeId: bigint } {
  const creatorAddress = accountNamed(chain, "operator").address;
  const request = query.QueryContractsByCreatorRequest.encode({ creatorAddress, pagination: undefined });
  const { contractAddresses } = query.QueryContractsByCreatorResponse.decode(
    ask(view, "ContractsByCreator", request.finish()),
  );
  const infos = contractAddresses.map((address) => {
    const info = query.QueryContractInfoRequest.encode({ address }).finish();
    return query.QueryContractInfoResponse.decode(ask(view, "ContractInfo", info));
  });
  const found = infos.findLast(({ contractInfo }) => contractInfo?.label === label);
  if (found?.contractInfo !== undefined) return { address: found.address, codeId: found.contractInfo.codeId };
  throw new WatchError(
    { code: "watch-refused" },
    "the chain has no contract with this label, because its --home still has the state of a chain started without the contract",
  );
}

function codeOf(view: NodeView, codeId: bigint): { readonly dataHash: Uint8Array } {
  const request = query.QueryCodeRequest.encode({ codeId }).finish();
  const { codeInfo } = query.QueryCodeResponse.decode(ask(view, "Code", request));
  return codeInfo ?? { dataHash: new Uint8Array() };
}

/** Sends a message and waits for inclusion in a block. Throws {@link WatchError} unless the transaction succeeds. */
async function send(
  name: "MsgStoreCode" | "MsgMigrateContract",
  { view, chain, account, clock, makeProfile, signal }: Migrating,
  { value, gasLimit }: { readonly value: Uint8Array; readonly gasLimit: bigint },
): Promise<StoredTx> {
  const messages = [{ typeUrl: `/cosmwasm.wasm.v1.${name}`, value }];
  const fee = { denom: chain.denom, amount: gasLimit };
  const { hash, check } = await account.broadcast(view, { messages, memo: "watch", gasLimit, fee });
  if (check.code !== 0) throw refused(name, check.log);
  const deadline = clock.monotonicMs() + TX_DEADLINE_MS;
  for (;;) {
    const tx = view.tx(hash);
    if (tx?.result.code === 0) return tx;
    if (tx !== undefined) throw refused(name, tx.result.log, stackOf(makeProfile, hash));
    if (clock.monotonicMs() > deadline) throw refused(name, `not included within ${TX_DEADLINE_MS / 1000} s`);
    await clock.sleep(POLL_MS, signal);
  }
}

function refused(name: string, reason: string, stack = ""): WatchError {
  const what = name === "MsgStoreCode" ? "the upload failed" : "the migration failed";
  return new WatchError({ code: "watch-refused" }, `${what}: ${reason}${stack}`);
}

/** Returns the functions that were running when the transaction failed, or "" if the transaction cannot be profiled. */
function stackOf(makeProfile: GasProfiles["make"], hash: Uint8Array): string {
  try {
    const { failures } = makeProfile({ kind: "tx", hash: toHex(hash) });
    return failures.flatMap(({ stack }) => stack.map((frame) => `\n    at ${frame}`)).join("");
  } catch (error) {
    if (error instanceof ProfileError) return "";
    throw error;
  }
}

function responseOf({ result }: StoredTx): Uint8Array {
  return TxMsgData.decode(result.data).msgResponses[0]?.value ?? new Uint8Array();
}
