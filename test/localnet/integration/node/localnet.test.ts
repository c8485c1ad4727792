import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DirectSecp256k1HdWallet } from "@cosmjs/proto-signing";
import { GasPrice, SigningStargateClient } from "@cosmjs/stargate";
import { Comet38Client } from "@cosmjs/tendermint-rpc";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  QueryRegisteredQueryRequest,
  QueryRegisteredQueryResponse,
} from "../../../../src/cosmos/proto/gen/neutron/interchainqueries/query.ts";
import { createApp } from "../../../../src/localnet/chain/app.ts";
import type { StateStorage } from "../../../../src/localnet/chain/store/multi-store.ts";
import { accountNamed, CHAINS, localnetAccounts } from "../../../../src/localnet/accounts/chains.ts";
import {
  createLocalnet,
  type LocalnetOptions,
  type RunningLocalnet,
} from "../../../../src/localnet/network/create-localnet.ts";
import {
  decodeGenesis,
  encodeGenesis,
  type GenesisDoc,
} from "../../../../src/localnet/node/base/genesis-doc.ts";
import { exportHomeGenesis, importHomeGenesis } from "../../../../src/localnet/cli/localnet-export.ts";
import { fromLossyUtf8, fromUtf8, utf8 } from "../../../../src/platform/base/bytes.ts";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { Secret } from "../../../../src/platform/base/secret.ts";
import { consumerAddress } from "../../../support/consumer-address.ts";

const TOKEN = "test-token";
const free = (portOption: string) => ({ host: "127.0.0.1", port: 0, portOption });

async function start(options: Partial<LocalnetOptions> = {}) {
  const localnet = createLocalnet(
    {
      chains: {
        local: { rpc: free("--local-rpc"), metrics: free("--local-metrics"), validatorPowers: [10n] },
        remote: { rpc: free("--remote-rpc"), validatorPowers: [10n, 5n, 5n, 2n] },
      },
      blockTimeMs: 100,
      remoteRpcUrl: "http://127.0.0.1:1",
      control: { address: free("--control-port"), token: new Secret(TOKEN) },
      ...options,
    },
    { clock: systemClock, logger: silentLogger },
  );
  const stop = new AbortController();
  const done = localnet.run(stop.signal);
  done.catch(() => {});
  const running = await localnet.ready;
  return {
    running,
    stop: async () => {
      stop.abort(new Error("test over"));
      await done;
    },
  };
}

function rpcUrl(running: RunningLocalnet, part: "local" | "remote"): string {
  return `http://127.0.0.1:${running.chains[part]?.ports.get("rpc")}`;
}

describe("test accounts", () => {
  it("have the addresses of their mnemonics", async () => {
    const accounts = localnetAccounts();
    expect(accounts.length).toBeGreaterThan(0);
    for (const { mnemonic, address } of accounts) {
      const prefix = address.slice(0, address.indexOf("1"));
      const wallet = await DirectSecp256k1HdWallet.fromMnemonic(mnemonic, { prefix });
      expect((await wallet.getAccounts())[0]?.address).toBe(address);
    }
  });
});

describe("a localnet", () => {
  let localnet: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    localnet = await start();
  });
  afterAll(() => localnet.stop());

  const control = (path: string, body: unknown, token = TOKEN) =>
    fetch(`http://127.0.0.1:${localnet.running.controlPort}${path}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });

  it("has query 1 of the consumer contract after genesis", async () => {
    const { view } = localnet.running.chains.local ?? expect.unreachable("no local chain");
    await expect.poll(() => view.status().latestHeight).toBeGreaterThan(0n);
    const answer = view.query({
      path: "/neutron.interchainqueries.Query/RegisteredQuery",
      data: QueryRegisteredQueryRequest.encode({ queryId: 1n }).finish(),
      height: 0n,
      prove: false,
    });
    expect(answer.log).toBe("");
    const query = QueryRegisteredQueryResponse.decode(answer.value).registeredQuery;
    expect(query).toMatchObject({
      id: 1n,
      owner: consumerAddress(),
      queryType: "kv",
      connectionId: "connection-0",
      updatePeriod: 2n,
    });
    expect(query?.keys.map((key) => key.path)).toEqual(["bank"]);
  });

  it.each(["local", "remote"] as const)(
    "lets a stock signing client send coins on the %s chain",
    async (part) => {
      const chain = CHAINS[part];
      const alice = accountNamed(chain, "alice");
      const bob = accountNamed(chain, "bob").address;
      const wallet = await DirectSecp256k1HdWallet.fromMnemonic(alice.mnemonic, {
        prefix: chain.bech32Prefix,
      });
      const client = await SigningStargateClient.connectWithSigner(rpcUrl(localnet.running, part), wallet, {
        gasPrice: GasPrice.fromString(`0.01${chain.denom}`),
        broadcastPollIntervalMs: 100,
      });
      const before = BigInt((await client.getBalance(bob, chain.denom)).amount);
      const sent = await client.sendTokens(
        alice.address,
        bob,
        [{ denom: chain.denom, amount: "1234" }],
        "auto",
      );
      expect(sent.rawLog ?? "").toBe("");
      expect(sent.code).toBe(0);
      expect(BigInt((await client.getBalance(bob, chain.denom)).amount)).toBe(before + 1234n);
      expect((await client.searchTx(`transfer.recipient='${bob}'`)).map((tx) => tx.hash)).toEqual([
        sent.transactionHash,
      ]);
      client.disconnect();
    },
  );

  it("proves a balance of the remote chain", async () => {
    const client = await Comet38Client.connect(rpcUrl(localnet.running, "remote"));
    const answer = await client.abciQuery({ path: "store/bank/key", data: utf8("\u0000uatom"), prove: true });
    expect(answer.code).toBe(0);
    expect(fromUtf8(answer.value)).toMatch(/^\d+$/);
    expect(answer.proof?.ops.map((op) => op.type)).toEqual(["ics23:iavl", "ics23:simple"]);
    client.disconnect();
  });

  it("serves its metrics", async () => {
    const port = localnet.running.chains.local?.ports.get("metrics");
    const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(page).toMatch(/^cometbft_consensus_validators\{chain_id="local-1"\} 1$/m);
    expect(page).toContain("# TYPE cometbft_consensus_height gauge");
  });

  it("runs control commands only with the token", async () => {
    expect((await control("/chains/remote-1/halt", {}, "wrong")).status).toBe(401);
    expect((await control("/chains/none/halt", {})).status).toBe(404);
    expect(await (await control("/chains/remote-1/halt", {})).json()).toEqual({ halted: true });
    const { view } = localnet.running.chains.remote ?? expect.unreachable("no remote chain");
    const { latestHeight } = view.status();
    expect(await (await control("/chains/remote-1/blocks", { count: 3 })).json()).toEqual({
      height: (latestHeight + 3n).toString(),
    });
    const added = await control("/chains/remote-1/validators", { index: 9, power: "6" });
    expect(added.status).toBe(200);
    await control("/chains/remote-1/blocks", { count: 2 });
    expect(view.validators(view.status().latestHeight + 1n)?.validators).toHaveLength(5);
    expect((await control("/chains/remote-1/validators", { index: 77, power: "0" })).status).toBe(409);
    expect((await control("/chains/remote-1/blocks", { count: "many" })).status).toBe(400);
    const addresses = view.validators(1n)?.validators.map((one) => Buffer.from(one.address).toString("hex"));
    expect((await control("/chains/remote-1/absent", { validators: addresses })).status).toBe(200);
    expect(await (await control("/chains/remote-1/blocks", { count: 1 })).json()).toMatchObject({
      error: "no-quorum",
    });
    await control("/chains/remote-1/absent", { validators: [] });
    expect(await (await control("/chains/remote-1/resume", {})).json()).toEqual({ halted: false });
    const { chains } = JSON.parse(
      await (await fetch(`http://127.0.0.1:${localnet.running.controlPort}/chains`)).text(),
    );
    expect(chains).toHaveLength(2);
  });

  it.each([
    ["blocks", [], "the body must be a JSON object"],
    ["blocks", { count: 0 }, "count: expected an integer from 1 to 1000"],
    ["absent", {}, "validators: expected a list of addresses"],
    ["absent", { validators: ["ab"] }, "validators[0]: expected an address of 40 hex digits"],
    ["validators", { index: 1 }, "power: expected a string"],
    ["validators", { index: -1, power: "1" }, "index: expected an integer from 0 to 10000"],
    ["faucet", { amount: "1" }, "address: expected a string"],
    ["faucet", { address: "a", amount: "-1" }, "amount: expected an integer in quotes"],
  ])("rejects the body of %s: %j", async (command, body, message) => {
    const response = await control(`/chains/remote-1/${command}`, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: "bad-order", message });
  });

  it("has a faucet", async () => {
    const { view } = localnet.running.chains.local ?? expect.unreachable("no local chain");
    const address = accountNamed(CHAINS.local, "relayer").address;
    const answers = await Promise.all(
      [1, 2].map(() => control("/chains/local-1/faucet", { address, amount: "77" })),
    );
    expect(await Promise.all(answers.map(async (one) => [one.status, await one.text()]))).toEqual([
      [200, expect.stringContaining("77untrn")],
      [200, expect.stringContaining("77untrn")],
    ]);
    await expect
      .poll(() =>
        Array.from(
          view.searchTxs({ query: `transfer.recipient='${address}'`, order: "asc", page: 1, perPage: 5 })
            .items,
          (tx) => tx.result.code,
        ),
      )
      .toEqual([0, 0]);
  });
});

describe("a localnet with separate parts", () => {
  const homes: string[] = [];
  afterEach(() => homes.splice(0).forEach((home) => rmSync(home, { recursive: true, force: true })));

  it("starts each part separately and continues from its home", async () => {
    const home = mkdtempSync(join(tmpdir(), "relaywatch-localnet-"));
    homes.push(home);
    const part = { rpc: free("--rpc"), validatorPowers: [10n] };
    const remote = await start({ chains: { remote: part }, home });
    const remoteRpcUrl = rpcUrl(remote.running, "remote");
    const local = await start({ chains: { local: part }, home, remoteRpcUrl });
    const { view } = local.running.chains.local ?? expect.unreachable("no local chain");
    await expect.poll(() => view.status().latestHeight).toBeGreaterThan(1n);
    await remote.stop();
    await local.stop();
    // A new chain starts from the exported state and continues it.
    const createLocal = (storage: StateStorage) => createApp({ ...CHAINS.local, kind: "local" }, { storage });
    expect(() => exportHomeGenesis(join(home, "nothing"), createLocal)).toThrow("no chain found in");
    const exported = exportHomeGenesis(join(home, CHAINS.local.chainId), createLocal);
    const continuation = await start({ chains: { local: { ...part, genesis: exported } } });
    const continuationView = continuation.running.chains.local?.view;
    await expect.poll(() => continuationView?.status().latestHeight).toBeGreaterThan(exported.initialHeight);
    expect(continuationView?.block(exported.initialHeight)?.header.timeNs).toBe(exported.genesisTimeNs);
    const supply = continuationView?.query({
      path: "/cosmos.bank.v1beta1.Query/TotalSupply",
      data: new Uint8Array(),
      height: 0n,
      prove: false,
    });
    expect(supply?.code).toBe(0);
    await continuation.stop();
    // The remote chain is not necessary: the genesis document is in the home.
    const again = await start({ chains: { local: part }, home, remoteRpcUrl: "http://127.0.0.1:1" });
    const restarted = again.running.chains.local?.view;
    const from = restarted?.status().latestHeight ?? 0n;
    expect(from).toBeGreaterThan(1n);
    await expect.poll(() => restarted?.status().latestHeight).toBeGreaterThan(from);
    await again.stop();
  });
});

describe("a localnet with the profile deployed", () => {
  const homes: string[] = [];
  afterEach(() => homes.splice(0).forEach((home) => rmSync(home, { recursive: true, force: true })));

  /** Tranche keys of the seeded orders of the exchange, as the chain serves them. */
  function trancheKeys(running: RunningLocalnet): readonly string[] {
    const reply = running.chains.local?.view.query({
      path: "/neutron.dex.Query/LimitOrderTrancheUserAll",
      data: new Uint8Array(),
      height: 0n,
      prove: false,
    });
    return fromLossyUtf8(reply?.value ?? new Uint8Array()).match(/tk-\d|t\|\|\d/g) ?? [];
  }

  it("has it in the genesis document, and so in its home, its export and what starts from it", async () => {
    const home = mkdtempSync(join(tmpdir(), "relaywatch-localnet-"));
    homes.push(home);
    const local = { rpc: free("--rpc"), validatorPowers: [10n] };
    const remote = { ...local };
    const scenario = "dex-demo" as const;
    const first = await start({
      chains: {
        local: { ...local, scenario, profile: "deployed" },
        remote: { ...remote, profile: "deployed" },
      },
      home,
    });
    expect([
      first.running.chains.local?.genesis.profile,
      first.running.chains.remote?.genesis.profile,
    ]).toEqual(["deployed", "deployed"]);
    const { view } = first.running.chains.local ?? expect.unreachable("no local chain");
    await expect.poll(() => view.status().latestHeight).toBeGreaterThan(1n);
    const keys = trancheKeys(first.running);
    expect(keys).toEqual(["tk-0", "tk-1", "tk-2", "tk-3"]);
    await first.stop();

    // Without the option, the home decides. An option for another profile is an error.
    const again = await start({ chains: { local }, home });
    expect(again.running.chains.local?.genesis.profile).toBe("deployed");
    expect(trancheKeys(again.running)).toEqual(keys);
    await again.stop();
    await expect(start({ chains: { local: { ...local, profile: "specification" } }, home })).rejects.toThrow(
      "chain local-1 has the profile deployed from its genesis document, not specification; omit --profile",
    );

    const open = (storage: StateStorage, genesis: GenesisDoc) =>
      createApp({ ...CHAINS.local, kind: "local", profile: genesis.profile }, { storage });
    const exported = exportHomeGenesis(join(home, CHAINS.local.chainId), open);
    expect(exported.profile).toBe("deployed");
    expect(JSON.stringify(exported.appState["dex"])).toContain('"pool_reserves"');
    expect(exported.appState["dex"]).not.toHaveProperty("pool_list");
    const copy = mkdtempSync(join(tmpdir(), "relaywatch-localnet-"));
    homes.push(copy);
    importHomeGenesis(join(copy, CHAINS.local.chainId), decodeGenesis(encodeGenesis(exported)), open);
    const third = await start({ chains: { local }, home: copy });
    await expect
      .poll(() => third.running.chains.local?.view.status().latestHeight)
      .toBeGreaterThan(exported.initialHeight);
    expect(trancheKeys(third.running)).toEqual(keys);
    expect(exportHomeGenesis(join(copy, CHAINS.local.chainId), open).appState["dex"]).toEqual(
      exported.appState["dex"],
    );
    await third.stop();
  });
});

it("keeps as many blocks as `keepBlocks` says on each chain", async () => {
  const localnet = await start({ keepBlocks: 5 });
  const chains = Object.values(localnet.running.chains);
  expect(chains).toHaveLength(2);
  for (const chain of chains) {
    chain.control.produce(12);
    const { latestHeight, earliestHeight } = chain.view.status();
    expect(latestHeight - earliestHeight).toBe(4n);
  }
  await localnet.stop();
});
