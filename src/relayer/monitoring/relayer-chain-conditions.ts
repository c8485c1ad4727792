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
    title: "The relayer cannot reach the local chain",
    description:
      "No endpoint of chain.rpc responds, so the relayer neither sees due queries nor sends results.",
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
        "Add a second endpoint to `chain.rpc`: the relayer then goes on by itself.",
        "An endpoint of another chain is refused: compare `chain.id`.",
      ],
      after: ["Queries that became due meanwhile are answered at once. Check that lateness returns to 0."],
    },
  },
  {
    name: "relayer-local-chain-halted",
    severity: "critical",
    title: "The local chain has no new block",
    description: "The relayer's node responds, and its height does not change.",
    impact: "No result can be included. Queries become due again when blocks return; nothing is lost.",
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
          "Twice: the height is the same.",
          "nodeStatus",
          '      "latest_block_height": "35120881",\n      "catching_up": false',
        ),
      ],
      fix: [
        "An explorer has later blocks: your node is behind. Use another endpoint, and repair this one.",
        "The chain has halted: wait. The relayer keeps its work and sends nothing.",
      ],
      after: ["After a long halt, read the expiry of the light clients: they are not updated during a halt."],
    },
  },
  {
    name: "relayer-remote-chain-unreachable",
    severity: "critical",
    title: "The relayer cannot reach a remote chain",
    description: "No endpoint of a connection responds, so no value of that chain can be proven.",
    impact: `No query of the connection gets a result. Other connections go on. ${STALE}`,
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
        see("Which endpoints are left?", "doctor", DOCTOR),
      ],
      fix: [
        "Replace or add an endpoint in `connections[].rpc`, and restart the relayer. An archive is not needed; the last hours are.",
        "429 or 403: the endpoint limits you. Use a node of your own for production.",
      ],
      after: [
        "With one endpoint for a chain, this alert is a question of time. Configure two of different operators.",
      ],
    },
  },
  {
    name: "relayer-remote-chain-halted",
    severity: "warning",
    title: "A remote chain has no new block",
    description: "The connection's endpoints respond, and the remote height does not change.",
    impact:
      "No newer value exists, so no result is due in fact. A halt beyond the trusting period expires the light client.",
    problems: ["remote-no-new-block"],
    for: "2m",
    inhibits: [...LATE],
    runbook: {
      checks: [
        see(
          "How long, and at which height?",
          "ready",
          ready(
            "remote-no-new-block: connection-0: the remote chain remote-1 has had no new block for 2 min (height 87); no newer value can be proven until it goes on",
          ),
        ),
        check("Compare with an explorer of the remote chain. Upgrades are announced with a height."),
      ],
      fix: [
        "The endpoint has stopped and the chain has not: use another one.",
        "The chain has halted: wait. Nothing newer exists to be proven.",
      ],
      after: [
        "A halt that comes near the trusting period (usually two weeks or less) expires the client: watch its expiry.",
      ],
    },
  },
  {
    name: "relayer-remote-node-catching-up",
    severity: "warning",
    title: "A remote node is catching up",
    description: "The best endpoint of a connection is still synchronising.",
    impact: `Results are proven at old heights or not at all. ${STALE}`,
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
        "It is your own node: leave it alone while the distance shrinks; start from a snapshot when it does not.",
      ],
      after: ["Put the endpoint back behind the others in the list."],
    },
  },
  {
    name: "relayer-client-expired",
    severity: "critical",
    title: "A light client has expired",
    description: "The light client of a connection was not updated within its trusting period.",
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
        "No transaction of the relayer revives an expired client.",
        "Create a new client of the same chain with the same parameters, and propose `MsgRecoverClient` with the expired one as subject and the new one as substitute.",
        "Tell the owners of the contracts: their values do not change until the proposal has passed.",
      ],
      after: [
        "Find out why nothing updated it for a whole trusting period: the relayer was down, its account empty, or its alerts not read.",
      ],
    },
  },
  {
    name: "relayer-client-frozen",
    severity: "critical",
    title: "A light client is frozen",
    description:
      "Somebody proved two conflicting headers of the remote chain to the light client of a connection.",
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
        "Stop believing values of that chain from after the conflict, and warn the owners of the contracts.",
        "When the remote chain has settled it, propose `MsgRecoverClient` with a new client as substitute.",
      ],
      after: ["Keep both headers as evidence."],
    },
  },
  {
    name: "relayer-client-nearly-expired",
    severity: "critical",
    title: "A light client is about to expire",
    description:
      "{{ $value | humanizePercentage }} of the trusting period of the light client is left. The relayer updates it when a third is left.",
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
          "What keeps the relayer from updating it?",
          "ready",
          ready(
            "client-expires-soon: connection-0: client 07-tendermint-0 expires at 2026-11-22T05:53:59.000Z, in 5 h, unless it is updated before; it should have been refreshed when a third of its trusting period was left\nremote-unreachable: connection-0: the remote chain remote-1 cannot be reached: no response for 41 s (fetch failed); check the endpoints of the connection",
          ),
        ),
      ],
      fix: [
        "Remove what /readyz names: endpoint, account, store. The relayer then updates the client by itself within a minute.",
        "Do not wait for a repair that may come too late: update the client by any other means now, for instance `hermes update client --host-chain local-1 --client 07-tendermint-0`. One update is enough.",
        "Act before it expires: afterwards only governance helps.",
      ],
      after: [
        "Check the new expiry: it is the whole trusting period after the update.",
        "`IcqRelayerClientExpiring` came long before. Find out why nobody acted on it.",
      ],
    },
  },
  {
    name: "relayer-client-expiring",
    severity: "warning",
    title: "A light client expires soon",
    description:
      "Less than health.client_expires_soon of the trusting period of the light client is left. The relayer updates it when a third is left, and has failed to for a while.",
    impact:
      "None yet. When it expires, no query of the connection gets a result until governance replaces the client, which takes weeks.",
    problems: ["client-expires-soon"],
    for: "5m",
    runbook: {
      checks: [
        see(
          "When does it expire? That is the time that you have.",
          "doctor",
          DOCTOR.replace("13 days", "2 days"),
        ),
        see(
          "What keeps the relayer from updating it?",
          "ready",
          ready(
            "client-expires-soon: connection-0: client 07-tendermint-0 expires at 2026-11-24T17:53:59.000Z, in 2 d 12 h, unless it is updated before; it should have been refreshed when a third of its trusting period was left",
          ),
        ),
        check(
          "/readyz names nothing else: search the log for `light client could not be refreshed`, which has the reason of each try, one a minute.",
        ),
      ],
      fix: [
        "Remove what /readyz or the log names: endpoint, account, spending limit. The relayer then updates the client by itself within a minute.",
        "Blocks of the trusted heights are pruned everywhere: add an endpoint of an archive node to the connection.",
        "No repair is in sight: plan an update by other means for today, for instance `hermes update client --host-chain local-1 --client 07-tendermint-0`.",
      ],
      after: [
        "Check the new expiry: it is the whole trusting period after the update.",
        "The notice comes too late or too early for you: `health.client_expires_soon` of the relayer.",
      ],
    },
  },
];
