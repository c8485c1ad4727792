import { STALE, type RelayerCondition } from "./relayer-condition.ts";

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
  },
  {
    name: "relayer-starting",
    severity: "warning",
    title: "The relayer does not finish its start",
    description: "The relayer is still starting: its initial reads have not finished.",
    impact: `The relayer submits no result for the queries and chains that it has not read. ${STALE}`,
    problems: ["starting"],
    for: "5m",
  },
];
