import { check, see } from "../../platform/monitoring/alerts/runbook-spec.ts";
import { BY_CONNECTION, CONNECTION_SCOPE, LATE, STALE, type RelayerCondition } from "./relayer-condition.ts";

const DOCTOR =
  "good     local-1: endpoint 127.0.0.1:26657: height 63, blocks from 1\ngood     account: neutron1…, sequence 31\ngood     balance: neutron1… has 999999999975198 untrn\ngood     connection-0: light client: 07-tendermint-0 is active at height 87, and expires in 13 days without an update";
const ready = (line: string): string => line;

/** Alerts about the chains and the light clients of the relayer. */
export const CHAIN_CONDITIONS: readonly RelayerCondition[] = [
  {
    name: "relayer-local-chain-unreachable",
    severity: "critical",
    title: "The relayer does not follow the local chain",
    description:
      "No endpoint of chain.rpc responds, its node is catching up, or the list of queries cannot be read, so the relayer does not see which results are due.",
    impact: `No result is submitted. ${STALE} Nothing is spent.`,
    problems: ["local-not-followed"],
    for: "1m",
    inhibits: [...LATE, "relayer-subscription-down", "relayer-state-unknown", "relayer-endpoint-down"],
    runbook: {
      checks: [
        see(
          "Since when, and with which error?",
          "ready",
          ready(
            "local-not-followed: the local chain is not followed: no response for 41 s (connect ECONNREFUSED 127.0.0.1:26657); check chain.rpc",
          ),
        ),
        see("Which endpoint fails?", "doctor", DOCTOR.replace("good     local-1", "bad      local-1")),
        see(
          "Does the node respond by itself?",
          "nodeStatus",
          '      "latest_block_height": "35120881",\n      "catching_up": false',
        ),
      ],
      fix: [
        "Start the node, or open its port 26657 for the relayer.",
        "If the node is catching up, use another endpoint until it is synchronised.",
        "If only the list of queries cannot be read, the endpoint limits or blocks `abci_query`: use another one.",
        "Add a second endpoint to `chain.rpc`, and restart the relayer.",
        "If the relayer refuses the endpoint, compare `chain.id`: the endpoint belongs to another chain.",
      ],
      after: [
        "Check that lateness returns to 0: the relayer immediately submits results of the queries that became due.",
      ],
    },
  },
  {
    name: "relayer-local-chain-halted",
    severity: "critical",
    title: "The local chain has no new block",
    description: "The relayer's node responds, and its height does not change.",
    impact: "No result can be included. Nothing is lost: queries become due again with the next blocks.",
    problems: ["local-no-new-block"],
    for: "2m",
    inhibits: [...LATE],
    runbook: {
      checks: [
        see(
          "How long, and at which height?",
          "ready",
          ready(
            "local-no-new-block: the local chain has had no new block for 2 min (height 35120881); check whether it has halted or the node is behind",
          ),
        ),
        see(
          "Run this twice. The height stays the same:",
          "nodeStatus",
          '      "latest_block_height": "35120881",\n      "catching_up": false',
        ),
      ],
      fix: [
        "If an explorer has later blocks, your node is behind: use another endpoint, and repair this one.",
        "If the chain has halted, wait: the relayer keeps its queue and sends nothing.",
      ],
      after: [
        "After a long halt, check when the light clients expire: the relayer cannot update them during a halt.",
      ],
    },
  },
  {
    name: "relayer-remote-chain-unreachable",
    severity: "critical",
    title: "The relayer cannot reach a remote chain",
    description: "No endpoint of a connection responds, so the relayer cannot prove any value of that chain.",
    impact: `No query of the connection gets a result. Other connections are not affected. ${STALE}`,
    problems: ["remote-unreachable"],
    for: "1m",
    inhibits: [...LATE, "relayer-endpoint-down"],
    runbook: {
      checks: [
        see(
          "Which connection, and with which error?",
          "ready",
          ready(
            "remote-unreachable: connection-0: the remote chain remote-1 cannot be reached: no response for 41 s (fetch failed); check the endpoints of the connection",
          ),
        ),
        see("Which endpoints still respond?", "doctor", DOCTOR),
      ],
      fix: [
        "Replace or add an endpoint in `connections[].rpc`, and restart the relayer. The endpoint needs the last hours of blocks, not an archive.",
        "After HTTP 429 or 403, use your own node: the endpoint limits your requests.",
      ],
      after: ["Configure two endpoints of different operators for each chain."],
    },
  },
  {
    name: "relayer-remote-chain-halted",
    severity: "warning",
    title: "A remote chain has no new block",
    description: "The connection's endpoints respond, and the remote height does not change.",
    impact:
      "No result is missing, because no newer value exists. A halt longer than the trusting period expires the light client.",
    problems: ["remote-no-new-block"],
    for: "2m",
    inhibits: [...LATE],
    runbook: {
      checks: [
        see(
          "How long, and at which height?",
          "ready",
          ready(
            "remote-no-new-block: connection-0: the remote chain remote-1 has had no new block for 2 min (height 87); no newer value can be proven; check whether it has halted or its endpoints are behind",
          ),
        ),
        check("Compare with an explorer of the remote chain. Upgrades are announced with a height."),
      ],
      fix: [
        "If only the endpoint has stopped, use another one.",
        "If the chain has halted, wait: no newer value exists.",
      ],
      after: [
        "Watch the client's expiry: a halt longer than the trusting period (usually two weeks or less) expires it.",
      ],
    },
  },
  {
    name: "relayer-remote-node-catching-up",
    severity: "warning",
    title: "A remote node is catching up",
    description: "The best endpoint of a connection is still synchronising.",
    impact: `The relayer proves results at old heights or not at all. ${STALE}`,
    problems: ["remote-catching-up"],
    for: "2m",
    inhibits: ["relayer-queries-overdue", "relayer-standing-still"],
    runbook: {
      checks: [
        see(
          "Which node?",
          "ready",
          ready("remote-catching-up: connection-0: the node of remote-1 is catching up and at height 80"),
        ),
      ],
      fix: [
        "Use another endpoint until it has caught up.",
        "If it is your own node, do not restart it while the distance shrinks. If the distance does not shrink, start the node from a snapshot.",
      ],
      after: ["Put the endpoint back behind the others in the list."],
    },
  },
  {
    name: "relayer-client-expired",
    severity: "critical",
    title: "A light client has expired",
    description: "Nobody updated a connection's light client within its trusting period, so it has expired.",
    impact:
      "No query of the connection can get a result until governance of the local chain replaces the client.",
    problems: ["client-expired"],
    for: "0s",
    inhibits: [...LATE, "relayer-client-nearly-expired", "relayer-client-expiring"],
    runbook: {
      checks: [
        see(
          "Which client, and since when?",
          "ready",
          ready(
            "client-expired: connection-0: client 07-tendermint-0 is expired at 2026-11-22T05:53:59.000Z; nothing can be proven until governance replaces it (MsgRecoverClient)",
          ),
        ),
        see(
          "Status and height of the client:",
          "doctor",
          DOCTOR.replace(
            "good     connection-0: light client: 07-tendermint-0 is active",
            "bad      connection-0: light client: 07-tendermint-0 is expired",
          ),
        ),
      ],
      fix: [
        "Do not restart the relayer for this: none of its transactions can recover an expired client.",
        "Create a new client of the same chain with the same parameters, and propose `MsgRecoverClient` with the expired one as subject and the new one as substitute.",
        "Tell the contracts' owners that their values do not change until the proposal has passed.",
      ],
      after: [
        "Find out why nobody updated it for a whole trusting period: the relayer was down, its account was empty, or nobody read its alerts.",
      ],
    },
  },
  {
    name: "relayer-client-frozen",
    severity: "critical",
    title: "A light client is frozen",
    description:
      "A connection's light client is frozen: somebody submitted two conflicting headers of the remote chain to it.",
    impact:
      "No query of the connection can get a result until governance of the local chain replaces the client.",
    problems: ["client-frozen"],
    for: "0s",
    inhibits: [...LATE, "relayer-client-nearly-expired", "relayer-client-expiring"],
    runbook: {
      checks: [
        see(
          "Which client?",
          "ready",
          ready(
            "client-frozen: connection-0: client 07-tendermint-0 is frozen after misbehaviour at or after height 87; nothing can be proven until governance replaces it (MsgRecoverClient)",
          ),
        ),
        check(
          "Find the transaction with the misbehaviour on the local chain: two headers of one height with valid signatures. It means that validators of the remote chain signed twice.",
        ),
      ],
      fix: [
        "Do not trust that chain's values from after the conflict, and warn the contracts' owners.",
        "When the remote chain has resolved the conflict, propose `MsgRecoverClient` with a new client as substitute.",
      ],
      after: ["Save both headers as evidence."],
    },
  },
  {
    name: "relayer-client-nearly-expired",
    severity: "critical",
    title: "A light client is about to expire",
    description:
      "Only {{ $value | humanizePercentage }} of the light client's trusting period is left. The relayer normally updates it when a third is left.",
    impact:
      "When it expires, no query of the connection gets a result until governance replaces the client, which takes weeks.",
    expr: () =>
      `max ${BY_CONNECTION} ((relaywatch_relayer_client_expiry_timestamp_seconds - time()) / relaywatch_relayer_client_trusting_period_seconds) < 0.05`,
    for: "1m",
    inhibits: ["relayer-client-expiring"],
    scope: CONNECTION_SCOPE,
    example: {
      fires: [
        {
          series: 'relaywatch_relayer_client_expiry_timestamp_seconds{$,connection_id="connection-0"}',
          from: 3600,
          clock: true,
        },
        {
          series: 'relaywatch_relayer_client_trusting_period_seconds{$,connection_id="connection-0"}',
          from: 86_400,
        },
      ],
      clears: [
        {
          series: 'relaywatch_relayer_client_expiry_timestamp_seconds{$,connection_id="connection-0"}',
          from: 80_000,
          clock: true,
        },
      ],
    },
    runbook: {
      checks: [
        see("When does it expire?", "doctor", DOCTOR.replace("13 days", "5 hours")),
        see(
          "Why does the relayer not update it?",
          "ready",
          ready(
            "client-expires-soon: connection-0: client 07-tendermint-0 expires at 2026-11-22T05:53:59.000Z, in 5 h, unless it is updated before; it should have been refreshed when a third of its trusting period was left\nremote-unreachable: connection-0: the remote chain remote-1 cannot be reached: no response for 41 s (fetch failed); check the endpoints of the connection",
          ),
        ),
      ],
      fix: [
        "Repair the problem that /readyz names: endpoint, account or store. The relayer then updates the client within a minute.",
        "If the repair may come too late, update the client with another program now, for example `hermes update client --host-chain local-1 --client 07-tendermint-0`. One update is enough.",
        "Act before it expires: after that, only governance can recover it.",
      ],
      after: [
        "Check the new expiry: it is one whole trusting period after the update.",
        "Find out why nobody acted on `IcqRelayerClientExpiring`, which fired long before.",
      ],
    },
  },
  {
    name: "relayer-client-expiring",
    severity: "warning",
    title: "A light client expires soon",
    description:
      "Less than health.client_expires_soon of the light client's trusting period is left. The relayer tries to update it from a third on, and has failed so far.",
    impact:
      "None yet. When it expires, no query of the connection gets a result until governance replaces the client, which takes weeks.",
    problems: ["client-expires-soon"],
    for: "5m",
    runbook: {
      checks: [
        see("When does it expire? You have until then.", "doctor", DOCTOR.replace("13 days", "2 days")),
        see(
          "Why does the relayer not update it?",
          "ready",
          ready(
            "client-expires-soon: connection-0: client 07-tendermint-0 expires at 2026-11-24T17:53:59.000Z, in 2 d 12 h, unless it is updated before; it should have been refreshed when a third of its trusting period was left",
          ),
        ),
        check(
          "If /readyz names nothing else, search the log for `light client could not be refreshed`: it has the reason of each attempt, once a minute.",
        ),
      ],
      fix: [
        "Repair the problem that /readyz or the log names: endpoint, account or spending limit. The relayer then updates the client within a minute.",
        "If all endpoints have pruned the trusted heights, add an archive node's endpoint to the connection.",
        "If you cannot repair it today, update the client with another program, for example `hermes update client --host-chain local-1 --client 07-tendermint-0`.",
      ],
      after: [
        "Check the new expiry: it is one whole trusting period after the update.",
        "If this alert fires too late or too early for you, change `health.client_expires_soon`.",
      ],
    },
  },
];
