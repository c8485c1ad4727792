import { type Observation, readingOf } from "../sources/observation.ts";
import {
  BLOCK_HEIGHT,
  call,
  continued,
  HEIGHT,
  LAST_SIGNED,
  POWER,
  SECOND_HEIGHT,
  SUCCESSES,
  VALIDATOR,
} from "./raw-metrics.ts";
import { active, cannotSee, clear, condition, LOSS_ALERTS, threshold, VOTE_ALERTS } from "./condition.ts";
import type { Condition, ConditionInput, ConditionResult } from "./condition.ts";
import { blockAges, eachNode, isProducing, nodeBlockAge, secondsText } from "./evaluate-nodes.ts";
import type { NodeInput } from "./evaluate-nodes.ts";
import { ascending } from "../../platform/base/order.ts";
import { haltText } from "../policy/upgrade-countdown.ts";
import { standingOf } from "../policy/standing.ts";
import { allMissedText } from "../policy/standing-texts.ts";

const NODES_NOT_STORED = { notStored: "heights of individual nodes" };
const SET_NOT_STORED = { notStored: "signatures and validator sets" };

/** Conditions about the validator's nodes, set membership, signatures and oracle calls. */
export const NODE_CONDITIONS: readonly Condition[] = [
  condition({
    name: "chain-halted",
    severity: "critical",
    title: "Chain halted",
    end: "the chain is at height 35120884",
    when: "no source has shown a new block for `halt_after`",
    description:
      "The chain appears to have halted: neither the validator's nodes nor the chain's API shows a new block.",
    impact: "None: the chain makes no blocks, so the validator misses none.",
    action:
      "Check for an announcement of an upgrade or a halt. If other validators are making blocks, restart this node.",
    for: "1m",
    thresholds: { halt_after: threshold("duration", 60_000, "time without a block") },
    inhibits: ["node-halted", "node-not-voting", "not-signing", "node-behind", ...VOTE_ALERTS],
    past: "halts",
    raw: {
      expr: (times) => `max ${VALIDATOR} (changes(${BLOCK_HEIGHT}[${times("1m")}])) == 0`,
      value: "None of the validator's nodes has a new block.",
      example: { fires: [{ series: HEIGHT, from: 100 }], clears: [continued(HEIGHT, 60)] },
    },
    evaluate: (input, limit) => {
      const all = blockAges(input);
      const height = highest(input.observation);
      const haltAfterMs = limit("halt_after");
      if (isProducing(all, haltAfterMs)) return clear(`the chain is at height ${height}`);
      const ms = Math.min(...all.map((age) => age.ms));
      // Either no source shows a height, or the watchdog has just started and has not seen a new block yet.
      if (all.length === 0 || ms <= haltAfterMs) return cannotSee("no new block has been seen yet");
      const why = haltText(input.history.upgrade, height, "chain");
      return active(`the chain has had no block for ${secondsText(ms)}, at height ${height}${why}`, ms);
    },
  }),
  condition({
    name: "node-halted",
    severity: "critical",
    title: "Node halted",
    end: "the node is at height 35121884",
    when: "a node has had no new block for `halt_after`, while another source shows new blocks",
    description: "The node responds, but no longer follows the chain.",
    impact:
      "The validator neither signs nor votes, so every block is a miss in both the block rate and the vote rate.",
    action: "Read the node's log, check its disk and peers, and restart it.",
    for: "30s",
    thresholds: { halt_after: threshold("duration", 60_000, "time without a block") },
    inhibits: ["node-behind", "node-not-voting", "not-signing", ...VOTE_ALERTS],
    past: NODES_NOT_STORED,
    raw: {
      expr: (times) =>
        `min ${VALIDATOR} (changes(${BLOCK_HEIGHT}[${times("1m")}])) == 0 and max ${VALIDATOR} (changes(${BLOCK_HEIGHT}[${times("1m")}])) > 0`,
      value: "One of the validator's nodes has no new block, while another has one.",
      example: {
        fires: [
          { series: HEIGHT, from: 100 },
          { series: SECOND_HEIGHT, from: 100, step: 60 },
        ],
        clears: [continued(HEIGHT, 60)],
      },
    },
    evaluate: eachNode((input, limit) => evaluateHalt(input, limit("halt_after"))),
  }),
  condition({
    name: "node-behind",
    echo: "minutes",
    severity: "critical",
    title: "Node behind",
    end: "the node is 0 blocks behind height 35121884",
    when: "a node that still receives new blocks is more than `max_blocks` behind the highest height shown by any source, or is catching up",
    description: "The node is behind the chain, and cannot vote until it has caught up.",
    impact: "Until the node has caught up, every block is a miss in both the block rate and the vote rate.",
    action: "Check the node's peers, disk and CPU. After a long downtime, use state sync.",
    for: "1m",
    thresholds: { max_blocks: threshold("number", 10, "blocks behind") },
    inhibits: ["node-not-voting", "not-signing", ...VOTE_ALERTS],
    past: NODES_NOT_STORED,
    raw: {
      expr: () =>
        `max ${VALIDATOR} (${BLOCK_HEIGHT}) - min ${VALIDATOR} (${BLOCK_HEIGHT}) > 10 or max ${VALIDATOR} (cometbft_blocksync_syncing) == 1`,
      value: "A node is catching up or is more than 10 blocks behind another.",
      example: {
        fires: [
          { series: HEIGHT, from: 100, step: 60 },
          { series: SECOND_HEIGHT, from: 200, step: 60 },
        ],
        clears: [
          { series: HEIGHT, from: 1_000_000 },
          { series: SECOND_HEIGHT, from: 1_000_000 },
        ],
      },
    },
    evaluate: eachNode((input, limit) => evaluateBehind(input, limit("max_blocks"))),
  }),
  condition({
    name: "not-in-validator-set",
    severity: "critical",
    title: "Not in the validator set",
    end: "the validator is in the set",
    when: "the validator is not in the chain's validator set",
    description: "The validator is jailed, was rotated out, or has too little stake.",
    impact:
      "The validator earns nothing until it is back in the set, so the month's pay falls proportionally.",
    action: "Query the validator's status. If it is jailed, fix the cause and send an unjail transaction.",
    for: "1m",
    resolveFor: "1m",
    inhibits: ["node-not-voting", "not-signing", ...VOTE_ALERTS],
    past: SET_NOT_STORED,
    raw: {
      expr: () => `max ${VALIDATOR} (cometbft_consensus_validator_power) == 0`,
      value: "Its voting power is 0.",
      example: { fires: [{ series: POWER }], clears: [{ series: POWER, from: 10 }] },
    },
    evaluate: ({ observation: { chain } }) => {
      const validator = readingOf(chain.validator);
      if (validator === undefined) return cannotSee("the validator set cannot be read");
      if (validator.isInSet) return clear("the validator is in the set");
      const rotatedTo = readingOf(chain.slashing)?.rotatedTo;
      const key =
        rotatedTo === undefined
          ? ""
          : `; the validator's consensus key was changed to ${rotatedTo}: correct consensus_address`;
      return active(`the validator is not in the set, which has ${validator.size} others${key}`);
    },
  }),
  condition({
    name: "not-signing",
    echo: "minutes",
    severity: "critical",
    title: "Validator does not sign",
    end: "the validator signs",
    when: "the validator is in the set, but its last signature is more than `max_blocks` old, or the latest commits lack its signature",
    description: "The chain makes blocks without the validator's signature.",
    impact:
      "A block without the validator's signature has no oracle vote from the validator either, so it is a miss in both the block rate and the vote rate.",
    action: "Check the signer and its connection to the node. Never start a second signer with the same key.",
    for: "30s",
    thresholds: { max_blocks: threshold("number", 5, "blocks without a signature") },
    inhibits: [
      "node-not-voting",
      "cannot-see-node",
      "cannot-see-prices",
      "cannot-see-sidecar-metrics",
      ...VOTE_ALERTS,
    ],
    past: SET_NOT_STORED,
    others: "commits",
    raw: {
      expr: () =>
        `max ${VALIDATOR} (${BLOCK_HEIGHT}) - max ${VALIDATOR} (cometbft_consensus_validator_last_signed_height) > 5 and max ${VALIDATOR} (cometbft_consensus_validator_power) > 0`,
      value: "Its last signature is {{ $value }} blocks old.",
      example: {
        fires: [
          { series: POWER, from: 10 },
          { series: HEIGHT, from: 200, step: 60 },
          { series: LAST_SIGNED, from: 100 },
        ],
        clears: [{ series: LAST_SIGNED, from: 1_000_000 }],
      },
    },
    evaluate: (input, limit) => withJail(evaluateSigning(input.observation, limit("max_blocks")), input),
  }),
  condition({
    name: "node-not-voting",
    echo: "minutes",
    severity: "critical",
    title: "Node does not vote on prices",
    end: "the node calls its sidecar",
    when: "the node has new blocks, but has made no oracle call for `stall_after`",
    description:
      "The node follows the chain but does not call its sidecar. Either the oracle is disabled in app.toml, or the node cannot prepare blocks.",
    impact: "The validator misses its oracle vote in every block.",
    action:
      "Check [oracle] enabled in app.toml, and the node's log for extend_vote errors. Then restart the node.",
    for: "30s",
    thresholds: { stall_after: threshold("duration", 60_000, "time without an oracle call") },
    inhibits: LOSS_ALERTS,
    past: NODES_NOT_STORED,
    raw: {
      expr: (times) =>
        [
          `max ${VALIDATOR} (changes(${BLOCK_HEIGHT}[${times("1m")}])) > 0`,
          `and max ${VALIDATOR} (cometbft_consensus_validator_power) > 0`,
          `unless max ${VALIDATOR} (increase(app_oracle_responses[${times("1m")}])) > 0`,
        ].join("\n"),
      value: "It has new blocks, but app_oracle_responses does not grow, or is not collected.",
      example: {
        fires: [
          { series: POWER, from: 10 },
          { series: HEIGHT, from: 200, step: 60 },
          call("Success", 0, 100),
        ],
        clears: [continued(SUCCESSES, 60)],
      },
    },
    evaluate: eachNode((input, limit) => evaluateVoting(input, limit("stall_after"))),
  }),
];

/** Returns the height of the newest block that any source shows. */
function highest({ nodes, chain }: Observation): bigint | undefined {
  const heights = [...nodes.map(({ metrics }) => readingOf(metrics)?.height), readingOf(chain.head)?.height];
  return heights
    .filter((height) => height !== undefined)
    .toSorted(ascending)
    .at(-1);
}

function evaluateHalt(input: NodeInput, haltAfterMs: number): ConditionResult {
  const { height } = input.history.progress;
  const age = nodeBlockAge(input);
  if (age === undefined) return cannotSee("the node's height cannot be read");
  if (isProducing([age], haltAfterMs)) return clear(`the node is at height ${height}`);
  if (age.ms <= haltAfterMs) return cannotSee("no new block has been seen yet");
  const why = haltText(input.whole.history.upgrade, height, "node");
  const reason = `the node has had no new block for ${secondsText(age.ms)}, at height ${height}${why}`;
  // If no other source shows new blocks, the chain itself may have halted, which is a different condition.
  return isProducing(blockAges(input.whole), haltAfterMs)
    ? active(reason, age.ms)
    : cannotSee(`${reason}; no other source shows a later block`);
}

/** A node without a new block for this long has halted, which the node-halted condition reports. */
const STILL_MS = 30_000;

function evaluateBehind(input: NodeInput, maxBlocks: number): ConditionResult {
  const { height, isSyncing } = readingOf(input.node.metrics) ?? {};
  const best = highest(input.whole.observation);
  if (height === undefined || best === undefined)
    return isSyncing === true
      ? active("the node is catching up")
      : cannotSee("the node's height cannot be read");
  const behind = Number(best - height);
  const reason = `the node is ${behind} blocks behind height ${best}`;
  if (isSyncing === true) return active(`the node is catching up, ${behind} blocks behind`, behind);
  if (behind <= maxBlocks) return clear(reason);
  const age = nodeBlockAge(input);
  return age !== undefined && age.ms > STILL_MS
    ? cannotSee(`${reason}, and has no new block`)
    : active(reason, behind);
}

function evaluateSigning({ nodes, chain }: Observation, maxBlocks: number): ConditionResult {
  const validator = readingOf(chain.validator);
  if (validator?.isInSet === false) return cannotSee("the validator is not in the set");
  const lags = nodes.flatMap(({ metrics }) => {
    const { height, lastSignedHeight, votingPower = 0n } = readingOf(metrics) ?? {};
    const signs = validator !== undefined || votingPower > 0n;
    return height === undefined || lastSignedHeight === undefined || !signs
      ? []
      : [Number(height - lastSignedHeight)];
  });
  // Several nodes may sign for one validator, so use the most recent signature.
  const lag = lags.length === 0 ? undefined : Math.min(...lags);
  if (lag !== undefined && lag > maxBlocks)
    return active(`the validator's last signature is ${lag} blocks old`, lag);
  if (validator?.signedLatest === false)
    return lag === undefined
      ? active("the latest commit lacks the validator's signature")
      : cannotSee("one commit lacks its signature");
  return lag === undefined && validator === undefined
    ? cannotSee("signatures cannot be read")
    : clear("the validator signs");
}

/** Appends the time at which the validator will be jailed to the reason of an active result. */
function withJail(result: ConditionResult, input: ConditionInput): ConditionResult {
  if (result.kind !== "active") return result;
  const { window } = standingOf(input.observation, input.assessment?.blockTimeMs);
  return window?.ifAllMissed === undefined
    ? result
    : { ...result, reason: `${result.reason}; jail ${allMissedText(window)} if this continues` };
}

function evaluateVoting(input: NodeInput, stallAfterMs: number): ConditionResult {
  const { node, history, atMs, whole } = input;
  const reading = readingOf(node.metrics);
  if (reading === undefined) return cannotSee("the node's page cannot be read");
  const { votingPower = 0n, success, failure, isSyncing, votesUnseen } = reading;
  if (votesUnseen !== undefined) return cannotSee(votesUnseen);
  const isInSet = readingOf(whole.observation.chain.validator)?.isInSet;
  if (isSyncing === true || isInSet === false) return cannotSee("the node is not taking part now");
  // A node that has made no call since its start, and whose validator has no voting power, may be a full node.
  const votes = votingPower > 0n || success + failure > 0n;
  if (!votes) return cannotSee("nothing shows that this node votes");
  const blocks = nodeBlockAge(input);
  if (blocks === undefined || !isProducing([blocks], stallAfterMs))
    return cannotSee("the node has no new block");
  const lastMs = Math.max(history.lastGoodMs ?? 0, history.lastBadMs ?? 0);
  // If the watchdog could not read the node for a while, measure from the next reading, because earlier calls have unknown times.
  const quietMs = atMs - Math.max(lastMs, history.seenSinceMs ?? atMs);
  if (quietMs > stallAfterMs)
    return active(
      `the node has new blocks, but has made no oracle call for ${secondsText(quietMs)}`,
      quietMs,
    );
  return lastMs === 0 ? cannotSee("no oracle call has been seen yet") : clear("the node calls its sidecar");
}
