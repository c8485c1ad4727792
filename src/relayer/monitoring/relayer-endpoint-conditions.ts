import { check, see } from "../../platform/monitoring/alerts/runbook-spec.ts";
import { STALE, DOCTOR, QUERIES, type RelayerCondition } from "./relayer-condition.ts";

/** Alerts about endpoints, and about what the relayer cannot read. */
export const ENDPOINT_CONDITIONS: readonly RelayerCondition[] = [
  {
    name: "relayer-endpoint-down",
    severity: "warning",
    title: "An endpoint does not respond",
    description:
      "{{ $labels.endpoint }} of {{ $labels.chain_id }} fails. The relayer uses the others, if there are any.",
    impact: "None while another endpoint of the chain responds.",
    expr: () => "max by (job, instance, chain_id, endpoint) (relaywatch_relayer_endpoint_up) == 0",
    for: "5m",
    example: {
      fires: [{ series: 'relaywatch_relayer_endpoint_up{$,chain_id="remote-1",endpoint="a"}' }],
      clears: [{ series: 'relaywatch_relayer_endpoint_up{$,chain_id="remote-1",endpoint="a"}', from: 1 }],
    },
    runbook: {
      checks: [see("Which endpoint, and with which error?", "doctor", DOCTOR)],
      fix: [
        "Repair or replace it. The relayer uses it again when it responds.",
        "If it was the chain's last endpoint, act now: results are late.",
      ],
      after: ["Configure two endpoints of different operators for each chain."],
    },
  },
  {
    name: "relayer-endpoint-lagging",
    severity: "warning",
    title: "An endpoint lags behind",
    description:
      "{{ $labels.endpoint }} of {{ $labels.chain_id }} is {{ $value }} blocks behind the best endpoint.",
    impact:
      "None while another endpoint of the chain is current. If it is the only endpoint, results are late.",
    expr: () => "max by (job, instance, chain_id, endpoint) (relaywatch_relayer_endpoint_lag_blocks) > 10",
    for: "5m",
    example: {
      fires: [
        { series: 'relaywatch_relayer_endpoint_lag_blocks{$,chain_id="remote-1",endpoint="a"}', from: 40 },
      ],
      clears: [
        { series: 'relaywatch_relayer_endpoint_lag_blocks{$,chain_id="remote-1",endpoint="a"}', from: 0 },
      ],
    },
    runbook: {
      checks: [see("Heights of the endpoints:", "doctor", DOCTOR)],
      fix: [
        "Wait: the relayer prefers the other endpoints while this one lags.",
        "If it does not catch up, replace it, or repair the node if it is yours.",
      ],
      after: [
        "If the endpoint is a proxy for several nodes, configure the nodes themselves: one lagging node makes the proxy lag.",
      ],
    },
  },
  {
    name: "relayer-subscription-down",
    severity: "warning",
    title: "The relayer's subscription is down",
    description: "The WebSocket to the local chain is not connected. The relayer polls instead.",
    impact: "The relayer sees blocks later, and new queries up to a minute later.",
    expr: () => "max by (job, instance) (relaywatch_relayer_subscription_connected) == 0",
    for: "2m",
    example: {
      fires: [{ series: "relaywatch_relayer_subscription_connected{$}" }],
      clears: [{ series: "relaywatch_relayer_subscription_connected{$}", from: 1 }],
    },
    runbook: {
      checks: [
        check(
          "Search the relayer's log for `subscription`: it has the endpoint and the reason. A proxy without WebSocket support returns HTTP 400 or 426 for `/websocket`.",
        ),
        see("Check that the relayer still submits results:", "queries", QUERIES),
      ],
      fix: [
        "Allow WebSocket at the endpoint or its proxy (`Upgrade` headers, idle timeout of more than a minute).",
        "Put your own node first in `chain.rpc`.",
      ],
      after: ["No result is lost: without the subscription the relayer reads new queries once a minute."],
    },
  },
  {
    name: "relayer-state-unknown",
    severity: "warning",
    title: "The relayer cannot read a light client or its account",
    description:
      "The relayer could not read a connection's light client or its own balance for three minutes.",
    impact:
      "No known loss. Until it can read them, no alert about the client's expiry or the balance can fire.",
    problems: ["client-unknown", "account-unknown"],
    for: "2m",
    runbook: {
      checks: [
        see(
          "Which of the two, and why?",
          "ready",
          "account-unknown: the balance of neutron1… is unknown: no response for 3 min (deadline exceeded)",
        ),
        see("Read it by hand:", "doctor", DOCTOR),
      ],
      fix: [
        "If the endpoint responds to other RPC calls, it limits or blocks `abci_query`: use another endpoint.",
      ],
      after: ["Run `relaywatch relayer doctor` once more, and check the clients' expiry and the balance."],
    },
  },
  {
    name: "relayer-starting",
    severity: "warning",
    title: "The relayer does not finish its start",
    description: "The relayer is still starting: its initial reads have not finished.",
    impact: `The relayer submits no result for the queries and chains that it has not read. ${STALE}`,
    problems: ["starting"],
    for: "5m",
    runbook: {
      checks: [
        see("Which read is missing?", "ready", "starting: the list of queries was not read yet"),
        see("Which endpoint fails?", "doctor", DOCTOR),
      ],
      fix: [
        "If the list of queries is long, wait a minute, or use a faster endpoint.",
        "If the chain does not have the module under this name, correct `chain.name`.",
      ],
      after: ["A start takes seconds. If it took minutes, save the log."],
    },
  },
];
