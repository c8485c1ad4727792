import {
  at,
  BY_CONNECTION,
  CONNECTION,
  CONNECTION_SCOPE,
  LATE,
  STALE,
  turns,
  type RelayerCondition,
} from "./relayer-condition.ts";

/** Alerts about the relayer's chains and light clients. */
export const CHAIN_CONDITIONS: readonly RelayerCondition[] = [
  {
    name: "relayer-local-chain-unreachable",
    severity: "critical",
    title: "The relayer does not follow the local chain",
    description:
      "No chain.rpc endpoint responds, its node is catching up, or the query list cannot be read, so the relayer cannot see which results are due.",
    impact: `No result is submitted. ${STALE} Nothing is spent.`,
    problems: ["local-not-followed"],
    for: "1m",
    inhibits: [...LATE, "relayer-subscription-down", "relayer-state-unknown", "relayer-endpoint-down"],
  },
  {
    name: "relayer-local-chain-halted",
    severity: "critical",
    title: "The local chain has no new block",
    description: "The relayer's node responds, but its height does not change.",
    impact:
      "No result can be included in a block. Nothing is lost: queries become due again with the next blocks.",
    problems: ["local-no-new-block"],
    for: "2m",
    inhibits: [...LATE],
  },
  {
    name: "relayer-remote-chain-unreachable",
    severity: "critical",
    title: "The relayer cannot reach a remote chain",
    description:
      "No endpoint of a connection responds, or every endpoint refuses the requests, so the relayer cannot prove any value from that chain.",
    impact: `No query on the connection gets a result. Other connections are not affected. ${STALE}`,
    problems: ["remote-unreachable", "endpoints-refuse"],
    for: "1m",
    inhibits: [...LATE, "relayer-endpoint-down"],
  },
  {
    name: "relayer-remote-chain-halted",
    severity: "warning",
    title: "A remote chain has no new block",
    description: "The connection's endpoints respond, but the remote height does not change.",
    impact:
      "No result is missing, because no newer value exists. If the halt lasts longer than the trusting period, the light client expires.",
    problems: ["remote-no-new-block"],
    for: "2m",
    inhibits: [...LATE],
  },
  {
    name: "relayer-remote-node-catching-up",
    severity: "warning",
    title: "A remote node is catching up",
    description: "A connection's best endpoint is still synchronizing.",
    impact: `The relayer proves results at old heights or not at all. ${STALE}`,
    problems: ["remote-catching-up"],
    for: "2m",
    inhibits: ["relayer-queries-overdue", "relayer-standing-still"],
  },
  {
    name: "relayer-client-expired",
    severity: "critical",
    title: "A light client has expired",
    description:
      "A connection's light client has expired because nobody updated it within its trusting period.",
    impact:
      "No query on the connection can get a result until the local chain's governance replaces the client.",
    problems: ["client-expired"],
    for: "0s",
    inhibits: [...LATE, "relayer-client-nearly-expired", "relayer-client-expiring"],
  },
  {
    name: "relayer-client-frozen",
    severity: "critical",
    title: "A light client is frozen",
    description:
      "A connection's light client is frozen: somebody submitted two conflicting headers from the remote chain to it.",
    impact:
      "No query on the connection can get a result until the local chain's governance replaces the client.",
    problems: ["client-frozen"],
    for: "0s",
    inhibits: [...LATE, "relayer-client-nearly-expired", "relayer-client-expiring"],
  },
  {
    name: "relayer-client-nearly-expired",
    severity: "critical",
    title: "A light client is about to expire",
    description:
      "Only {{ $value | humanizePercentage }} of the light client's trusting period is left. The relayer normally updates the client when a third is left.",
    impact:
      "Once the client expires, no query on the connection gets a result until governance replaces the client, which takes weeks.",
    expr: () =>
      `max ${BY_CONNECTION} ((relaywatch_relayer_client_expiry_timestamp_seconds - time()) / relaywatch_relayer_client_trusting_period_seconds) < 0.05`,
    for: "1m",
    inhibits: ["relayer-client-expiring"],
    scope: CONNECTION_SCOPE,
    example: {
      fires: [
        { ...at("client_expiry_timestamp_seconds", 3600, CONNECTION), clock: true },
        at("client_trusting_period_seconds", 86_400, CONNECTION),
      ],
      clears: [{ ...at("client_expiry_timestamp_seconds", 80_000, CONNECTION), clock: true }],
    },
  },
  {
    name: "relayer-client-expiring",
    severity: "warning",
    title: "A light client expires soon",
    description:
      "Less than health.client_expires_soon of the light client's trusting period is left. The relayer tries to update the client once a third of the period is left, and all its attempts have failed so far.",
    impact:
      "Nothing is lost yet. Once the client expires, no query on the connection gets a result until governance replaces the client, which takes weeks.",
    problems: ["client-expires-soon"],
    for: "5m",
  },
];

/** Alerts about endpoints and failing reads. */
export const ENDPOINT_CONDITIONS: readonly RelayerCondition[] = [
  {
    name: "relayer-endpoint-down",
    severity: "warning",
    title: "An endpoint does not respond",
    description:
      "{{ $labels.endpoint }} of {{ $labels.chain_id }} is failing. The relayer uses the chain's other endpoints, if it has any.",
    impact: "None while another endpoint of the chain responds.",
    expr: () => "max by (job, instance, chain_id, endpoint) (relaywatch_relayer_endpoint_up) == 0",
    for: "5m",
    example: turns("endpoint_up", 0, 1, 'chain_id="remote-1",endpoint="a"'),
  },
  {
    name: "relayer-endpoint-lagging",
    severity: "warning",
    title: "An endpoint lags behind",
    description:
      "{{ $labels.endpoint }} of {{ $labels.chain_id }} is {{ $value }} blocks behind the best endpoint.",
    impact:
      "Nothing is lost while another endpoint of the chain is current. If the chain has only this endpoint, results are late.",
    expr: () => "max by (job, instance, chain_id, endpoint) (relaywatch_relayer_endpoint_lag_blocks) > 10",
    for: "5m",
    example: turns("endpoint_lag_blocks", 40, 0, 'chain_id="remote-1",endpoint="a"'),
  },
  {
    name: "relayer-subscription-down",
    severity: "warning",
    title: "The relayer's subscription is down",
    description: "The WebSocket to the local chain is not connected, so the relayer polls the chain.",
    impact: "The relayer sees blocks later, and new queries up to a minute later.",
    expr: () => "max by (job, instance) (relaywatch_relayer_subscription_connected) == 0",
    for: "2m",
    example: turns("subscription_connected", 0, 1),
  },
  {
    name: "relayer-state-unknown",
    severity: "warning",
    title: "The relayer cannot read a light client or its account",
    description:
      "The relayer could not read a connection's light client or its own balance for three minutes.",
    impact:
      "No loss is known. Until the relayer can read the client and the balance, no alert about the client's expiry or the balance can fire.",
    problems: ["client-unknown", "account-unknown"],
    for: "2m",
  },
  {
    name: "relayer-starting",
    severity: "warning",
    title: "The relayer does not finish starting",
    description: "The relayer is still starting: its initial reads have not finished.",
    impact: `The relayer submits no results for the queries and chains that it has not read yet. ${STALE}`,
    problems: ["starting"],
    for: "5m",
  },
];

/** Alerts about the relayer's account and state, without which the relayer sends nothing. */
export const ACCOUNT_CONDITIONS: readonly RelayerCondition[] = [
  {
    name: "relayer-account-empty",
    severity: "critical",
    title: "The relayer's account cannot pay",
    description:
      "The account holds less than one transaction's fee, or a node refuses its transactions for lack of funds.",
    impact: `The relayer cannot pay for transactions, so it submits no results. ${STALE}`,
    problems: ["account-cannot-pay"],
    for: "0s",
    inhibits: [...LATE, "relayer-account-low", "relayer-not-sending", "relayer-transactions-failing"],
  },
  {
    name: "relayer-account-low",
    severity: "warning",
    title: "The relayer's account will be empty soon",
    description: "At the last day's spending rate, the balance will last {{ $value | humanizeDuration }}.",
    impact: "None yet. Once the account is empty, the relayer submits no results.",
    expr: () => "min by (job, instance) (relaywatch_relayer_account_left_seconds) < 3 * 86400",
    for: "30m",
    example: turns("account_left_seconds", 7200, 9e6),
  },
  {
    name: "relayer-not-sending",
    severity: "critical",
    title: "The relayer refuses to send",
    description:
      "The relayer did not send its last transaction: it has reached the balance reserve or the daily fee limit.",
    impact: `The relayer submits no results until coins arrive (reserve) or until 00:00 UTC (daily limit). ${STALE}`,
    problems: ["not-sending"],
    for: "2m",
    inhibits: ["relayer-queries-overdue", "relayer-standing-still"],
  },
  {
    name: "relayer-store-not-writable",
    severity: "critical",
    title: "The relayer cannot write its state",
    description: "The store does not accept writes. The relayer sends nothing that it cannot record.",
    impact: `The relayer submits no results until the store works. ${STALE}`,
    problems: ["store-not-writable"],
    for: "1m",
    inhibits: [...LATE, "relayer-not-sending"],
  },
  {
    name: "relayer-lease-unknown",
    severity: "critical",
    title: "The relayer cannot read its lease",
    description:
      "The database with the lease does not respond, so this process sends nothing and cannot tell whether another process does.",
    impact: `While no process can reach the database, no result is submitted. ${STALE}`,
    problems: ["lease-unknown"],
    for: "1m",
    inhibits: [...LATE, "relayer-not-sending", "relayer-store-not-writable"],
  },
  {
    name: "relayer-no-leader",
    severity: "critical",
    title: "No relayer instance is the leader",
    description: "No instance of the job holds the lease, so no instance submits results.",
    impact: `No result is submitted. ${STALE}`,
    expr: () => 'max by (job) (relaywatch_relayer_role{role=~"leader|starting"}) == 0',
    for: "2m",
    inhibits: ["relayer-queries-overdue", "relayer-standing-still"],
    scope: ["job"],
    example: {
      fires: [
        at("role", 0, 'role="leader"'),
        at("role", 0, 'role="starting"'),
        at("role", 1, 'role="standby"'),
      ],
      clears: [at("role", 1, 'role="leader"')],
    },
  },
];
