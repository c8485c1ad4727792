import { consumerAddress } from "./consumer-address.ts";
import { Registry as MetricsRegistry } from "prom-client";
import { type Clock, systemClock } from "../../src/platform/base/clock.ts";
import { fromUtf8, utf8 } from "../../src/platform/base/bytes.ts";
import { stringifyJson } from "../../src/platform/base/json.ts";
import { type Logger, silentLogger } from "../../src/platform/base/logger.ts";
import type { DaemonContext } from "../../src/platform/process/daemon-context.ts";
import { collectingLogger, type LogLine } from "./collecting-logger.ts";
import { Secret } from "../../src/platform/base/secret.ts";
import { supervise } from "../../src/platform/base/service.ts";
import { createChainClient, type PooledChainClient } from "../../src/cosmos/client/create-chain-client.ts";
import { createTxSender } from "../../src/cosmos/client/tx/create-tx-sender.ts";
import { silentObserver } from "../../src/cosmos/client/rpc-caller.ts";
import { createSigner } from "../../src/cosmos/client/tx/signer.ts";
import type { Confirmation, TxSender, WireMessage } from "../../src/cosmos/client/tx/tx-types.ts";
import { parseDec18 } from "../../src/platform/base/decimal.ts";
import {
  accountNamed,
  type ChainProfile,
  CHAINS,
  type LocalnetChains,
} from "../../src/localnet/accounts/chains.ts";
import type { GenesisContract, PlacedContract } from "../../src/localnet/genesis/scenario-genesis.ts";
import { createGrpcEndpoint } from "../../src/localnet/node/grpc/grpc-endpoint.ts";
import { createLocalnet, type RunningLocalnet } from "../../src/localnet/network/create-localnet.ts";
import { createRestServer } from "../../src/localnet/node/rest/rest-server.ts";
import { readBuildInfo } from "../../src/platform/process/build-info.ts";
import { parseConfig } from "../../src/platform/config/config.ts";
import { MsgSend } from "../../src/cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import {
  QuerySmartContractStateRequest,
  QuerySmartContractStateResponse,
} from "../../src/cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import { MsgExecuteContract } from "../../src/cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { relayerConfigSchema } from "../../src/relayer/config/relayer-config.ts";
import { createRelayer, type Relayer } from "../../src/relayer/create-relayer.ts";

/** A localnet and a relayer in this process, with the clients that tests use. */
export interface RelayedLocalnet {
  readonly running: RunningLocalnet;
  /** RPC of the chains. */
  readonly urls: ChainUrls;
  readonly relayer: Relayer;
  /** Lines of the log of `relayer`. */
  readonly log: readonly LogLine[];
  readonly clients: Readonly<Record<"local" | "remote", PooledChainClient>>;
  /** Starts another relayer between the same chains, without proxies and with the account `bob`. It ends with the others. */
  readonly startOther: () => Promise<Relayer>;
  /** Senders of the account `alice`. */
  readonly alice: Readonly<Record<"local" | "remote", TxSender>>;
  /** Sends messages in one transaction with a high gas limit and waits for its block. */
  readonly send: (sender: TxSender, ...messages: readonly WireMessage[]) => Promise<Confirmation>;
  /** Executes messages of the consumer contract in one transaction. Returns its height; throws unless it is included. */
  readonly execute: (...messages: readonly unknown[]) => Promise<bigint>;
  /** Queries the consumer contract. */
  readonly queryConsumer: (message: unknown) => Promise<unknown>;
  /** Calls the control API. Throws unless it succeeds. */
  readonly post: (path: string, body: Readonly<Record<string, unknown>>) => Promise<unknown>;
  /** Calls a command of a chain: `path` is chain id and command. Throws unless it succeeds. */
  readonly control: (path: string, body: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface RelayedLocalnetOptions {
  readonly blockTimeMs?: number;
  readonly remotePowers?: readonly bigint[];
  /** Contracts in the genesis of the local chain. */
  readonly contracts?: readonly GenesisContract[];
  readonly onContract?: (placed: PlacedContract) => void;
  /** Both chains. Default: the default localnet's. */
  readonly profiles?: LocalnetChains;
  /** Clock of the relayer's machine. Default: that of the chains. */
  readonly clock?: Clock;
  /** YAML that is appended to the relayer's configuration. */
  readonly relayer?: string;
  /** Returns the endpoints that the relayer uses, from those of the chains. Default: the same. */
  readonly endpoints?: (urls: ChainUrls) => Promise<Readonly<Record<"local" | "remote", readonly string[]>>>;
}

type ChainUrls = Readonly<Record<"local" | "remote", string>>;

const signal = new AbortController().signal;
const free = { host: "127.0.0.1", port: 0, portOption: "--port" };

/** Token of the control API. */
const CONTROL_TOKEN = "control-token-of-the-test";

/** Starts both chains on free ports, and a relayer between them. */
export async function startRelayedLocalnet(options: RelayedLocalnetOptions = {}): Promise<RelayedLocalnet> {
  const stop = new AbortController();
  const localnet = createLocalnet(
    {
      chains: {
        local: {
          rpc: free,
          metrics: free,
          validatorPowers: [10n],
          contracts: options.contracts ?? [],
          onContract: options.onContract ?? (() => {}),
        },
        remote: { rpc: free, validatorPowers: options.remotePowers ?? [10n] },
      },
      profiles: options.profiles ?? CHAINS,
      // Each second costs the blocks of both chains, and what the relayer does at them. Most tests wait for other things.
      blockTimeMs: options.blockTimeMs ?? 250,
      remoteRpcUrl: "http://127.0.0.1:1",
      control: { address: free, token: new Secret(CONTROL_TOKEN) },
    },
    {
      clock: systemClock,
      logger: silentLogger,
      servers: ({ chainName, part }) =>
        part === "local"
          ? [
              createRestServer({ ...free, chainName }, defaultDeps),
              createGrpcEndpoint({ ...free, chainName }, defaultDeps),
            ]
          : [],
    },
  );
  const chainsDone = localnet.run(stop.signal);
  chainsDone.catch(() => {});
  const running = await localnet.ready;
  const urls = { local: rpcUrl(running, "local"), remote: rpcUrl(running, "remote") };
  const endpoints = (await options.endpoints?.(urls)) ?? { local: [urls.local], remote: [urls.remote] };
  const relayers: Relayer[] = [];
  const relayersDone: Promise<unknown>[] = [];
  const log: LogLine[] = [];
  const startRelayer = async (account: string, at: typeof endpoints, logger: Logger): Promise<Relayer> => {
    const clock = options.clock ?? systemClock;
    const context = { ...defaultDeps, clock, logger, signal: stop.signal, build: readBuildInfo() };
    const one = await openRelayer(account, at, options.relayer ?? "", context);
    relayers.push(one);
    relayersDone.push(supervise(one.services, stop.signal, silentLogger));
    return one;
  };
  const relayer = await startRelayer("relayer", endpoints, collectingLogger(log));
  const clients = {
    local: openClient(CHAINS.local, urls.local),
    remote: openClient(CHAINS.remote, urls.remote),
  };
  const alice = {
    local: await openSender(CHAINS.local, clients.local),
    remote: await openSender(CHAINS.remote, clients.remote),
  };
  const post: RelayedLocalnet["post"] = async (path, body) => {
    const reply = await fetch(`http://127.0.0.1:${running.controlPort}/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${CONTROL_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${reply.status}: ${text}`);
    return JSON.parse(text);
  };
  const send: RelayedLocalnet["send"] = async (sender, ...messages) =>
    (await sender.send(messages, 20_000_000n, signal)).confirmation;
  return {
    running,
    urls,
    relayer,
    log,
    clients,
    startOther: () => startRelayer("bob", { local: [urls.local], remote: [urls.remote] }, silentLogger),
    alice,
    send,
    execute: async (...messages) => {
      const done = await send(
        alice.local,
        ...messages.map((message) => executeMessage(alice.local.address, message)),
      );
      if (done.kind !== "included") throw new Error(`not included: ${stringifyJson(done)}`);
      return done.height;
    },
    queryConsumer: async (message) => {
      const request = { address: consumerAddress(), queryData: utf8(JSON.stringify(message)) };
      const bytes = QuerySmartContractStateRequest.encode(request).finish();
      const response = await clients.local.grpcQuery(
        "/cosmwasm.wasm.v1.Query/SmartContractState",
        bytes,
        signal,
      );
      return JSON.parse(fromUtf8(QuerySmartContractStateResponse.decode(response).data));
    },
    post,
    control: async (path, body) => void (await post(`chains/${path}`, body)),
    stop: async () => {
      stop.abort(new Error("the test is over"));
      await Promise.all([...relayersDone, chainsDone]);
      for (const one of relayers) await one.close();
      clients.local.close();
      clients.remote.close();
    },
  };
}

/** `MsgSend` of some of the chain's coins. */
export function sendMessage(chain: ChainProfile, from: string, to: string, amount: bigint): WireMessage {
  const coins = [{ denom: chain.denom, amount: amount.toString() }];
  const value = MsgSend.encode({ fromAddress: from, toAddress: to, amount: coins }).finish();
  return { typeUrl: "/cosmos.bank.v1beta1.MsgSend", value };
}

function executeMessage(sender: string, message: unknown): WireMessage {
  const msg = utf8(JSON.stringify(message));
  const value = MsgExecuteContract.encode({ sender, contract: consumerAddress(), msg, funds: [] }).finish();
  return { typeUrl: "/cosmwasm.wasm.v1.MsgExecuteContract", value };
}

function rpcUrl(running: RunningLocalnet, part: "local" | "remote"): string {
  return `http://127.0.0.1:${running.chains[part]?.ports.get("rpc")}`;
}

const defaultDeps = { clock: systemClock, random: Math.random, logger: silentLogger };

function openRelayer(
  account: string,
  endpoints: Readonly<Record<"local" | "remote", readonly string[]>>,
  more: string,
  context: DaemonContext,
): Promise<Relayer> {
  const text = `
chain: { id: local-1, rpc: ${JSON.stringify(endpoints.local)} }
signer: { mnemonic: { env: MNEMONIC } }
connections: [{ id: connection-0, chain_id: remote-1, rpc: ${JSON.stringify(endpoints.remote)} }]
retry: { first: 200ms, most: 2s }
http: { listen: "127.0.0.1:0" }
${more}`;
  const { mnemonic } = accountNamed(CHAINS.local, account);
  const schema = relayerConfigSchema({ environment: () => mnemonic, file: () => "" });
  return createRelayer(parseConfig({ file: "test", text }, schema), new MetricsRegistry(), context);
}

function openClient(chain: ChainProfile, url: string): PooledChainClient {
  const options = { endpoints: [{ url }], chainId: chain.chainId };
  return createChainClient(options, { ...defaultDeps, observer: silentObserver });
}

async function openSender(chain: ChainProfile, client: PooledChainClient): Promise<TxSender> {
  const mnemonic = new Secret(accountNamed(chain, "alice").mnemonic);
  const signer = await createSigner({ kind: "mnemonic", mnemonic }, chain.bech32Prefix);
  const gasPrice = { denom: chain.denom, multiplier: parseDec18("1.2"), cap: parseDec18("1") };
  return createTxSender({ chainId: chain.chainId, memo: "", gasPrice }, { client, signer, ...defaultDeps });
}
