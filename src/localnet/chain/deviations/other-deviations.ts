import type { Deviation } from "./deviation.ts";

/** Deviations in the `interchainqueries` module. */
export const ICQ_DEVIATIONS = {
  icqRemovedEvent: {
    subject: "`query_removed` event",
    specification: "four attributes",
    deployed: "eight attributes",
    here: "four attributes, as in the specification's table",
    isSwitch: true,
  },
  icqOwnerRemoval: {
    subject: "removal of a query by its owner",
    specification: 'allowed while "the submit timeout has not passed"',
    deployed: "allowed at any time",
    here: 'allowed at any time, because after the timeout the specification\'s "any sender" includes the owner',
  },
  icqRefund: {
    subject: "refund of a deposit",
    specification: '"refunded", recipient not stated',
    deployed: "the sender of the removal message receives the deposit",
    here: "as deployed",
  },
  icqTimeoutOverflow: {
    subject: "sum of height and submit timeout",
    specification: "not stated",
    deployed: "the sum wraps around at 2^64, so anybody can immediately remove a query with a huge timeout",
    here: "the sum is computed without overflow, so a query with a huge timeout never expires",
    isSwitch: true,
  },
  icqRemovalLimit: {
    subject: "`tx_query_removal_limit`",
    specification: "limits how many TX queries are removed at the end of each block",
    deployed: "limits the TX queries and the transaction hashes that each block removes; 0: no limit",
    here: "as deployed, because the deployed limit covers the specification's limit",
  },
  icqFailedProof: {
    subject: "error code for a failed KV proof",
    specification: "1112 exists",
    deployed: "1112 (9.1.3: 1107)",
    here: "1112",
  },
  icqAbsentProof: {
    subject: "error code for an absent or undecodable proof",
    deployed: "1110 (9.1.3: 1107)",
    here: "1110",
  },
  icqCheckOrder: {
    subject: "order of the checks on a KV result",
    specification: "not stated",
    deployed:
      "the chain first checks the height and the number of values (also in 9.1.3). Then, for each value, it decodes the proof, checks key and path, and verifies the proof",
    here: "as recorded",
  },
  icqEmptyProof: {
    subject: "empty list of proof operations",
    deployed: "panics (111222)",
    here: 'the message fails with code 1112, "proof cannot be empty"',
  },
  icqAbsentResponse: {
    subject: "TX result without `response`",
    deployed: "panics (111222)",
    here: 'fails with code 1111, "response is missing: invalid type"',
  },
  icqUnpayableDeposit: {
    subject: "removal of a query whose deposit cannot be refunded",
    deployed: "panics (111222)",
    here: "fails with the bank module's error",
  },
  icqNullKey: {
    subject: "`keys:[null]` in a contract message",
    deployed: "panics",
    here: 'fails with sdk/29, "key cannot be nil"',
  },
  icqListQuery: {
    subject: "contracts' custom list query",
    deployed: "panics without `pagination`; otherwise returns one page",
    here: "panics without `pagination`; otherwise returns all matching queries",
    isSwitch: true,
  },
  icqProofSpecs: {
    subject: "proof specs",
    deployed: "from the client state",
    here: "the SDK's two proof specs (IAVL tree and simple Merkle tree), which every Cosmos chain's light client uses",
  },
  icqRemoteRevision: {
    subject: "`revision` in LastRemoteHeight",
    specification: '"revision"',
    deployed: "always 0",
    here: "always 0, as deployed, because clients rely on this value",
  },
  icqGenesisExport: {
    subject: "genesis export",
    deployed: "omits KV results, transaction hashes, removal marks and the last query id",
    here: "contains the complete state, with additional fields for the state that the deployed chain omits",
  },
  icqSourcePaths: {
    subject: "source paths in error texts",
    deployed: "` [path/keeper.go:102]`",
    here: "omitted",
  },
  icqTelemetry: {
    subject: "telemetry timer `register_interchain_query`",
    deployed: "the timer is recorded for registrations and submissions",
    here: "the timer is not recorded, because the local node has its own metrics",
  },
} as const satisfies Readonly<Record<string, Deviation>>;

/** Deviations in transfers and transfer limits. */
export const TRANSFER_DEVIATIONS = {
  transferDestination: {
    subject: "the packet object's `destination_port` and `destination_channel`",
    specification: "`omitted`",
    deployed: "`omitted` only in `send_packet`",
    here: "as deployed, because the rate limiter needs the channel of a received packet",
  },
  transferSequence: {
    subject: "the packet object's `sequence` in `send_packet`",
    specification: '"packet sequence"',
    deployed: "0, because the limiter is called before the channel assigns a sequence",
    here: "as deployed; `recv_packet` and `undo_send` contain the packet's sequence",
  },
  transferTimeout: {
    subject: "the packet object's `timeout_timestamp`",
    specification: "0 when unset",
    deployed: "absent when unset",
    here: "as specified",
    isSwitch: true,
  },
  transferMemo: {
    subject: "the packet object's `data`",
    specification: "four fields",
    deployed: "four fields, plus `memo` if the packet has one",
    here: "as specified",
    isSwitch: true,
  },
  transferCode2: {
    subject: "error code 2",
    specification: 'the limiter contract\'s error text contains "rate limit exceeded"',
    deployed: 'every failure of the limiter contract; the chain adds "rate limit exceeded" to the error text',
    here: 'as deployed, because the reference limiter writes "Rate Limit exceeded" with capital letters',
  },
  transferCode4: {
    subject: "error code 4",
    specification: "any other error of the limiter contract",
    deployed: "an address that is not an account, or data that cannot be decoded",
    here: "as deployed",
  },
} as const satisfies Readonly<Record<string, Deviation>>;

export const CONTRACT_DEVIATIONS = {
  contractQueries: {
    subject: "gRPC paths that binary contracts may query (`stargate`, `grpc`)",
    deployed:
      "contracts may query the paths on a fixed list; all other paths fail with `'…' path is not allowed from the contract`",
    here: "the deployed list, plus `AddressFailures` and `Failures` of `contractmanager`, and `ValidatorDelegations` of `staking`. A listed path whose module the chain lacks fails with `No route to query '…'`",
    isSwitch: true,
  },
} as const satisfies Readonly<Record<string, Deviation>>;

export const NODE_DEVIATIONS = {
  oracleResponsesType: {
    subject: "type of `app_oracle_responses`",
    specification: "counter",
    deployed: "gauge",
    here: "gauge. The metric only grows, and restarts at 0 with the process, so `rate` and `increase` still work. The watchdog and the alert rules select the metric by name, not by type",
  },
  extendedCommit: {
    subject: "first entry in a block's transactions",
    specification: "not stated",
    deployed: "the proposer's extended commit when vote extensions are on",
    here: "the extended commit if the chain has a sidecar, with unsigned vote extensions in an uncompressed zstd frame; otherwise, a transaction",
  },
} as const satisfies Readonly<Record<string, Deviation>>;

/** Deviations in the price sidecar, whose profile is set by the command that starts the sidecar. */
export const SIDECAR_DEVIATIONS = {
  sidecarMetricNames: {
    subject: "names of the sidecar's own metrics (port 8002)",
    specification: "`connect_…`",
    deployed: "`side_car_…`",
    here: "`connect_…`",
    isSwitch: true,
  },
  sidecarPricePath: {
    subject: "path for prices",
    specification: "`/connect/oracle/v2/prices`",
    deployed: "only `/slinky/oracle/v1/prices` in some builds",
    here: "both paths",
  },
} as const satisfies Readonly<Record<string, Deviation>>;
