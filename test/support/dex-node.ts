import { createHash } from "node:crypto";
import { systemClock } from "../../src/platform/base/clock.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../src/platform/base/json.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { createApp } from "../../src/localnet/chain/app.ts";
import type { ProfileName } from "../../src/localnet/chain/deviations/deviations.ts";
import { createGrpcEndpoint } from "../../src/localnet/node/grpc/grpc-endpoint.ts";
import { createRestServer } from "../../src/localnet/node/rest/rest-server.ts";
import { messageFromJson } from "../../src/cosmos/proto/json.ts";
import { testGenesis as testState } from "./test-chain.ts";
import { createTestKey, type TestKey } from "./test-keys.ts";
import { startTestNode, testGenesis, type TestNode } from "./test-node.ts";
import { text } from "./recorded-client.ts";
import { buildTx, type PackedMessage } from "./test-tx.ts";

/** Accounts of the node. Each has coins of every denomination. */
const NAMES = ["demo1", "demo2"] as const;
export type DexAccount = (typeof NAMES)[number];

const DENOMS = ["uibcatom", "uibcusdc", "untrn"];
const CHAIN_ID = "test-1";

/** A transaction as the REST server shows it. */
export interface DexTxResponse {
  readonly code: number;
  readonly codespace: string;
  readonly raw_log: string;
  readonly data: string;
  readonly events: readonly {
    readonly type: string;
    readonly attributes: readonly { readonly key: string; readonly value: string }[];
  }[];
}

/** A chain with funded accounts, its REST and gRPC servers. */
export interface DexNode extends TestNode {
  readonly restUrl: string;
  readonly grpcAddress: string;
  readonly addressOf: (account: DexAccount) => string;
  /** Sends messages in proto JSON with "@type" as one transaction, makes a block, and returns the result. */
  readonly send: (from: DexAccount, messages: readonly JsonObject[]) => Promise<DexTxResponse>;
  /** Returns the status and the body of a REST response. */
  readonly get: (path: string) => Promise<{ readonly status: number; readonly body: JsonValue }>;
}

/** Starts a node with an empty dex. `dex` is its genesis state. */
export async function startDexNode(dex?: JsonValue, profile?: ProfileName): Promise<DexNode> {
  const keys = new Map<DexAccount, TestKey>(NAMES.map((name) => [name, createTestKey(name)]));
  const logger = silentLogger;
  const chainName = "neutron";
  const options = { host: "127.0.0.1", port: 0, portOption: "--port", chainName };
  const genesis = {
    ...testGenesis(CHAIN_ID, [100n]),
    appState: stateOf([...keys.values()], dex),
    ...(profile === undefined ? {} : { profile }),
  };
  const node = await startTestNode(
    { chainId: CHAIN_ID, chainName, consensusPrefix: "neutronvalcons" },
    {
      createApp: (storage, document) =>
        createApp({ kind: "local", denom: "untrn", profile: document.profile }, { storage }),
      genesis: (stored) => stored ?? genesis,
      servers: [
        createRestServer(options, { clock: systemClock, logger }),
        createGrpcEndpoint(options, { logger }),
      ],
    },
  );
  node.control.produce(1);
  const restUrl = `http://127.0.0.1:${node.ports.get("rest")}`;
  const sequences = new Map<DexAccount, bigint>();
  const keyOf = (account: DexAccount): TestKey => keys.get(account) ?? createTestKey(account);
  const get: DexNode["get"] = async (path) => {
    const response = await fetch(`${restUrl}${path}`);
    const body: JsonValue = JSON.parse(await response.text());
    return { status: response.status, body };
  };
  return {
    ...node,
    restUrl,
    grpcAddress: `127.0.0.1:${node.ports.get("grpc")}`,
    addressOf: (account) => keyOf(account).address,
    get,
    send: async (from, messages) => {
      const sequence = sequences.get(from) ?? 0n;
      sequences.set(from, sequence + 1n);
      const tx = buildTx({
        key: keyOf(from),
        messages: messages.map(packed),
        sequence,
        accountNumber: BigInt(NAMES.indexOf(from)),
        gas: 2_000_000n,
        fee: [{ denom: "untrn", amount: "60000" }],
      });
      node.view.broadcast(tx);
      node.control.produce(1);
      const hash = createHash("sha256").update(tx).digest("hex").toUpperCase();
      return txResponseOf((await get(`/cosmos/tx/v1beta1/txs/${hash}`)).body);
    },
  };
}

/** Encodes a message in proto JSON. */
function packed({ "@type": type, ...fields }: JsonObject): PackedMessage {
  const typeUrl = text(type);
  return { typeUrl, value: messageFromJson(typeUrl.slice(1), fields) };
}

function stateOf(keys: readonly TestKey[], dex: JsonValue | undefined): JsonObject {
  const coins = DENOMS.map((denom) => ({ denom, amount: "1000000000000" }));
  const balances = keys.map(({ address }) => ({ address, coins }));
  const accounts = keys.map((key) => ({ key, untrn: 0n }));
  return { ...testState(accounts, dex === undefined ? {} : { dex }), bank: { balances } };
}

function txResponseOf(body: JsonValue): DexTxResponse {
  const response = isRecord(body) ? body["tx_response"] : undefined;
  if (!isTxResponse(response)) throw new Error(`not a transaction: ${JSON.stringify(body)}`);
  return response;
}

function isTxResponse(value: unknown): value is DexTxResponse {
  return isRecord(value) && typeof value["code"] === "number" && Array.isArray(value["events"]);
}
