import type { Deviation } from "./deviation.ts";

/** Deviations in the `interchainqueries` module. */
export const ICQ_DEVIATIONS = {
  icqRemovedEvent: {
    subject: "`query_removed`",
    specification: "four attributes",
    deployed: "eight",
    here: "four, as in the specification's table",
    isSwitch: true,
  },
  icqOwnerRemoval: {
    subject: "removal by the owner",
    specification: '"and the submit timeout has not passed"',
    deployed: "at any time",
    here: 'at any time: after the timeout, "any sender" includes the owner',
  },
  icqRefund: {
    subject: "refund",
    specification: '"refunded", recipient not stated',
    deployed: "to the sender of the removal message",
    here: "to the sender",
  },
  icqTimeoutOverflow: {
    subject: "height plus submit timeout",
    specification: "not stated",
    deployed: "wraps around at 2^64, so anybody can immediately remove a query with a huge timeout",
    here: "exact: a huge timeout never passes",
    isSwitch: true,
  },
  icqRemovalLimit: {
    subject: "`tx_query_removal_limit`",
    specification: "at most this many TX queries at the end of each block",
    deployed: "this many queries and this many hashes; 0 means no limit",
    here: "as deployed, which stays within the specification's limit",
  },
  icqFailedProof: {
    subject: "failed KV proof",
    specification: "1112 exists",
    deployed: "1112 (9.1.3: 1107)",
    here: "1112",
  },
  icqAbsentProof: {
    subject: "proof absent or not decodable",
    deployed: "1110 (9.1.3: 1107)",
    here: "1110",
  },
  icqCheckOrder: {
    subject: "KV check order",
    specification: "not stated",
    deployed: "height before value count (9.1.3: the same); for each value: proof, key, path, proof",
    here: "as recorded",
  },
  icqEmptyProof: {
    subject: "empty proof operation list",
    deployed: "panics (111222)",
    here: '1112, "proof cannot be empty"',
  },
  icqAbsentResponse: {
    subject: "TX result without `response`",
    deployed: "panics (111222)",
    here: '1111 with "response is missing: invalid type"',
  },
  icqUnpayableDeposit: {
    subject: "deposit that cannot be paid out",
    deployed: "panics (111222)",
    here: "the bank module's error",
  },
  icqNullKey: {
    subject: "`keys:[null]` in a contract message",
    deployed: "panics",
    here: 'sdk/29 "key cannot be nil"',
  },
  icqListQuery: {
    subject: "custom list query",
    deployed: "panics without pagination; a page with it",
    here: "panics without pagination; all queries with it",
    isSwitch: true,
  },
  icqProofSpecs: {
    subject: "proof specs",
    deployed: "from the client state",
    here: "the SDK's two, which every Cosmos client has",
  },
  icqRemoteRevision: {
    subject: "LastRemoteHeight `revision`",
    specification: '"revision"',
    deployed: "always 0",
    here: "0: the deployed chain's clients rely on it",
  },
  icqGenesisExport: {
    subject: "genesis export",
    deployed: "loses results, hashes, removal marks and the last id",
    here: "exports them in additional fields",
  },
  icqSourcePaths: {
    subject: "source paths in error texts",
    deployed: "` [path/keeper.go:102]`",
    here: "absent",
  },
  icqTelemetry: {
    subject: "telemetry timer `register_interchain_query`",
    deployed: "recorded by register and submit",
    here: "absent; the node has its own metrics",
  },
} as const satisfies Readonly<Record<string, Deviation>>;

/** Deviations in transfers and transfer limits. */
export const TRANSFER_DEVIATIONS = {
  transferDestination: {
    subject: "the packet object's `destination_port`, `destination_channel`",
    specification: "`omitted`",
    deployed: "`omitted` in `send_packet` only",
    here: "as deployed: the limiter needs a received packet's channel",
  },
  transferSequence: {
    subject: "the packet object's `sequence` in `send_packet`",
    specification: '"packet sequence"',
    deployed: "0: the limiter is asked before the channel assigns one",
    here: "as deployed; `recv_packet` and `undo_send` have the packet's",
  },
  transferTimeout: {
    subject: "the packet object's `timeout_timestamp`",
    specification: "0 when unset",
    deployed: "absent when unset",
    here: "specification",
    isSwitch: true,
  },
  transferMemo: {
    subject: "the packet object's `data`",
    specification: "four fields",
    deployed: "also `memo`, when there is one",
    here: "specification",
    isSwitch: true,
  },
  transferCode2: {
    subject: "code 2",
    specification: 'the contract\'s error text contains "rate limit exceeded"',
    deployed: "every contract failure; the words are added to its text",
    here: "as deployed: the reference limiter spells it differently",
  },
  transferCode4: {
    subject: "code 4",
    specification: "any other contract error",
    deployed: "an address that is not an account; undecodable data",
    here: "as deployed",
  },
} as const satisfies Readonly<Record<string, Deviation>>;

export const CONTRACT_DEVIATIONS = {
  contractQueries: {
    subject: "gRPC paths that binary contracts may query (`stargate`, `grpc`)",
    deployed: "a list: `'…' path is not allowed from the contract` for all others",
    here: "the list, and `AddressFailures` and `Failures` of `contractmanager` and `ValidatorDelegations` of `staking`. A path of the list without its module: `No route to query '…'`",
    isSwitch: true,
  },
} as const satisfies Readonly<Record<string, Deviation>>;

export const NODE_DEVIATIONS = {
  oracleResponsesType: {
    subject: "type of `app_oracle_responses`",
    specification: "counter",
    deployed: "gauge",
    here: "gauge. Its values only grow and begin again at 0 with the process, so `rate` and `increase` apply; the watchdog and the rules go by the name, not by the type",
  },
  extendedCommit: {
    subject: "first entry in a block's transactions",
    specification: "not stated",
    deployed: "the proposer's extended commit when vote extensions are on",
    here: "the extended commit where the chain has a sidecar (unsigned extensions, a zstd frame of stored blocks); otherwise a transaction",
  },
} as const satisfies Readonly<Record<string, Deviation>>;

/** Deviations in the price sidecar, whose profile is set by the command that starts the sidecar. */
export const SIDECAR_DEVIATIONS = {
  sidecarMetricNames: {
    subject: "names of its own metrics (8002)",
    specification: "`connect_…`",
    deployed: "`side_car_…`",
    here: "`connect_…`",
    isSwitch: true,
  },
  sidecarPricePath: {
    subject: "path of the prices",
    specification: "`/connect/oracle/v2/prices`",
    deployed: "some builds have `/slinky/oracle/v1/prices` alone",
    here: "both",
  },
} as const satisfies Readonly<Record<string, Deviation>>;
