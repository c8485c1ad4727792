import { createIbcModule, type IbcModule } from "../../../src/localnet/chain/modules/ibc/module.ts";
import {
  packConsensusState,
  openClientStore,
  latestHeightOf,
  packClientState,
} from "../../../src/localnet/chain/modules/ibc/client/client-store.ts";
import { TENDERMINT_TYPE } from "../../../src/localnet/chain/modules/ibc/host/identifiers.ts";
import { tendermintClientState } from "../../../src/localnet/chain/modules/ibc/open-connection.ts";
import type { IBCModule, PortRouter } from "../../../src/localnet/chain/modules/ibc/channel/ibc-module.ts";
import { formatAddress } from "../../../src/localnet/chain/runtime/address.ts";
import {
  type Context,
  type ExecutionMode,
  createContext,
  type ChainModule,
  type ChainEvent,
} from "../../../src/localnet/chain/runtime/context.ts";
import { createGasMeter } from "../../../src/localnet/chain/runtime/gas.ts";
import { runMessages } from "../../../src/localnet/chain/runtime/tx-runner.ts";
import { ModuleError } from "../../../src/localnet/chain/runtime/errors.ts";
import type { DecodedTx } from "../../../src/localnet/chain/runtime/tx.ts";
import { createMultiStore } from "../../../src/localnet/chain/store/multi-store.ts";
import { revisionOfChainId } from "../../../src/cosmos/comet/ibc-height.ts";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import { isRecord, type JsonObject } from "../../../src/platform/base/json.ts";
import { TxMsgData } from "../../../src/cosmos/proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import { AuthInfo, TxBody, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import type { Any } from "../../../src/cosmos/proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../src/cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { Header } from "../../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { messageFromJson, messageToJson } from "../../../src/cosmos/proto/json.ts";
import { TYPE_URL } from "../../../src/cosmos/proto/registry.ts";
import { updateHeader } from "../comet/light-block.ts";
import { createSigners, signBlock } from "../comet/signed-chain.ts";
import { encodeMerkleProof } from "./merkle-proof.ts";

const SECOND = 1_000_000_000n;
const START_NS = 1_800_000_000n * SECOND;
const SETTINGS = {
  trustingPeriodNs: 1_000_000n * SECOND,
  unbondingPeriodNs: 2_000_000n * SECOND,
  maxClockDriftNs: 10n * SECOND,
};

/** A message in the gateway's JSON. */
export type LinkedMessage = JsonObject & { readonly "@type": string };

/** Result of a transaction. */
interface LinkedResult {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly events: readonly ChainEvent[];
  /** The encoded responses of the messages. */
  readonly responses: readonly Uint8Array[];
}

/** A proof of the committed state in the form of messages: base64 and the height of the header that has its root. */
interface LinkedProof {
  readonly proof: string;
  readonly height: { readonly revision_number: string; readonly revision_height: string };
}

/**
 * A chain of modules with real trees, whose headers one signer signs. Transactions have no signatures and no fees. `block`
 * commits; a proof is of the last commit, under the header of the block that is open.
 */
export interface LinkedChain {
  readonly chainId: string;
  readonly signer: string;
  readonly ibc: IbcModule;
  /** Runs the messages of one transaction in the open block. A failure keeps nothing. */
  readonly deliver: (...messages: readonly LinkedMessage[]) => LinkedResult;
  /** Runs the stateless checks and the ante step of relayed packets, as CheckTx does. Keeps nothing. */
  readonly check: (mode: ExecutionMode, ...messages: readonly LinkedMessage[]) => LinkedResult;
  /** Commits the open block and opens the next one, a second later by default. */
  readonly block: (seconds?: bigint) => void;
  readonly height: () => bigint;
  readonly timeNs: () => bigint;
  readonly prove: (path: string) => LinkedProof;
  /** A context of the open block. */
  readonly context: () => Context;
  readonly query: (path: string, request: Uint8Array) => Uint8Array;
  /** Creates the message that updates a client of this chain on the other chain to the open header. */
  readonly updateFor: (other: LinkedChain, clientId: string) => LinkedMessage;
  /** Creates the message that creates a client of this chain. */
  readonly createClientFor: (other: LinkedChain) => LinkedMessage;
  readonly modules: readonly ChainModule[];
}

export interface LinkedChainOptions {
  readonly chainId: string;
  readonly bech32Prefix?: string;
  readonly genesis?: JsonObject;
  /** Creates the modules besides IBC, and the applications of its ports. */
  readonly build?: (ibc: () => IbcModule) => {
    readonly modules: readonly ChainModule[];
    readonly applications: ReadonlyMap<string, IBCModule>;
    /** Finds the applications of other ports. */
    readonly router?: PortRouter;
  };
}

/** Starts a chain and commits its genesis. */
export function createLinkedChain(options: LinkedChainOptions): LinkedChain {
  const { chainId, bech32Prefix = "neutron", genesis = {} } = options;
  const authority = formatAddress(bech32Prefix, new Uint8Array(20).fill(9));
  let ibcModule: IbcModule | undefined;
  const built: ReturnType<NonNullable<LinkedChainOptions["build"]>> = options.build?.(() =>
    required(ibcModule),
  ) ?? { modules: [], applications: new Map() };
  const ibc = createIbcModule(
    { bech32Prefix, authority },
    (context, port) => built.applications.get(port) ?? built.router?.(context, port),
  );
  ibcModule = ibc;
  const modules = [...built.modules, ibc];
  const handlers = new Map(modules.flatMap(({ messages }) => messages.map((one) => [one.typeUrl, one])));
  const queries = new Map(modules.flatMap((one) => one.queries.map((query) => [query.path, query])));
  const stores = createMultiStore({
    stores: modules.flatMap((one) => one.stores),
    keepRecent: 10_000,
    initialHeight: 1n,
  });
  const signers = createSigners(chainId, [1n]);
  let timeNs = START_NS;
  let height = 1n;
  let branch = stores.branch();
  const times = new Map<bigint, bigint>([[1n, timeNs]]);
  const contextOn = (mode: ExecutionMode, source = branch, events: ChainEvent[] = []): Context =>
    createContext(
      { chainId, height, timeNs },
      { mode, gas: createGasMeter(), branch: source, emit: (event) => events.push(event) },
    );
  const headerAt = (at: bigint) =>
    signBlock(signers, {
      chainId,
      height: at,
      timeNs: times.get(at) ?? 0n,
      appHash: stores.view(at - 1n)?.appHash ?? new Uint8Array(32),
    });
  const decode = (messages: readonly LinkedMessage[]): DecodedTx => ({
    bytes: new Uint8Array(0),
    chainName: "neutron",
    raw: TxRaw.decode(new Uint8Array(0)),
    body: TxBody.decode(new Uint8Array(0)),
    authInfo: AuthInfo.decode(new Uint8Array(0)),
    hasUnknownFields: false,
    signers: [],
    messages: messages.map((message) => {
      const { typeUrl, value } = packLinked(message);
      return { typeUrl, value, handler: handlers.get(typeUrl) };
    }),
  });
  const run = (work: (events: ChainEvent[]) => Omit<Partial<LinkedResult>, "code">): LinkedResult => {
    try {
      return { code: 0, codespace: "", log: "", events: [], responses: [], ...work([]) };
    } catch (error) {
      if (!(error instanceof ModuleError)) throw error;
      const { code, codespace, message: log } = error;
      return { code, codespace, log, events: [], responses: [] };
    }
  };
  const chain: LinkedChain = {
    chainId,
    ibc,
    modules,
    signer: formatAddress(bech32Prefix, new Uint8Array(20).fill(7)),
    height: () => height,
    timeNs: () => timeNs,
    context: () => contextOn("deliver"),
    query: (path, request) => required(queries.get(path)).query(contextOn("check"), request),
    deliver: (...messages) =>
      run(() => {
        const inner = branch.branch();
        const { events, data } = runMessages(contextOn("deliver", inner), decode(messages));
        inner.write();
        return { events, responses: TxMsgData.decode(data).msgResponses.map(({ value }) => value) };
      }),
    check: (mode, ...messages) =>
      run(() => {
        const tx = decode(messages);
        for (const { handler, value } of tx.messages) handler?.validate?.(value);
        const environment = { proposerAddress: new Uint8Array(20), maxBlockGas: 0n };
        ibc.relayCheck(contextOn(mode, branch.branch()), tx, environment);
        return {};
      }),
    block: (seconds = 1n) => {
      branch.write();
      stores.commit();
      height += 1n;
      timeNs += seconds * SECOND;
      times.set(height, timeNs);
      branch = stores.branch();
      for (const { beginBlock } of modules)
        beginBlock?.(contextOn("deliver"), { lastCommit: [], misbehavior: [] });
    },
    prove: (path) => {
      const operators = required(stores.view(height - 1n)).prove("ibc", utf8(path));
      return {
        proof: encodeMerkleProof(operators.map(({ data }) => data)),
        height: heightJson(chainId, height),
      };
    },
    updateFor: (other, clientId) => {
      const client = required(openClientStore(other.context(), clientId).clientState());
      const trusted: Height = latestHeightOf(client);
      const header = updateHeader(headerAt(height), trusted, headerAt(trusted.revisionHeight));
      return {
        "@type": "/ibc.core.client.v1.MsgUpdateClient",
        client_id: clientId,
        client_message: anyJson(TYPE_URL.tendermintHeader, Header.encode(header).finish()),
        signer: other.signer,
      };
    },
    createClientFor: (other) => {
      const { header } = headerAt(height);
      const latest = { revisionNumber: revisionOfChainId(chainId), revisionHeight: height };
      const state = tendermintClientState(chainId, latest, SETTINGS);
      const { timeNs: time, appHash: root, nextValidatorsHash } = header;
      return {
        "@type": "/ibc.core.client.v1.MsgCreateClient",
        client_state: anyOf(packClientState({ type: TENDERMINT_TYPE, state })),
        consensus_state: anyOf(packConsensusState({ timeNs: time, root, nextValidatorsHash })),
        signer: other.signer,
      };
    },
  };
  for (const module of modules) module.initGenesis(contextOn("deliver"), genesis[module.name]);
  chain.block();
  return chain;
}

/** Returns a height as the gateway prints it. */
function heightJson(chainId: string, height: bigint): LinkedProof["height"] {
  return { revision_number: revisionOfChainId(chainId).toString(), revision_height: height.toString() };
}

/** Encodes a message in the gateway's JSON. */
function packLinked({ "@type": typeUrl, ...fields }: LinkedMessage): Any {
  return { typeUrl, value: messageFromJson(typeUrl.slice(1), fields) };
}

function anyOf({ typeUrl, value }: Any): JsonObject {
  return anyJson(typeUrl, value);
}

function anyJson(typeUrl: string, value: Uint8Array): JsonObject {
  const json = messageToJson(typeUrl.slice(1), value);
  if (!isRecord(json)) throw new Error(`${typeUrl} does not print as an object`);
  return { "@type": typeUrl, ...json };
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("missing");
  return value;
}
