import { consumerAddress } from "../consumer-address.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DirectSecp256k1Wallet } from "@cosmjs/proto-signing";
import { type DeliverTxResponse, SigningStargateClient } from "@cosmjs/stargate";
import { MsgExecuteContract } from "cosmjs-types/cosmwasm/wasm/v1/tx";
import { TxRaw } from "cosmjs-types/cosmos/tx/v1beta1/tx";
import { toBase64, utf8 } from "../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { DEFAULT_HD_PATH, deriveKey } from "../../../src/cosmos/keyring/derive-key.ts";
import { type CliHome, getJson } from "./cli-process.ts";
import { localnetEndpoints } from "./localnet-endpoints.ts";
import { testAccount } from "./test-account.ts";

/** Sends a command to a chain through the control API. */
type Order = (name: string, body?: object) => Promise<void>;

/** A test account at work, with stock CosmJS. */
export interface TestWallet {
  readonly address: string;
  readonly sendTokens: (to: string, amount: bigint) => Promise<DeliverTxResponse>;
  /** Has the consumer contract execute a message; throws with the chain's log when it fails. */
  readonly execute: (message: object) => Promise<{ readonly height: number; readonly hash: string }>;
  /** Has the consumer contract register a query; gives its id. */
  readonly register: (message: object) => Promise<bigint>;
  /** Has the consumer contract register several queries in one transaction; gives their ids. */
  readonly registerAll: (messages: readonly object[]) => Promise<readonly bigint[]>;
  /** Asks the consumer contract. */
  readonly ask: (message: object) => Promise<Readonly<Record<string, unknown>>>;
  /** Signs so many transfers to itself, with the sequences that come next. */
  readonly signSends: (count: number) => Promise<readonly Uint8Array[]>;
  readonly control: (chainId: string) => Promise<Order>;
}

const COINS = { "local-1": ["neutron", "untrn"], "remote-1": ["cosmos", "uatom"] } as const;

/** Opens the test account of this name on a chain. */
export async function openWallet(
  home: CliHome,
  name: string,
  rpc: string,
  chainId: keyof typeof COINS = "local-1",
): Promise<TestWallet> {
  const { address, mnemonic } = await testAccount(home, name, chainId);
  const [prefix, denom] = COINS[chainId];
  // CosmJS's wallet of a mnemonic derives the key again for each signature.
  const wallet = await DirectSecp256k1Wallet.fromKey(await deriveKey(mnemonic, DEFAULT_HD_PATH), prefix);
  const client = await SigningStargateClient.connectWithSigner(rpc, wallet, { broadcastPollIntervalMs: 200 });
  client.registry.register("/cosmwasm.wasm.v1.MsgExecuteContract", MsgExecuteContract);
  const coins = (amount: bigint) => [{ denom, amount: amount.toString() }];
  const fee = (gas: number) => ({ amount: coins(BigInt(gas) / 20n), gas: gas.toString() });
  const execute = async (...messages: readonly object[]): Promise<DeliverTxResponse> => {
    const executions = messages.map((message) => ({
      typeUrl: "/cosmwasm.wasm.v1.MsgExecuteContract",
      value: {
        sender: address,
        contract: consumerAddress(),
        msg: utf8(JSON.stringify(message)),
        funds: [],
      },
    }));
    const done = await client.signAndBroadcast(
      address,
      executions,
      fee(2_500_000 + 500_000 * messages.length),
    );
    if (done.code !== 0) throw new Error(done.rawLog ?? `code ${done.code}`);
    return done;
  };
  const registerAll = async (messages: readonly object[]): Promise<readonly bigint[]> => {
    const { events } = await execute(...messages);
    const attributes = events.flatMap((event) => (event.type === "neutron" ? event.attributes : []));
    const ids = attributes.flatMap(({ key, value }) => (key === "query_id" ? [BigInt(value)] : []));
    if (ids.length !== messages.length) throw new Error(`${ids.length} queries were registered`);
    return ids;
  };
  const { rest, control } = localnetEndpoints(home.portOffset);
  return {
    address,
    sendTokens: (to, amount) => client.sendTokens(address, to, coins(amount), fee(200_000)),
    execute: async (message) => {
      const { height, transactionHash } = await execute(message);
      return { height, hash: transactionHash };
    },
    registerAll,
    register: async (message) => {
      const [id] = await registerAll([message]);
      if (id === undefined) throw new Error("no query was registered");
      return id;
    },
    ask: async (message) => {
      const question = toBase64(utf8(JSON.stringify(message)));
      const answer = await getJson(
        `${rest}/cosmwasm/wasm/v1/contract/${consumerAddress()}/smart/${encodeURIComponent(question)}`,
      );
      if (isRecord(answer) && isRecord(answer["data"])) return answer["data"];
      throw new Error(`an answer with data was expected, not ${JSON.stringify(answer)}`);
    },
    signSends: async (count) => {
      const { accountNumber, sequence } = await client.getSequence(address);
      const value = { fromAddress: address, toAddress: address, amount: coins(1n) };
      const messages = [{ typeUrl: "/cosmos.bank.v1beta1.MsgSend", value }];
      const txs: Uint8Array[] = [];
      for (let index = 0; index < count; index++) {
        const place = { accountNumber, sequence: sequence + index, chainId };
        const signed = await client.sign(address, messages, fee(150_000), "", place);
        txs.push(TxRaw.encode(signed).finish());
      }
      return txs;
    },
    control: async (chain) => {
      const folder = join(home.directory, "state", "relaywatch", `localnet-${home.portOffset}`);
      const token = readFileSync(join(folder, "control-token"), "utf8").trim();
      return async (order, body = {}) => {
        const response = await fetch(`${control}/chains/${chain}/${order}`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}` },
          body: JSON.stringify(body),
        });
        if (!response.ok) throw new Error(`${order}: ${response.status} ${await response.text()}`);
      };
    },
  };
}
