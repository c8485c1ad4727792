import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const FAULTS = "test/relayer/integration/faults.test.ts";
const SITUATIONS = "test/relayer/integration/situations.test.ts";
const OTHER = "test/relayer/integration/other-relayer.test.ts";
const TRUSTED = "test/relayer/integration/trusted-header.test.ts";
const ENDPOINTS = "test/relayer/integration/endpoints.test.ts";
const VALIDATORS = "test/relayer/integration/validators-change.test.ts";
const RELAYER = "test/relayer/integration/relayer.test.ts";
const DEAD_LETTERS = "test/relayer/integration/dead-letters.test.ts";
const TX_SCAN = "test/relayer/integration/tx-scan.test.ts";
const STREAM = "test/cosmos/integration/client/websocket-subscription.test.ts";
const SIMULATION = "test/fuzz/relayer/simulation.test.ts";
const FAULT_PLAN = "test/fuzz/relayer/fault-plan.ts";
const SUBMITTER = "test/fuzz/relayer/submitter.test.ts";
const PROBLEMS = "test/fuzz/relayer/problems.test.ts";
const REFRESH = "test/fuzz/relayer/client-refresh.test.ts";
const KILL = "test/e2e/relayer-kill.test.ts";

/** A failure that the Go relayer is known for, and the tests that show what happens here: file and text of its title. */
type FailureRow = readonly [row: string, ...tests: (readonly [file: string, title: string])[]];

const WEBSOCKET: readonly FailureRow[] = [
  ["the WebSocket is reset", [FAULTS, "resets every connection"]],
  ["the WebSocket is closed cleanly", [FAULTS, "closes every connection"]],
  [
    "the WebSocket is half open and silent",
    [FAULTS, "accepts requests and never responds"],
    [STREAM, "reconnects when no frame arrives within the read deadline"],
  ],
  [
    "the outage is long",
    [
      PROBLEMS,
      "is over within five seconds after the node of the %s chain is back, however long it was away",
    ],
  ],
  ["queries change during the gap", [FAULTS, "net.register()"]],
  [
    "the subscription is refused",
    [STREAM, "tries again when the node has too many subscribers"],
    [FAULTS, "has no WebSocket"],
  ],
  [
    "the node cancels the subscription of a slow client",
    [STREAM, "renews a subscription that the node cancelled because we were slow"],
  ],
];

const QUERY_LIST: readonly FailureRow[] = [
  [
    "a burst of events overflows",
    [SITUATIONS, "when many queries are registered at once"],
    [STREAM, "replaces the notices that a slow reader misses by one `missed`"],
  ],
  [
    "one transaction removes and registers",
    [SITUATIONS, "when one transaction removes a query and registers another"],
  ],
  ["the announced query cannot be read", [FAULTS, "cannot read the query that an event announces"]],
  ["an event cannot be decoded", [STREAM, "reports missed when an event cannot be decoded, and goes on"]],
  ["the list cannot be read", [FAULTS, "cannot list the queries"]],
];

const RPC: readonly FailureRow[] = [
  ["the status of the local chain fails", [FAULTS, "cannot say its height"], [FAULTS, "responds with 502"]],
  [
    "the local RPC is down during a submission",
    [FAULTS, "loses the response to a broadcast"],
    [FAULTS, "cannot simulate"],
    [KILL, "loses and doubles nothing"],
  ],
  ["the status of the remote chain fails", [FAULTS, "responds with 429"], [ENDPOINTS, "responds with 503"]],
  ["the remote node is catching up", [FAULTS, "is catching up"]],
  [
    "the remote state is pruned, or not reached by a node behind a load balancer",
    [FAULTS, "does not have the state that is read"],
  ],
  [
    "the remote store is unknown",
    [RELAYER, "reports a query that cannot be answered, submits nothing for it, and answers the others"],
  ],
  ["the remote header is not available", [FAULTS, "has no headers"]],
  ["the remote node hangs on headers", [FAULTS, "never responds to the read of a header"]],
  [
    "the remote transaction index is off",
    [TX_SCAN, "a scan of a node's blocks finds what its index finds"],
    [FAULTS, "cannot search transactions"],
  ],
  ["the local transaction index is off", [FAULTS, "has no transaction index"]],
  ["a node is slow", [FAULTS, "is slow"], [SIMULATION, "delays no value when its searches hang"]],
  ["a node breaks off its responses", [FAULTS, "breaks off each response"]],
  ["a node stands still", [FAULTS, "has no new block"]],
  ["a node is of another chain", [FAULTS, "is a node of another chain"]],
  [
    "a node returns wrong proofs",
    [FAULTS, "returns wrong proofs"],
    [ENDPOINTS, "of the remote chain returns wrong proofs"],
  ],
  ["a node returns wrong headers", [FAULTS, "returns wrong headers"]],
];

const CLIENT: readonly FailureRow[] = [
  ["the trusting period is short", [REFRESH, "happens in time although nothing is due, and only then"]],
  ["the client is expired", [PROBLEMS, "client-expired"]],
  ["the client is frozen", [PROBLEMS, "client-frozen"]],
  [
    "the header after the trusted height is pruned",
    [TRUSTED, "costs nothing: the next trusted height is tried"],
  ],
  [
    "too few of the trusted validators signed the header",
    [VALIDATORS, "the client is updated through the headers between them, for values and for transactions"],
    [FAULT_PLAN, "validators change"],
  ],
  [
    "another relayer was faster",
    [OTHER, "do not count the results of the other as failures, and none backs off"],
  ],
];

const TX_QUERIES: readonly FailureRow[] = [
  ["a transaction is older than the consensus states", [SIMULATION, "new Set(deadLetters)"]],
  ["a transaction that failed matches", [SIMULATION, "recovers completely and violates no rule"]],
  [
    "a query is removed while its transactions are under way",
    [SITUATIONS, "when a query is removed while its results are on their way"],
  ],
  [
    "a callback fails or runs out of gas",
    [DEAD_LETTERS, "a rejected transaction whose error does not match"],
    [SUBMITTER, "is isolated in log2 steps"],
  ],
  ["a transaction is too large", [DEAD_LETTERS, "a transaction that no local transaction can hold"]],
  [
    "sequence, funds or mempool refuse a transaction",
    [FAULT_PLAN, "no funds"],
    [FAULT_PLAN, "shared account"],
    [FAULT_PLAN, "refuses some"],
  ],
  ["a transaction vanishes from the mempool", [FAULT_PLAN, "loses transactions"]],
  ["one busy TX query", [SIMULATION, "delays no value when its searches hang"]],
  [
    "results of a block are missing",
    [FAULTS, "has no results of blocks"],
    [FAULTS, "returns fewer results than the block has transactions"],
  ],
];

const VALUES: readonly FailureRow[] = [
  [
    "a value is empty",
    [RELAYER, "reports a query that cannot be answered, submits nothing for it, and answers the others"],
  ],
  [
    "the keys change under way",
    [SITUATIONS, "when the keys of a query change while its results are on their way"],
  ],
];

const PROCESS: readonly FailureRow[] = [
  ["the process is killed", [KILL, "loses and doubles nothing"]],
  [
    "the process ends with a wrong exit code",
    ["test/e2e/bad-input.test.ts", "ends with 78 and the place of every error"],
    [KILL, "expect(await last.exited).toBe(0)"],
  ],
  ["a process that does nothing looks healthy", [PROBLEMS, "is on /readyz, page, metrics and log"]],
];

const ROWS = [...WEBSOCKET, ...QUERY_LIST, ...RPC, ...CLIENT, ...TX_QUERIES, ...VALUES, ...PROCESS];

describe("each failure that the Go relayer is known for has a test", () => {
  it.each(ROWS.map(([row, ...tests]) => [row, tests] as const))("%s", (_row, tests) => {
    expect(tests.length).toBeGreaterThan(0);
    for (const [file, title] of tests) expect(readFileSync(file, "utf8"), file).toContain(title);
  });
});
