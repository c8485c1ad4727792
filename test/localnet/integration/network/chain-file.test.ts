import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { loadChainConfig } from "../../../../src/localnet/cli/load-chain-config.ts";
import { exportHomeGenesis, importHomeGenesis } from "../../../../src/localnet/cli/localnet-export.ts";
import { createApp } from "../../../../src/localnet/chain/app.ts";
import { classicContractAddress } from "../../../../src/localnet/chain/modules/wasm/keeper.ts";
import type { StateStorage } from "../../../../src/localnet/chain/store/multi-store.ts";
import { withModules } from "../../../../src/localnet/genesis/chain-files.ts";
import { accountNamed, CHAINS } from "../../../../src/localnet/accounts/chains.ts";
import { createLocalnet } from "../../../../src/localnet/network/create-localnet.ts";
import { localGenesis, remoteGenesis } from "../../../../src/localnet/genesis/genesis.ts";
import { encodeGenesis, type GenesisDoc } from "../../../../src/localnet/node/base/genesis-doc.ts";
import { encodeBech32, sha256, toHex } from "../../../../src/platform/base/bytes.ts";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { runCommand } from "../../../support/cli-chain.ts";
import { type ChainEnd, openEnd } from "../../../support/localnet/chain-end.ts";
import { ROOT } from "../../../arch/source-files.ts";
import { buildEchoContract } from "../../../support/vm/wasm-builder.ts";

const folder = mkdtempSync(join(tmpdir(), "relaywatch-chain-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const timeNs = 1_700_000_000_000_000_000n;
const local = { powers: [10n], emptyAppHash: new Uint8Array(32).fill(7) };
const remote = {
  header: {
    chainId: "remote-1",
    height: 5n,
    timeNs,
    appHash: new Uint8Array(32).fill(1),
    nextValidatorsHash: new Uint8Array(32).fill(2),
  },
};

const digest = (doc: GenesisDoc): string => toHex(sha256(encodeGenesis(doc)));

/** Of the genesis documents before a file could describe the chains. */
const DEFAULT_REMOTE = "d3161ebe9f9fdc970e0314588771bec9ee08e180caa4891bb689a7f691f780a8";
const DEFAULT_LOCAL = "35bf8d965e4bbe3d0c102a4919330f0ef00178b3329f0cc39ee81f748c2a4498";

describe("the default localnet", () => {
  it("has the genesis that it always had", () => {
    expect(digest(remoteGenesis({ timeNs, validatorPowers: [10n], local }))).toBe(DEFAULT_REMOTE);
    expect(digest(localGenesis({ timeNs, validatorPowers: [10n] }, remote))).toBe(DEFAULT_LOCAL);
  });

  it("is what config/localnet.example.yaml describes, to the byte", async () => {
    const file = join(ROOT, "config/localnet.example.yaml");
    const net = await loadChainConfig({ chainConfig: file }, 0);
    const { chains, validators } = net;
    const ofRemote = remoteGenesis({ chains, timeNs, validatorPowers: validators.remote, local });
    expect(digest(ofRemote)).toBe(DEFAULT_REMOTE);
    const ofLocal = localGenesis({ chains, timeNs, validatorPowers: validators.local }, remote);
    expect(digest(ofLocal)).toBe(DEFAULT_LOCAL);
    expect(net).toMatchObject({ blockTimeMs: 1000, ports: { localRpc: 26_657, control: 9997 } });
  });
});

const CARL =
  "clock post desk civil pottery foster expand merit dash seminar song memory figure uniform spice circle try happy obvious trash crime hybrid hood cushion";

/** Echo is instantiated by its own address, before it exists, and is the admin of the chain. */
const ECHO = encodeBech32("moon", classicContractAddress(1n, 1n));

const FILE = `
block_time: 250ms
code_dir: code
relayers: { icq: alice, ibc_local: alice, ibc_remote: alice }
local:
  chain_id: moon-7
  bech32_prefix: moon
  denom: umoon
  accounts:
    - { name: alice, mnemonic: ${CHAINS.local.keys[0]?.mnemonic} }
    - { name: carl, mnemonic: ${CARL}, balances: [5umoon, 900000000000umoon2, 70000000uaaa] }
    - { name: dora, mnemonic: ${CHAINS.local.keys[1]?.mnemonic}, balances: [20000000umoon] }
  validators: [{ power: 2, operator: dora }, { power: 100, operator: alice }]
  genesis_transactions: true
  consensus: { max_gas: "-1" }
  admins: [${ECHO}, carl]
  built_in_contracts: false
  more_clients: [{ trusting_period: 2s }]
  first_query: false
  denom_metadata: [{ base: umoon, display: moon, symbol: MOON }]
  modules_from: { file: given.json, modules: [harpoon] }
  modules:
    slashing: { params: { signed_blocks_window: "30" } }
    wasm:
      gen_msgs:
        - store_code: { sender: "${ECHO}", wasm_byte_code: "file:echo.wasm" }
        - instantiate_contract:
            { sender: "${ECHO}", admin: "${ECHO}", code_id: "1", label: echo, msg: { ok: { attributes: [] } }, funds: [] }
        - execute_contract: { sender: "${ECHO}", contract: "${ECHO}", msg: { ok: { attributes: [] } }, funds: [] }
remote:
  chain_id: sun-3
  bech32_prefix: sun
  denom: usun
`;

function writeWorld(text = FILE): string {
  const dir = mkdtempSync(join(folder, "world-"));
  mkdirSync(join(dir, "code"));
  writeFileSync(join(dir, "code/echo.wasm"), buildEchoContract());
  const hook = { contract_addresses: [ECHO], hook_type: 1 };
  const document = { app_state: { harpoon: { hook_subscriptions: [hook] } } };
  writeFileSync(join(dir, "given.json"), JSON.stringify(document));
  writeFileSync(join(dir, "chains.yaml"), text);
  return join(dir, "chains.yaml");
}

describe("chains from a file", () => {
  const home = join(folder, "home");
  const stop = new AbortController();
  let moon: ChainEnd;
  let sun: ChainEnd;
  let done: Promise<void>;
  let carl: string;
  const chainConfig = writeWorld();

  beforeAll(async () => {
    const net = await loadChainConfig({ chainConfig }, 0);
    expect(net.blockTimeMs).toBe(250);
    carl = accountNamed(net.chains.local, "carl").address;
    const free = { host: "127.0.0.1", port: 0, portOption: "--port" };
    const localnet = createLocalnet(
      {
        chains: {
          local: { rpc: free, validatorPowers: net.validators.local },
          remote: { rpc: free, validatorPowers: net.validators.remote, localPowers: net.validators.local },
        },
        profiles: net.chains,
        home,
        blockTimeMs: 100,
        remoteRpcUrl: "http://127.0.0.1:1",
      },
      { clock: systemClock, logger: silentLogger },
    );
    done = localnet.run(stop.signal);
    done.catch(() => {});
    const { chains } = await localnet.ready;
    moon = await openEnd(net.chains.local, chains.local, stop.signal);
    sun = await openEnd(net.chains.remote, chains.remote, stop.signal);
    moon.node.control.produce(3);
    sun.node.control.produce(3);
  });
  afterAll(async () => {
    stop.abort(new Error("the test is over"));
    await done;
  });

  it("have their ids, prefixes, balances and limits", () => {
    expect(moon.node.view.status().chainId).toBe("moon-7");
    expect(sun.node.view.status().chainId).toBe("sun-3");
    expect(carl).toMatch(/^moon1/);
    const { balances } = moon.query("/cosmos.bank.v1beta1.Query/AllBalances", { address: carl });
    expect(balances).toEqual([
      { denom: "uaaa", amount: "70000000" },
      { denom: "umoon", amount: "5" },
      { denom: "umoon2", amount: "900000000000" },
    ]);
    expect(moon.query("/cosmos.bank.v1beta1.Query/DenomMetadata", { denom: "umoon" })).toMatchObject({
      metadata: { symbol: "MOON" },
    });
    expect(moon.node.genesis.consensusParams.maxGas).toBe(-1n);
  });

  it("merge parameters with the module's defaults", () => {
    const { params } = moon.query("/cosmos.slashing.v1beta1.Query/Params", {});
    expect(params).toMatchObject({
      signed_blocks_window: "30",
      downtime_jail_duration: "600s",
      slash_fraction_double_sign: "0.050000000000000000",
    });
  });

  it("create validators with transactions after the contracts, in the order of the file", () => {
    const echo = moon.query("/cosmwasm.wasm.v1.Query/ContractInfo", { address: ECHO });
    expect(echo).toMatchObject({ contract_info: { creator: ECHO, admin: ECHO, label: "echo" } });
    // Echo stores what a query with the hook's message returns. Nothing but a hook calls its sudo.
    const state = JSON.stringify(moon.query("/cosmwasm.wasm.v1.Query/AllContractState", { address: ECHO }));
    expect(state).toContain(Buffer.from('{"error":{"unknown":{}}}').toString("base64"));
    const { gen_txs: txs } = Object(moon.node.genesis.appState["genutil"]);
    const operators = txs.map(
      ({ body }: { body: { messages: { value: { amount: string } }[] } }) => body.messages[0]?.value.amount,
    );
    expect(operators).toEqual(["2000000", "100000000"]);
    const latest = moon.node.view.validators(3n)?.validators ?? [];
    expect(latest.map(({ power }) => power)).toEqual([100n, 2n]);
  });

  it("are connected, and have no query 1", () => {
    const end = moon.query("/ibc.core.connection.v1.Query/Connection", { connection_id: "connection-0" });
    expect(end).toMatchObject({ connection: { state: "STATE_OPEN" } });
    const state = moon.query("/ibc.core.client.v1.Query/ClientState", { client_id: "07-tendermint-0" });
    expect(state).toMatchObject({ client_state: { chain_id: "sun-3" } });
    const status = moon.query("/ibc.core.client.v1.Query/ClientStatus", { client_id: "07-tendermint-0" });
    expect(status).toEqual({ status: "Active" });
    const further = moon.query("/ibc.core.client.v1.Query/ClientState", { client_id: "07-tendermint-1" });
    expect(further).toMatchObject({ client_state: { chain_id: "sun-3", trusting_period: "2s" } });
    const queries = moon.query("/neutron.interchainqueries.Query/RegisteredQueries", {});
    expect(queries["registered_queries"]).toEqual([]);
  });

  it("are exported and imported, with their file", async () => {
    const net = await loadChainConfig({ chainConfig }, 0);
    const chain = net.chains.local;
    const open = (storage: StateStorage) => createApp({ ...chain, kind: "local" }, { storage });
    const exported = exportHomeGenesis(join(home, "moon-7"), open);
    expect(exported.chainId).toBe("moon-7");
    const other = join(folder, "other");
    importHomeGenesis(join(other, "moon-7"), exported, open);
    const text = join(folder, "moon.json");
    const { out } = await runCommand(
      ["localnet", "export", "--chain-config", chainConfig, "--home", home],
      stop.signal,
    );
    writeFileSync(text, out);
    const imported = await runCommand(
      ["localnet", "import", text, "--chain-config", chainConfig, "--home", join(folder, "third")],
      stop.signal,
    );
    expect(imported.message).toBeUndefined();
    expect(imported.out).toContain("moon-7 starts at height");
    const refused = await runCommand(["localnet", "import", text, "--home", other], stop.signal);
    expect(refused.message).toContain("is the genesis for chain moon-7, expected local-1");
  });

  it("have the accounts of the file", async () => {
    const { out } = await runCommand(["localnet", "accounts", "--chain-config", chainConfig], stop.signal);
    expect(out).toContain("moon-7  carl  moon1");
    expect(out).not.toContain("local-1");
  });
});

describe("a chain file with errors", () => {
  const validate = async (text: string): Promise<string> => {
    const { out } = await runCommand(
      ["config", "validate", "--kind", "localnet", writeWorld(text)],
      AbortSignal.timeout(10_000),
    );
    return out.replaceAll(/^.*chains\.yaml:/gm, "");
  };
  afterEach(() => expect.hasAssertions());

  it("is reported with every place", async () => {
    const out = await validate(`
block_time: 10ms
local:
  chain_id: "a b"
  denom: "1x"
  accounts: [{ name: a, mnemonic: w, balances: [12] }, { name: a, mnemonic: w, balances: ["12"] }]
  validatrs: []
`);
    expect(out).toContain(
      '2:13: block_time: is not a valid duration (expected a duration of at least 50ms, e.g. "30s")',
    );
    expect(out).toContain("4:13: local.chain_id: has the wrong format");
    expect(out).toContain('5:10: local.denom: is not a denomination (expected text, e.g. "untrn")');
    expect(out).toContain("6:49: local.accounts.0.balances.0: is a number (expected text)");
    expect(out).toContain(
      '6:91: local.accounts.1.balances.0: is not an amount with a denomination (expected text, e.g. "1000000untrn")',
    );
    expect(out).toContain(
      "7:3: local.validatrs: unknown key; did you mean validators? (expected one of the documented keys)",
    );
  });

  it("is reported when names have no account, or the same chain is named twice", async () => {
    const account = `{ name: alice, mnemonic: ${CARL} }`;
    const out = await validate(`
local:
  chain_id: one-1
  accounts: [${account}, ${account}]
  genesis_transactions: true
  admins: [nobody]
  built_in_contracts: false
remote: { chain_id: one-1, validators: [{ power: 1, operator: cosmos1wrong }] }
`);
    expect(out).toContain("local.accounts.1.name: is the name of another account");
    expect(out).toContain(
      'local.validators.0.operator: needs an account named "operator" on the local chain (expected one of alice, alice)',
    );
    expect(out).toContain('relayers.icq: needs an account named "relayer"');
    expect(out).toContain(
      "local.admins.0: is neither an account nor an address (expected an account name, or an address neutron1…)",
    );
    expect(out).toContain("local.first_query: needs the contract icq-consumer");
    expect(out).toContain("remote.chain_id: is also the local chain's id");
    expect(out).toContain("remote.validators.0.operator: is neither an account nor an address");
  });

  it.each([
    ["{ name: alice, mnemonic: not words }", "", "account alice of local-1: invalid mnemonic"],
    ["", "modules_from: { file: nothing.json, modules: [bank] }", "nothing.json as JSON"],
    ["", "modules_from: { file: given.json, modules: [bank] }", "given.json has no state for module bank"],
    [
      "",
      'modules: { wasm: { gen_msgs: [{ store_code: { wasm_byte_code: "file:no.wasm" } }] } }',
      "cannot read the code",
    ],
  ])("names the file or account that cannot be used: %s %s", async (account, more, text) => {
    const others = CHAINS.local.keys
      .slice(account === "" ? 0 : 1)
      .map(({ name, mnemonic }) => `{ name: ${name}, mnemonic: ${mnemonic} }`);
    const accounts = [...(account === "" ? [] : [account]), ...others].join(", ");
    const file = writeWorld(`local:\n  accounts: [${accounts}]\n  ${more}\n`);
    await expect(loadChainConfig({ chainConfig: file }, 0)).rejects.toThrow(text);
  });

  it("names a module that the chain does not have", async () => {
    const net = await loadChainConfig({ chainConfig: writeWorld("local: { modules: { nft: {} } }") }, 0);
    const chain = net.chains.local;
    const open = () => createApp({ ...chain, kind: "local" });
    const doc = withModules(
      chain,
      localGenesis({ chains: net.chains, timeNs, validatorPowers: [10n] }, remote),
      open,
    );
    const { chainId, initialHeight, validators, appState } = doc;
    expect(() => open().initChain({ chainId, timeNs, initialHeight, validators, appState })).toThrow(
      "app_state.nft: no such module",
    );
  });

  it("excludes the options that it replaces", async () => {
    const profile = ["localnet", "start", "--chain-config", writeWorld(), "--profile", "deployed"];
    const both = await runCommand(profile, AbortSignal.timeout(10_000));
    expect(both.message).toContain("--profile cannot be combined with --chain-config");
    const given = ["localnet", "start", "--chain-config", writeWorld(), "--local-validators", "3"];
    const { message } = await runCommand(given, AbortSignal.timeout(10_000));
    expect(message).toContain(
      "--local-validators and --remote-validators cannot be combined with --chain-config",
    );
    const lone = await runCommand(["localnet", "start", "--chain-dir", "x"], AbortSignal.timeout(10_000));
    expect(lone.message).toContain("--chain-dir requires --chain-config");
  });
});

it("the file for the suite is valid, and its accounts sign", async () => {
  const file = join(ROOT, "config/localnet-suite.example.yaml");
  const { out } = await runCommand(["config", "validate", file], AbortSignal.timeout(10_000));
  expect(out).toContain("good");
  const accounts = await runCommand(
    ["localnet", "accounts", "--chain-config", file],
    AbortSignal.timeout(10_000),
  );
  expect(accounts.out).toContain("test-1  demo1  neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2");
  expect(accountNamed(CHAINS.local, "alice").chainId).toBe("local-1");
});
