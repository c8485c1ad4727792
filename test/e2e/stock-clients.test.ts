import { DirectSecp256k1HdWallet } from "@cosmjs/proto-signing";
import {
  assertIsDeliverTxSuccess,
  calculateFee,
  createProtobufRpcClient,
  QueryClient,
  setupTxExtension,
  SigningStargateClient,
} from "@cosmjs/stargate";
import { Comet38Client, HttpClient, WebsocketClient } from "@cosmjs/tendermint-rpc";
import { ServiceClientImpl } from "cosmjs-types/cosmos/base/node/v1beta1/query";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex, utf8, concat, sha256, decodeBech32 } from "../../src/platform/base/bytes.ts";
import { createProofVerifier } from "../../src/cosmos/merkle/ics23/proof-verifier.ts";
import { openCliHome, until } from "../support/e2e/cli-process.ts";
import { localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";
import { testAccount } from "../support/e2e/test-account.ts";

const home = await openCliHome();
const localnet = localnetEndpoints(home.portOffset);

beforeAll(async () => {
  await home.start("localnet", "start", "--block-time", "300", "$PORTS").printed(/sidecar metrics/);
  await until("block 4", async () => ((await localnet.height("local")) >= 4n ? true : undefined));
});
afterAll(home.close);

describe("a stock SigningStargateClient", () => {
  it("sends tokens on the local chain and reads balances", async () => {
    const [alice, bob] = await Promise.all([testAccount(home, "alice"), testAccount(home, "bob")]);
    const wallet = await DirectSecp256k1HdWallet.fromMnemonic(alice.mnemonic, { prefix: "neutron" });
    const client = await SigningStargateClient.connectWithSigner(localnet.rpc.local, wallet);
    const before = await client.getBalance(bob.address, "untrn");
    const amount = [{ denom: "untrn", amount: "12345" }];
    const sent = await client.sendTokens(
      alice.address,
      bob.address,
      amount,
      calculateFee(200_000, "0.01untrn"),
    );
    assertIsDeliverTxSuccess(sent);
    const after = await client.getBalance(bob.address, "untrn");
    expect(BigInt(after.amount) - BigInt(before.amount)).toBe(12_345n);
    const found = await client.getTx(sent.transactionHash);
    expect(found).toMatchObject({ height: sent.height, code: 0 });
    const send = { fromAddress: alice.address, toAddress: bob.address, amount };
    const messages = [{ typeUrl: "/cosmos.bank.v1beta1.MsgSend", value: send }];
    expect(await client.simulate(alice.address, messages, "")).toBeGreaterThan(50_000);
    client.disconnect();
  });
});

describe("a stock client that knows only abci_query", () => {
  it("broadcasts, and finds its transaction when it is included", async () => {
    const [alice, bob] = await Promise.all([testAccount(home, "alice"), testAccount(home, "bob")]);
    const wallet = await DirectSecp256k1HdWallet.fromMnemonic(alice.mnemonic, { prefix: "neutron" });
    const signer = await SigningStargateClient.connectWithSigner(localnet.rpc.local, wallet);
    const send = {
      fromAddress: alice.address,
      toAddress: bob.address,
      amount: [{ denom: "untrn", amount: "7" }],
    };
    const messages = [{ typeUrl: "/cosmos.bank.v1beta1.MsgSend", value: send }];
    const hash = await signer.signAndBroadcastSync(
      alice.address,
      messages,
      calculateFee(200_000, "0.01untrn"),
    );
    signer.disconnect();
    const comet = Comet38Client.create(new HttpClient(localnet.rpc.local));
    const { tx } = QueryClient.withExtensions(comet, setupTxExtension);
    const found = await until("the transaction", () =>
      tx.getTx(hash).catch((error: unknown) => {
        if (String(error).includes("tx not found")) return undefined;
        throw error;
      }),
    );
    expect(found.txResponse).toMatchObject({ txhash: hash, code: 0 });
    expect(found.tx?.body?.messages.map(({ typeUrl }) => typeUrl)).toEqual(["/cosmos.bank.v1beta1.MsgSend"]);
    comet.disconnect();
  });

  it("reads the settings and the state of the node", async () => {
    const comet = Comet38Client.create(new HttpClient(localnet.rpc.local));
    const service = new ServiceClientImpl(createProtobufRpcClient(new QueryClient(comet)));
    expect((await service.Config()).haltHeight).toBe(0n);
    expect((await service.Status()).height).toBeGreaterThanOrEqual(4n);
    comet.disconnect();
  });
});

describe.each([
  ["HTTP", (url: string) => new HttpClient(url)],
  ["WebSocket", (url: string) => new WebsocketClient(url.replace("http:", "ws:"))],
] as const)("a stock Comet38Client over %s", (_transport, connect) => {
  it("reads blocks, commits and results that fit together", async () => {
    const client = Comet38Client.create(connect(localnet.rpc.local));
    const status = await client.status();
    expect(status.nodeInfo.network).toBe("local-1");
    const block = await client.block(3);
    const commit = await client.commit(3);
    expect(toHex(commit.commit.blockId.hash)).toBe(toHex(block.blockId.hash));
    const { lastBlockId } = (await client.block(4)).block.header;
    expect(toHex(lastBlockId?.hash ?? utf8("none"))).toBe(toHex(block.blockId.hash));
    expect((await client.validators({ height: 3 })).total).toBe(commit.commit.signatures.length);
    expect((await client.blockResults(3)).height).toBe(3);
    client.disconnect();
  });

  it("reads a proof that the next header confirms", async () => {
    // The stock WebSocket client never sends when its first call comes after it has connected.
    const { address } = await testAccount(home, "alice", "remote-1");
    const client = Comet38Client.create(connect(localnet.rpc.remote));
    const holder = decodeBech32(address).bytes;
    const key = concat(fromHex("02"), new Uint8Array([holder.length]), holder, utf8("uatom"));
    const height = (await client.status()).syncInfo.latestBlockHeight - 1;
    const read = await client.abciQuery({ path: "store/bank/key", data: key, height, prove: true });
    const { header } = await client.commit(height + 1);
    const result = createProofVerifier().verify(header.appHash, {
      store: "bank",
      key,
      value: read.value,
      operations: read.proof?.ops.map(({ data }) => data),
    });
    expect(result).toEqual({ ok: true, value: undefined });
    client.disconnect();
  });
});

describe("blocks over WebSocket", () => {
  it("arrive one after the other, each as the node serves it", async () => {
    const client = Comet38Client.create(new WebsocketClient(localnet.rpc.local.replace("http:", "ws:")));
    const seen = await new Promise<readonly (readonly [number, string])[]>((resolve, reject) => {
      const blocks: (readonly [number, string])[] = [];
      const subscription = client.subscribeNewBlock().subscribe({
        next: ({ header }) => {
          blocks.push([header.height, toHex(header.appHash)]);
          if (blocks.length < 3) return;
          subscription.unsubscribe();
          resolve(blocks);
        },
        error: reject,
      });
    });
    const first = seen[0]?.[0] ?? 0;
    expect(seen.map(([height]) => height)).toEqual([first, first + 1, first + 2]);
    for (const [height, appHash] of seen)
      expect(toHex((await client.block(height)).block.header.appHash)).toBe(appHash);
    client.disconnect();
  });
});

describe("a transaction sent by hand", () => {
  it("is known by the hash of its bytes", async () => {
    const client = Comet38Client.create(new HttpClient(localnet.rpc.local));
    const tx = utf8("no transaction");
    const answer = await client.broadcastTxSync({ tx });
    expect([answer.code, answer.codespace]).toEqual([1, "undefined"]);
    expect(toHex(answer.hash)).toBe(toHex(sha256(tx)));
  });
});
