import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { inhibitRules } from "../../src/cli/generate/alert-files.ts";
import { RELAYER_GROUP } from "../../src/relayer/monitoring/relayer-alerts.ts";
import { ruleFile } from "../../src/platform/monitoring/alerts/rule-files.ts";
import { RULE_FILES } from "../../src/cli/generate/rules.ts";
import { SHORT_TIMES } from "../../src/platform/monitoring/alerts/times.ts";
import { type CliHome, getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";
import { openWallet, type TestWallet } from "../support/e2e/test-wallet.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { type AlertmanagerServer, startAlertmanager } from "../support/stack/alertmanager-server.ts";
import { expectAlertsAt } from "../support/stack/fault-expectations.ts";
import { openFaultyRelayer } from "../support/stack/faulty-relayer.ts";
import { startPostgres } from "../support/stack/postgres-server.ts";
import { type PrometheusServer, startPrometheus } from "../support/stack/prometheus-server.ts";
import { type FaultScene, relayerFaultCases, RICH } from "../support/stack/relayer-fault-cases.ts";
import { type Receiver, startReceiver } from "../support/stack/webhook-receiver.ts";

const home: CliHome = await openCliHome();
const localnet = localnetEndpoints(home.portOffset);
const closing: (() => Promise<unknown>)[] = [home.close];
let relayers: FaultScene["relayers"];
let cases: ReturnType<typeof relayerFaultCases>;
let alice: TestWallet;
let receiver: Receiver;
let alertmanager: AlertmanagerServer;
let prometheus: PrometheusServer;

const faucet = async (address: string, amount: string): Promise<void> =>
  (await alice.control("local-1"))("faucet", { address, amount });

const status = z.object({
  result: z.object({
    sync_info: z.object({ earliest_block_height: z.coerce.number(), latest_block_height: z.coerce.number() }),
  }),
});

async function untilPruned(): Promise<void> {
  const remote = async () => status.parse(await getJson(`${localnet.rpc.remote}/status`)).result.sync_info;
  const { latest_block_height: tip } = await remote();
  const isPruned = async () => (await remote()).earliest_block_height > tip || undefined;
  await until(`the pruning of block ${tip}`, isPruned, 120_000);
}

beforeAll(async () => {
  const chain = ["--block-time", "500", "--keep-blocks", "80"];
  await home.start("localnet", "start", ...chain, "$PORTS").printed(/sidecar metrics/);
  alice = await openWallet(home, "alice", localnet.rpc.local);
  const remoteAlice = await openWallet(home, "alice", localnet.rpc.remote, "remote-1");
  const common = { connection_id: "connection-0", update_period: 2, addr: remoteAlice.address };
  const kv = (denom: string): Promise<bigint> =>
    alice.register({ register_balance_query: { ...common, denom } });
  const transfers = { connection_id: "connection-0", update_period: 1, recipient: remoteAlice.address };
  const unprovable = await alice.register({
    register_kv_query: {
      connection_id: "connection-0",
      update_period: 2,
      keys: [{ path: "no-such-store", key: "AQ==" }],
    },
  });
  const queries = {
    paths: [await kv("a")],
    account: [await kv("b")],
    client: [await kv("c")],
    work: [await kv("d"), await alice.register({ register_transfers_query: transfers }), unprovable],
  };
  const ends = {
    down: await startFaultProxy(localnet.rpc.remote),
    slow: await startFaultProxy(localnet.rpc.remote),
  };
  const open = (name: keyof typeof queries, account: number, remotes: readonly string[] = []) =>
    openFaultyRelayer(home, localnet, { name, account, queries: queries[name], remotes });
  relayers = {
    paths: await open("paths", 1),
    account: await open("account", 2),
    client: await open("client", 3),
    work: await open("work", 4, [ends.down.url, ends.slow.url]),
  };
  // It keeps the light client at heights whose next headers are not pruned, however long a fault lasts.
  const keeper = await openFaultyRelayer(home, localnet, { name: "keeper", account: 5, queries: [1n] });
  closing.push(keeper.close);
  for (const one of [keeper, relayers.paths, relayers.client, relayers.work]) await faucet(one.address, RICH);
  await keeper.start();
  const postgres = await startPostgres();
  closing.push(postgres.close);
  const passwordFile = join(home.directory, "postgres-password");
  writeFileSync(passwordFile, postgres.password, { mode: 0o600 });
  cases = relayerFaultCases({
    relayers,
    ends,
    alice,
    remoteAlice,
    unprovable,
    faucet,
    untilPruned,
    stateDir: join(home.directory, "locked-store"),
    sharedStore: { postgres, url: await postgres.createDatabase(), passwordFile },
  });
  closing.push(...[...Object.values(relayers), ...Object.values(ends)].map(({ close }) => close));
  receiver = await startReceiver();
  alertmanager = await startAlertmanager(receiver.url, {
    inhibitRules: inhibitRules(),
    groupBy: ["..."],
    groupWait: "8s",
  });
  const [file, groups] = [...RULE_FILES].find(([, all]) => all.includes(RELAYER_GROUP)) ?? ["", []];
  prometheus = await startPrometheus(
    Object.fromEntries(Object.entries(relayers).map(([name, { target }]) => [name, { target, labels: {} }])),
    {
      files: new Map([[file, ruleFile(groups, SHORT_TIMES)]]),
      alertmanager: new URL(alertmanager.url).host,
    },
  );
  closing.push(receiver.close, alertmanager.close, prometheus.close);
}, 120_000);
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
}, 240_000);

const alertOf = (name: string): string =>
  RELAYER_GROUP.alerts.find((one) => one.name === name)?.alert ?? `no alert ${name}`;

describe("the alerts of the relayer", () => {
  it("have a fault here", () => {
    const covered = Object.values(cases)
      .flat()
      .flatMap(({ alerts, muted = [] }) => [...alerts, ...muted]);
    const all = RELAYER_GROUP.alerts.map(({ name }) => name);
    expect([...new Set(covered)].toSorted()).toEqual(all.toSorted());
  });

  it.concurrent.each(["paths", "account", "client", "work"] as const)(
    "fire by faults, mute what they cause, notify once and are resolved: %s",
    { timeout: 900_000 },
    async (name) => {
      const relayer = relayers[name];
      const deps = { alertmanager: alertmanager.url, receiver, alertOf };
      const ofInstance = expectAlertsAt({ instance: relayer.target }, deps);
      const ofJob = expectAlertsAt({ job: name }, deps);
      if (name === "paths") await relayer.start();
      for (const one of cases[name]) {
        const expected = one.isOfJob === true ? ofJob : ofInstance;
        await one.begin();
        await expected.fires(one);
        await one.end();
        await expected.ends(one);
      }
    },
  );
});
