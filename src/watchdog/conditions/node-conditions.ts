import type { Observation } from "../sources/observation.ts";
import { active, cannotSee, clear, condition, threshold, valueOf } from "./condition.ts";
import type { Condition, ConditionResult } from "./condition.ts";
import { blockAges, eachNode, isProducing, nodeBlockAge, secondsText } from "./evaluate-nodes.ts";
import type { NodeInput } from "./evaluate-nodes.ts";
import { ascending } from "../../platform/base/order.ts";
import { haltText } from "../policy/upgrade-countdown.ts";
import { VOTE_ALERTS } from "./consequences.ts";
import { BLOCK_HEIGHT, HEIGHT, SECOND_HEIGHT, VALIDATOR, continued } from "./raw-metrics.ts";

const NODES_NOT_STORED = { notStored: "heights of individual nodes" };

/** Conditions on the validator's nodes and its chain. */
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
      // This applies without a source, and after a watchdog start until the first new block.
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
    when: "a node has had no new block for `halt_after`, while another source shows new ones",
    description: "The node's process responds, but no longer follows the chain.",
    impact: "The validator neither signs nor votes: it misses every block, for both rates.",
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
    description: "The node is behind the chain. It cannot vote until it has caught up.",
    impact: "The validator misses every block until the node has caught up, for both rates.",
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
];

/** Returns the height of the newest block that any source shows. */
function highest({ nodes, chain }: Observation): bigint | undefined {
  const heights = [...nodes.map(({ metrics }) => valueOf(metrics)?.height), valueOf(chain.head)?.height];
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
  // Unless another source shows new blocks, the chain itself may have halted, which is another condition.
  return isProducing(blockAges(input.whole), haltAfterMs)
    ? active(reason, age.ms)
    : cannotSee(`${reason}; no other source shows a later block`);
}

/** A node that has shown no new block for this long has halted, or will soon be seen as halted, which is a separate condition. */
const STILL_MS = 30_000;

function evaluateBehind(input: NodeInput, maxBlocks: number): ConditionResult {
  const { height, isSyncing } = valueOf(input.node.metrics) ?? {};
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
