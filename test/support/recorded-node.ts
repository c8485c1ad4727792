import { systemClock } from "../../src/platform/base/clock.ts";
import { fromBase64 } from "../../src/platform/base/bytes.ts";
import type { JsonObject, JsonValue } from "../../src/platform/base/json.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { createApp } from "../../src/localnet/chain/app.ts";
import { createGrpcEndpoint } from "../../src/localnet/node/grpc/grpc-endpoint.ts";
import { createRestServer } from "../../src/localnet/node/rest/rest-server.ts";
import { recordedIbcGenesis, record } from "./recorded-client.ts";
import { RECORDED_SIGNER, recordedBody, recordedQueriesGenesis, recordedTxBase64 } from "./recorded-rest.ts";
import { startTestNode, testGenesis, type TestNode } from "./test-node.ts";

/** Account in the recorded requests. */
export const RECORDED_ACCOUNT = "neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2";
/** Contract in the recorded requests. It owns the queries of this node. */
const RECORDED_CONTRACT = "neutron1wkwy0xh89ksdgj9hr347dyd2dw7zesmtrue6kfzyml4vdtz6e5wsaldc5h";
const OTHER_CONTRACT = "neutron1ufs3tlq4umljk0qfe8k5ya0x6hpavn897u2cnf9k0en9jr7qarqq2mt63x";

/** A local chain with the state of the recording, and its REST and gRPC servers. */
export interface RecordedNode extends TestNode {
  readonly restUrl: string;
  readonly grpcAddress: string;
}

/** One second after the remote header in the recorded transaction. */
export const RECORDED_NOW_MS = Date.parse("2026-11-21T12:26:02Z");
const GENESIS_NS = BigInt(RECORDED_NOW_MS - 3_600_000) * 1_000_000n;
/** Empty blocks before the block with the recorded transaction. */
const BLOCKS_BEFORE = 11;

/** Starts a node with the accounts, client, queries and contracts of the recording. Its last block is the recorded transaction. */
export async function startRecordedNode(chainName = "neutron"): Promise<RecordedNode> {
  const logger = silentLogger;
  const clock = { ...systemClock, nowMs: () => RECORDED_NOW_MS };
  const options = { host: "127.0.0.1", port: 0, portOption: "--port", chainName };
  const genesis = { ...testGenesis("test-1", [100n]), genesisTimeNs: GENESIS_NS, appState: recordedState() };
  const node = await startTestNode(
    { chainId: "test-1", moniker: "lab", chainName, consensusPrefix: "neutronvalcons" },
    {
      clock,
      createApp: (storage) => createApp({ kind: "local", denom: "untrn", chainName }, { storage }),
      genesis: (stored) => stored ?? genesis,
      servers: [createRestServer(options, { clock, logger }), createGrpcEndpoint(options, { logger })],
    },
  );
  node.control.produce(BLOCKS_BEFORE);
  node.view.broadcast(fromBase64(recordedTxBase64()));
  node.control.produce(1);
  return {
    ...node,
    restUrl: `http://127.0.0.1:${node.ports.get("rest")}`,
    grpcAddress: `127.0.0.1:${node.ports.get("grpc")}`,
  };
}

function recordedState(): JsonObject {
  const account = record(recordedBody(`/cosmos/auth/v1beta1/accounts/${RECORDED_ACCOUNT}`)["account"]);
  const signer = {
    "@type": "/cosmos.auth.v1beta1.BaseAccount",
    address: RECORDED_SIGNER.address,
    pub_key: null,
    account_number: RECORDED_SIGNER.accountNumber,
    sequence: RECORDED_SIGNER.sequence,
  };
  const balances: JsonValue = [
    {
      address: RECORDED_ACCOUNT,
      coins: recordedBody(`/cosmos/bank/v1beta1/balances/${RECORDED_ACCOUNT}`)["balances"] ?? [],
    },
    { address: RECORDED_SIGNER.address, coins: [{ denom: "untrn", amount: "1000000000" }] },
  ];
  return {
    auth: { accounts: [account, signer] },
    bank: { balances },
    ibc: { ...recordedIbcGenesis().genesis, channel_genesis: channelGenesis() },
    transfer: { denom_traces: recordedBody("/ibc/apps/transfer/v1/denom_traces")["denom_traces"] ?? [] },
    "rate-limited-ibc": recordedBody("/neutron/ibc-rate-limit/v1beta1/params"),
    interchainqueries: recordedQueriesGenesis(RECORDED_CONTRACT),
    oracle: recordedOracle(),
    wasm: {
      codes: [
        { name: "icq-consumer", creator: RECORDED_ACCOUNT },
        { name: "echo", creator: RECORDED_ACCOUNT },
      ],
      contracts: [contract(RECORDED_CONTRACT), contract(OTHER_CONTRACT)],
    },
  };
}

/** The tracked pairs, in the order of their ids, and the two recorded prices. */
function recordedOracle(): JsonObject {
  const { currency_pairs: pairs } = recordedBody("/slinky/oracle/v1/get_all_tickers");
  const ids = ["ATOM", "BTC", "DYDX", "ETH", "NTRN", "SOL", "TIA", "USDT", "", "DOGE"];
  const priceOf = (base: string): JsonObject =>
    recordedBody(`/slinky/oracle/v1/get_price?currency_pair.Base=${base}&currency_pair.Quote=USD`);
  const stored = (Array.isArray(pairs) ? pairs : []).map((pair) => {
    const { Base: base } = record(pair);
    if (typeof base !== "string") throw new Error("a pair without a base");
    const { price = null, ...state } = ["BTC", "DOGE"].includes(base)
      ? priceOf(base)
      : { nonce: "0", decimals: "8", id: String(ids.indexOf(base)) };
    return { ...state, currency_pair: pair, currency_pair_price: base === "BTC" ? price : null };
  });
  return { currency_pair_genesis: stored, next_id: "10" };
}

function channelGenesis(): JsonObject {
  const { channels = [] } = recordedBody("/ibc/core/channel/v1/channels");
  return { channels, next_channel_sequence: "1" };
}

function contract(address: string): JsonObject {
  const recorded = recordedBody(`/cosmwasm/wasm/v1/contract/${RECORDED_CONTRACT}`)["contract_info"];
  return {
    contract_address: address,
    contract_info: { ...record(recorded), code_id: "2" },
    contract_state: [],
  };
}
