import type { NodeObservation, Observation } from "../sources/observation.ts";
import { active, cannotSee, clear, type Condition, condition, type Verdict } from "./condition.ts";
import type { ConditionInput } from "./condition-input.ts";
import { judgeNodes, type NodeInput, secondsText, verdictOf } from "./judge.ts";
import { type NodeTrail, type Progress, UNSEEN } from "./trail.ts";

/** Alerts about votes and pay that follow when the node does not take part. */
const VOTE_ALERTS = [
  "oracle-calls-failing",
  "full-reward-fast-burn",
  "full-reward-slow-burn",
  "any-reward-fast-burn",
  "any-reward-slow-burn",
] as const;

const NODES_NOT_KEPT = { notKept: "heights of single nodes" };
const SET_NOT_KEPT = { notKept: "signatures and validator sets" };

/** Conditions of the validator's nodes and of its chain. */
export const NODE_CONDITIONS: readonly Condition[] = [
  condition({
    name: "chain-halted",
    severity: "critical",
    title: "Chain halted",
    when: "no source has shown a new block for `halt_after`",
    description:
      "The chain makes no block, as far as the watchdog can see: neither the validator's nodes nor the chain's API has a new one.",
    impact: "No block is lost, since none is made. Pay is counted by blocks.",
    action:
      "Search for an announcement of an upgrade or a halt. When other validators go on, this node is the problem: restart it.",
    for: "1m",
    resolveFor: "30s",
    thresholds: {
      halt_after: { unit: "duration", initial: 60_000, description: "time without a block" },
    },
    inhibits: ["node-halted", "node-not-voting", "not-signing", "node-behind", ...VOTE_ALERTS],
    past: "halts",
    judge: (input, limit) => judgeChain(input, limit("halt_after")),
  }),
  condition({
    name: "node-halted",
    severity: "critical",
    title: "Node halted",
    when: "a node has had no new block for `halt_after`, while another source shows new ones",
    description: "The node's process answers, but it follows the chain no longer.",
    impact: "The validator signs nothing and votes nothing: every block is missed, for both rates.",
    action: "Read the node's log, check its disk and its peers, and restart it.",
    for: "1m",
    resolveFor: "30s",
    thresholds: {
      halt_after: { unit: "duration", initial: 60_000, description: "time without a block" },
    },
    inhibits: ["node-behind", "node-not-voting", "not-signing", ...VOTE_ALERTS],
    past: NODES_NOT_KEPT,
    judge: (input, limit) => judgeNodes(input, (node) => judgeHalt(node, input, limit("halt_after"))),
  }),
  condition({
    name: "node-behind",
    severity: "critical",
    title: "Node behind",
    when: "a node is more than `max_blocks` behind the highest height that any source shows, or is catching up",
    description: "The node is catching up with the chain. It cannot vote until it has.",
    impact: "Every block until it has caught up is missed, for both rates.",
    action: "Check peers, disk and CPU of the node. After a long time down, use state sync.",
    for: "1m",
    resolveFor: "30s",
    thresholds: {
      max_blocks: { unit: "number", initial: 10, description: "blocks behind" },
    },
    inhibits: ["node-not-voting", "not-signing", ...VOTE_ALERTS],
    past: NODES_NOT_KEPT,
    judge: (input, limit) =>
      judgeNodes(input, (node) => judgeBehind(node, input.observation, limit("max_blocks"))),
  }),
  condition({
    name: "not-in-validator-set",
    severity: "critical",
    title: "Not in the validator set",
    when: "the chain's validator set does not have the validator",
    description: "The validator is jailed, was rotated out, or has too little stake.",
    impact: "No block counts until it is in the set again, which lowers the month's pay in proportion.",
    action: "Query the validator's status. When it is jailed, fix the cause and send an unjail transaction.",
    for: "1m",
    resolveFor: "1m",
    thresholds: {},
    inhibits: ["node-not-voting", "not-signing", ...VOTE_ALERTS],
    past: SET_NOT_KEPT,
    judge: ({ observation: { chain } }) => {
      if (chain.validator.state !== "up") return cannotSee("the validator set cannot be read");
      const { isInSet, size } = chain.validator.value;
      return verdictOf(!isInSet, isInSet ? "it is in the set" : `the set has ${size} other validators`);
    },
  }),
  condition({
    name: "not-signing",
    severity: "critical",
    title: "Validator does not sign",
    when: "the validator is in the set, and its last signature is more than `max_blocks` old, or the latest commits lack it",
    description: "Blocks are made without the signature of the validator.",
    impact: "A block without signature has no oracle vote either: it is missed for both rates.",
    action: "Check the signer and its connection to the node. Never start a second signer with the same key.",
    for: "30s",
    resolveFor: "30s",
    thresholds: {
      max_blocks: { unit: "number", initial: 5, description: "blocks without a signature" },
    },
    inhibits: ["node-not-voting", ...VOTE_ALERTS],
    past: SET_NOT_KEPT,
    judge: ({ observation }, limit) => judgeSigning(observation, limit("max_blocks")),
  }),
  condition({
    name: "node-not-voting",
    severity: "critical",
    title: "Node does not vote on prices",
    when: "the node has new blocks, but has made no oracle call for `stall_after`",
    description:
      "The node follows the chain without calling its sidecar. It does so when the oracle is disabled in app.toml, or when blocks cannot be prepared.",
    impact: "Every block is a missed oracle vote.",
    action:
      "Check [oracle] enabled in app.toml, and the node's log for errors of extend_vote. Then restart the node.",
    for: "1m",
    resolveFor: "30s",
    thresholds: {
      stall_after: { unit: "duration", initial: 60_000, description: "time without an oracle call" },
    },
    inhibits: [],
    past: NODES_NOT_KEPT,
    judge: (input, limit) => judgeNodes(input, (node) => judgeVoting(node, input, limit("stall_after"))),
  }),
];

/** Height of the newest block that any source shows. */
function highest({ nodes, chain }: Observation): bigint | undefined {
  const heights = [
    ...nodes.map(({ metrics }) => (metrics.state === "up" ? metrics.value.height : undefined)),
    chain.head.state === "up" ? chain.head.value.height : undefined,
  ].filter((height) => height !== undefined);
  return heights.length === 0 ? undefined : heights.reduce((a, b) => (a > b ? a : b));
}

/** Time without a new block of one source. */
interface Silence {
  readonly ms: number;
  /** The polls showed a new block, so the source was alive `ms` ago. Otherwise it was first seen `ms` ago. */
  readonly isAlive: boolean;
}

/** Returns the time since the source last showed a new block; undefined while it shows no height. */
function silenceOf(progress: Progress, height: bigint | undefined, atMs: number): Silence | undefined {
  const since = progress.advancedAtMs ?? progress.firstSeenMs;
  if (height === undefined || since === undefined) return undefined;
  return { ms: atMs - since, isAlive: progress.advancedAtMs !== undefined };
}

function nodeSilence(node: NodeObservation, { progress }: NodeTrail, atMs: number): Silence | undefined {
  return silenceOf(progress, node.metrics.state === "up" ? node.metrics.value.height : undefined, atMs);
}

/** Times without a block of all sources that show a height. */
function allSilences({ observation: { nodes, chain, atMs }, trail }: ConditionInput): readonly Silence[] {
  const { head } = chain;
  return [
    ...nodes.map((node) => nodeSilence(node, trail.nodes.get(node.name) ?? UNSEEN, atMs)),
    silenceOf(trail.chain, head.state === "up" ? head.value.height : undefined, atMs),
  ].filter((silence) => silence !== undefined);
}

/** Whether a source has shown a new block lately. */
function goesOn(silences: readonly Silence[], haltAfterMs: number): boolean {
  return silences.some(({ ms, isAlive }) => isAlive && ms <= haltAfterMs);
}

function judgeChain(input: ConditionInput, haltAfterMs: number): Verdict {
  const all = allSilences(input);
  const height = highest(input.observation);
  if (goesOn(all, haltAfterMs)) return clear(`the chain is at height ${height}`);
  const ms = Math.min(...all.map((silence) => silence.ms));
  // Without a source, and after a start of the watchdog until the first new block.
  if (all.length === 0 || ms <= haltAfterMs) return cannotSee("no new block was seen yet");
  return active(`no block for ${secondsText(ms)}, at height ${height}`, ms);
}

function judgeHalt({ node, trail, atMs }: NodeInput, input: ConditionInput, haltAfterMs: number): Verdict {
  const silence = nodeSilence(node, trail, atMs);
  if (silence === undefined) return cannotSee("the node's height cannot be read");
  if (goesOn([silence], haltAfterMs)) return clear(`the node is at height ${trail.progress.height}`);
  if (silence.ms <= haltAfterMs) return cannotSee("no new block was seen yet");
  const reason = `no new block for ${secondsText(silence.ms)}, at height ${trail.progress.height}`;
  // Without another source that goes on, the chain may have halted: that is another condition.
  return goesOn(allSilences(input), haltAfterMs)
    ? active(reason, silence.ms)
    : cannotSee(`${reason}; no other source shows a later block`);
}

function judgeBehind({ node: { metrics } }: NodeInput, observation: Observation, maxBlocks: number): Verdict {
  const best = highest(observation);
  if (metrics.state !== "up") return cannotSee("the node's height cannot be read");
  const { height, isSyncing } = metrics.value;
  if (height === undefined || best === undefined)
    return isSyncing === true
      ? active("the node is catching up")
      : cannotSee("the node's height cannot be read");
  const behind = Number(best - height);
  const reason = `the node is ${behind} blocks behind height ${best}`;
  if (isSyncing === true) return active(`the node is catching up, ${behind} blocks behind`, behind);
  return behind > maxBlocks ? active(reason, behind) : clear(reason);
}

function judgeSigning({ nodes, chain }: Observation, maxBlocks: number): Verdict {
  const isInSet = chain.validator.state === "up" ? chain.validator.value.isInSet : undefined;
  if (isInSet === false) return cannotSee("the validator is not in the set");
  const lags = nodes.flatMap(({ metrics }) => {
    if (metrics.state !== "up") return [];
    const { height, lastSignedHeight, votingPower } = metrics.value;
    const signs = isInSet === true || (votingPower ?? 0n) > 0n;
    return height === undefined || lastSignedHeight === undefined || !signs
      ? []
      : [Number(height - lastSignedHeight)];
  });
  // Several nodes can sign for one validator. The one that signed last counts.
  const lag = lags.length === 0 ? undefined : Math.min(...lags);
  if (lag !== undefined && lag > maxBlocks) return active(`the last signature is ${lag} blocks old`, lag);
  if (chain.validator.state === "up" && chain.validator.value.signedLatest === false)
    return lag === undefined
      ? active("the latest commit lacks its signature")
      : cannotSee("one commit lacks its signature");
  if (lag === undefined && chain.validator.state !== "up") return cannotSee("signatures cannot be read");
  return clear("it signs");
}

function judgeVoting({ node, trail, atMs }: NodeInput, input: ConditionInput, stallAfterMs: number): Verdict {
  const { metrics } = node;
  if (metrics.state !== "up") return cannotSee("the node's page cannot be read");
  const { votingPower, success, failure, isSyncing } = metrics.value;
  const { validator } = input.observation.chain;
  const isInSet = validator.state === "up" ? validator.value.isInSet : undefined;
  if (isSyncing === true || isInSet === false) return cannotSee("the node does not take part now");
  // A node without any call since its start, and not known to sign for the validator, may be a full node.
  const votes = (votingPower ?? 0n) > 0n || success + failure > 0n;
  if (!votes) return cannotSee("nothing shows that this node votes");
  const blocks = nodeSilence(node, trail, atMs);
  if (blocks === undefined || !goesOn([blocks], stallAfterMs)) return cannotSee("the node has no new block");
  const lastMs = Math.max(trail.lastGoodMs ?? 0, trail.lastBadMs ?? 0);
  // Of the time in which the node was not seen, nothing says when it called.
  const quietMs = atMs - Math.max(lastMs, trail.seenSinceMs ?? atMs);
  if (quietMs > stallAfterMs)
    return active(`no oracle call for ${secondsText(quietMs)}, while the node has new blocks`, quietMs);
  return lastMs === 0 ? cannotSee("no oracle call was seen yet") : clear("the node calls its sidecar");
}
