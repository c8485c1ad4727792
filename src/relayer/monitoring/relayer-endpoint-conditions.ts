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
        "Repair or replace it. The relayer notices its return by itself.",
        "It was the last one of its chain: act now, results are late.",
      ],
      after: ["Keep two endpoints of different operators for each chain."],
    },
  },
  {
    name: "relayer-endpoint-lagging",
    severity: "warning",
    title: "An endpoint lags behind",
    description:
      "{{ $labels.endpoint }} of {{ $labels.chain_id }} is {{ $value }} blocks behind the best endpoint.",
    impact: "None while another endpoint of the chain is current. Alone, it would make results late.",
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
        "Leave it: the relayer prefers the others while it lags.",
        "It does not catch up: replace it, or repair the node when it is yours.",
      ],
      after: ["A proxy in front of several nodes lags when one of them does: use the nodes themselves."],
    },
  },
  {
    name: "relayer-subscription-down",
    severity: "warning",
    title: "The relayer's subscription is down",
    description: "The WebSocket to the local chain is not connected. The relayer polls instead.",
    impact: "New queries and blocks are seen later, by up to a minute for a new query.",
    expr: () => "max by (job, instance) (relaywatch_relayer_subscription_connected) == 0",
    for: "2m",
    example: {
      fires: [{ series: "relaywatch_relayer_subscription_connected{$}" }],
      clears: [{ series: "relaywatch_relayer_subscription_connected{$}", from: 1 }],
    },
    runbook: {
      checks: [
        check(
          "The relayer's log names the endpoint and the reason: `subscription`. A proxy without WebSocket returns 400 or 426 for `/websocket`.",
        ),
        see("Results go on meanwhile:", "queries", QUERIES),
      ],
      fix: [
        "Allow WebSocket at the endpoint or its proxy (`Upgrade` headers, idle timeout of more than a minute).",
        "Name a node of your own first in `chain.rpc`.",
      ],
      after: ["Without the subscription, new queries are seen once a minute."],
    },
  },
  {
    name: "relayer-state-unknown",
    severity: "warning",
    title: "The relayer cannot read a light client or its account",
    description: "The light client of a connection, or the balance, was not read for three minutes.",
    impact: "None that is known. The expiry of the client and the balance are not watched meanwhile.",
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
        "The endpoint answers RPC calls and not these queries: it limits or blocks `abci_query`. Use another one.",
      ],
      after: ["Read the expiry of the clients and the balance once by hand."],
    },
  },
  {
    name: "relayer-starting",
    severity: "warning",
    title: "The relayer does not finish its start",
    description: "The relayer is running, and has not read everything that it needs.",
    impact: `No result is submitted for what was not read. ${STALE}`,
    problems: ["starting"],
    for: "5m",
    runbook: {
      checks: [
        see("What is missing?", "ready", "starting: the list of queries was not read yet"),
        see("Which endpoint fails?", "doctor", DOCTOR),
      ],
      fix: [
        "The list of queries is long, and the endpoint slow: give it a minute, or use a faster endpoint.",
        "The chain's module does not exist under this name: compare `chain.name`.",
      ],
      after: ["A start takes seconds. Keep the log when it takes minutes."],
    },
  },
];
