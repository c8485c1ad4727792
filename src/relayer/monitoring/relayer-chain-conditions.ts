import { BY_CONNECTION, CONNECTION_SCOPE, LATE, type RelayerCondition, STALE } from "./relayer-condition.ts";

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
  },
];
