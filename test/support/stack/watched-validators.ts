import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Ports, portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import { encodeBech32 } from "../../../src/platform/base/bytes.ts";
import { CONDITIONS } from "../../../src/watchdog/conditions/conditions.ts";
import { sectionKey } from "../../../src/watchdog/conditions/alerts-config.ts";
import { type CliHome, getJson } from "../e2e/cli-process.ts";
import { localnetEndpoints } from "../e2e/localnet-endpoints.ts";
import type { Door } from "./door.ts";
import { leasePort } from "../port-lease.ts";
import type { PageProxy } from "./page-proxy.ts";

/** What the validator "sources" is read through. */
export interface SourceFaults {
  readonly node: PageProxy;
  readonly prices: PageProxy;
  readonly oracleMetrics: PageProxy;
  readonly sidecarMetrics: PageProxy;
  readonly rest: PageProxy;
  readonly grpc: Door;
  readonly egress: Door;
}

/** Names of the validators of {@link startFaultyWatchdogs}, by what fails for them. */
export const VALIDATORS = ["sidecar", "any-pay", "full-pay", "sources", "chain"] as const;

/** One of {@link VALIDATORS}. */
export type ValidatorName = (typeof VALIDATORS)[number];

/** Power of the validator that the node of the localnet "chain" votes for: the greatest, and less than a third. */
export const OWN_POWER = "21";
/** Powers at genesis of the localnet "chain". */
export const POWERS = `${OWN_POWER},20,20,20`;

/** Thresholds with which conditions become active within seconds. */
const THRESHOLDS: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
  "oracle-calls-failing": { min_failed: 10, min_blocks: 5 },
  "websocket-providers-failing": { max_rate: 100 },
  "stale-price-timestamp": { max_age: "3s" },
  "chain-halted": { halt_after: "5s" },
  "node-halted": { halt_after: "5s" },
  "node-behind": { max_blocks: 4 },
  "not-signing": { max_blocks: 3 },
  // A window of 100 blocks fills within seconds, and the faults follow each other.
  "jail-near": { jailed_within: "1s", min_used: 100 },
  "jail-risk": { jailed_within: "1s", min_used: 100 },
  "node-not-voting": { stall_after: "4s" },
  "clock-skew": { max_skew: "5s" },
  ...Object.fromEntries(
    ["any-reward", "full-reward"].flatMap((prefix) => [
      [`${prefix}-rate-low`, { min_blocks: 10 }],
      // The loss of the last hour alone: that of three days takes longer.
      [`${prefix}-at-risk`, { min_blocks: 10, min_headroom: "700h" }],
      [`${prefix}-headroom-low`, { min_blocks: 10, min_headroom: "1s" }],
      [`${prefix}-fast-burn`, { hour_factor: 1.1, six_hours_factor: 1.1 }],
    ]),
  ),
};

const CHAINS = z.object({
  chains: z.array(
    z.object({
      chain_id: z.string(),
      validators: z.array(z.object({ address: z.string(), power: z.string() })),
    }),
  ),
});

/** Returns the consensus address, as hex, of the validator with {@link OWN_POWER}. */
export async function ownAddress(home: CliHome): Promise<string> {
  const { chains } = CHAINS.parse(await getJson(`${localnetEndpoints(home.portOffset).control}/chains`));
  const own = chains
    .find((chain) => chain.chain_id === "local-1")
    ?.validators.find(({ power }) => power === OWN_POWER);
  if (own === undefined) throw new Error("the localnet has no validator of this power");
  return own.address;
}

export interface FaultyWatchdogOptions {
  /** Localnet with the faults of the sidecar, for "sidecar", "any-pay" and "full-pay". */
  readonly sidecarHome: CliHome;
  /** Localnet with the faults of the chain, for "sources" and "chain". */
  readonly chainHome: CliHome;
  readonly sources: SourceFaults;
  /** URL of the Alertmanager to which the watchdogs send their alerts themselves. */
  readonly alertmanager: string;
}

/**
 * Starts two watchdogs for all {@link VALIDATORS}. Their alerts fire and are resolved within seconds. The one for pay judges
 * nothing else, since what costs the blocks would mute it. Returns "host:port" of their metrics.
 */
export async function startFaultyWatchdogs(options: FaultyWatchdogOptions): Promise<readonly string[]> {
  const { sidecarHome, chainHome, sources, alertmanager } = options;
  const hex = await ownAddress(chainHome);
  const consensus = encodeBech32("neutronvalcons", Uint8Array.from(Buffer.from(hex, "hex")));
  const sidecar = portsAt(sidecarHome.portOffset);
  const chain = portsAt(chainHome.portOffset);
  const pay = (name: ValidatorName, full: number, none: number) => ({
    name,
    policy: { full_percent: full, none_percent: none },
    nodes: [{ ...nodeOf(sidecar), prices: null, sidecar_metrics: null }],
  });
  const rest = (url: string) => ({ consensus_address: consensus, chain: { rest: url, pairs: [] } });
  const start = async (name: string, settings: object): Promise<string> => {
    const port = await leasePort();
    const file = join(sidecarHome.directory, `${name}.yaml`);
    const channel = { kind: "alertmanager", name: "am", urls: [alertmanager], resend: "2s" };
    const common = {
      http: { listen: `127.0.0.1:${port}` },
      interval: "1s",
      notify: { channels: [channel] },
    };
    // YAML contains JSON.
    writeFileSync(file, JSON.stringify({ ...common, ...settings }));
    await sidecarHome.start("watchdog", "start", "--config", file).printed(/oracle-watchdog +http/);
    return `127.0.0.1:${port}`;
  };
  return Promise.all([
    start("pay", {
      validators: [pay("any-pay", 60, 50), pay("full-pay", 55, 1)],
      alerts: alertsOf((name) => name.includes("-reward-")),
    }),
    start("faults", {
      // Of all validators: the faults of the sidecar that a closed one mutes come later.
      sources: { egress: [sources.egress.target] },
      validators: [
        { name: "sidecar", nodes: [nodeOf(sidecar)] },
        { name: "sources", ...rest(sources.rest.url), nodes: [proxiedNode(sources)] },
        { name: "chain", ...rest(`http://127.0.0.1:${chain.localRest}`), nodes: [nodeOf(chain)] },
      ],
      alerts: alertsOf((name) => !name.includes("-reward-")),
    }),
  ]);
}

function alertsOf(isEnabled: (name: string) => boolean): object {
  return {
    // The faults follow each other.
    grace: "2s",
    ...Object.fromEntries(
      CONDITIONS.map(({ name }) => [
        sectionKey(name),
        { enabled: isEnabled(name), for: "1s", resolve_for: "1s", ...THRESHOLDS[name] },
      ]),
    ),
  };
}

function nodeOf({ localMetrics, prices, sidecarMetrics }: Ports) {
  return {
    name: "a",
    node: `http://127.0.0.1:${localMetrics}/metrics`,
    prices: `http://127.0.0.1:${prices}/`,
    sidecar_metrics: `http://127.0.0.1:${sidecarMetrics}/metrics`,
    oracle_metrics: null,
  };
}

function proxiedNode({ node, prices, sidecarMetrics, oracleMetrics, grpc }: SourceFaults) {
  return {
    name: "a",
    node: `${node.url}/metrics`,
    prices: `${prices.url}/`,
    sidecar_metrics: `${sidecarMetrics.url}/metrics`,
    oracle_metrics: `${oracleMetrics.url}/metrics`,
    grpc: grpc.target,
  };
}
