import {
  all,
  type Change,
  failed,
  notConfigured,
  START_MS,
  up,
  withAssessment,
  withChain,
  withNode,
  withoutPageValues,
  withoutSlashing,
  withSharedVotes,
  withSigningInfo,
  withSlashing,
} from "../../support/watchdog/frames.ts";
import type { Cases } from "./cases.ts";

const HOUR = 3_600_000;
/** Later than all frames. */
const LATER_MS = START_MS + 100 * HOUR;

const noSlashing = withChain(() => ({ slashing: failed("timeout") }));
const noModule = withChain(() => ({ slashing: { state: "absent", durationMs: 1 } }));
const notRead = withChain(() => ({ slashing: notConfigured }));
const noRecord = withoutSlashing("info");
/** All that a reading of the module needs is missing, one by one. */
const unread = (change: Change): Readonly<Record<string, Change>> => ({
  "the slashing module": all(change, noSlashing),
  "a slashing module of the chain": all(change, noModule),
  "the configuration of the chain": all(change, notRead),
});

const outOfSet = withChain(() => ({ validator: up({ size: 19, isInSet: false, votingPower: 0n }) }));
const jailed = all(
  outOfSet,
  withSigningInfo({ jailedUntilMs: LATER_MS }),
  withSlashing(() => ({ isJailed: true, unjail: { program: "neutrond", from: "neutron1own" } })),
);
const noOperator = withoutSlashing("isJailed");
const tombstoned = all(outOfSet, withSigningInfo({ isTombstoned: true, jailedUntilMs: LATER_MS }));

/** So many blocks of the window are missed, and so many of the last 60 were. */
const missing = (missed: bigint, recent: bigint): Change =>
  all(
    withSigningInfo({ missedBlocks: missed }),
    withSlashing(() => ({ growth: { missed: recent, blocks: 60n } })),
  );
const noGrowth = withoutSlashing("growth");
const noBlockTime = withAssessment(() => ({ blockTimeMs: undefined }));

/** Cases of the conditions of the signing window, the jail, and votes that many validators miss. */
export const JAIL_CASES: Readonly<Record<string, Cases>> = {
  "validator-tombstoned": {
    fires: tombstoned,
    quiet: { "a validator that is jailed for downtime": jailed },
    missing: unread(tombstoned),
  },
  "validator-jailed": {
    fires: jailed,
    alsoFires: {
      "a double sign": tombstoned,
      "a jail that has not ended, without operator_address": all(jailed, noOperator),
      "a stake that is too small, which has no time": all(jailed, withSigningInfo({ jailedUntilMs: 0 })),
      "a jail whose time is over, until it is released": all(
        jailed,
        withSigningInfo({ jailedUntilMs: START_MS }),
      ),
    },
    quiet: {
      "a validator that was released": withSigningInfo({ jailedUntilMs: START_MS }),
      "a validator that was rotated out": outOfSet,
    },
    missing: {
      ...unread(jailed),
      "operator_address, when the time of the jail is over": all(
        jailed,
        noOperator,
        withSigningInfo({ jailedUntilMs: START_MS }),
      ),
    },
  },
  "jail-near": {
    // 3,600 further misses at one a second.
    fires: missing(5901n, 60n),
    alsoFires: { "nine tenths that are used, at a slow rate": missing(8550n, 6n) },
    quiet: {
      "a second more than an hour": missing(5900n, 60n),
      "an outage that has just ended, and is still in the rate": all(
        missing(9400n, 60n),
        withSlashing(() => ({ growth: { missed: 60n, blocks: 60n, isOver: true } })),
      ),
      "nine tenths that are used, without a further miss": missing(9000n, 0n),
      "hardly less than nine tenths, at a slow rate": missing(8549n, 6n),
      "a rate at which the window never fills": missing(8000n, 9n),
      "a young validator, which cannot be jailed yet": (frame) => {
        const { head } = frame.observation.chain;
        const height = head.state === "up" ? head.value.height : 0n;
        // A window less an hour ago, and all missed since.
        return all(
          missing(6_000n, 60n),
          withSigningInfo({ startHeight: height - 6_000n, indexOffset: 6_000n }),
        )(frame);
      },
      "a validator that is jailed": all(missing(9000n, 60n), jailed),
      "a validator that was just jailed, in the set of the latest block": all(
        missing(9000n, 60n),
        withSlashing(() => ({ isJailed: true })),
      ),
      "a chain that jails nobody for downtime": all(
        missing(9000n, 60n),
        withSlashing(({ params }) => ({ params: { ...params, minSigned: 0n } })),
      ),
    },
    missing: {
      ...unread(missing(5901n, 60n)),
      "the rate": all(missing(9400n, 60n), noGrowth),
      "the time between blocks": all(missing(5901n, 60n), noBlockTime),
      "a record of the address": all(missing(5901n, 60n), noRecord),
    },
  },
  "jail-risk": {
    fires: missing(4750n, 0n),
    alsoFires: {
      "a quarter of the blocks, long before half is used": all(
        withSlashing(({ params }) => ({ params: { ...params, minSigned: 800_000_000_000_000_000n } })),
        missing(500n, 15n),
      ),
    },
    quiet: {
      "hardly less than half": missing(4749n, 0n),
      "a rate at which the window never fills": missing(2000n, 40n),
      "a validator out of the set": all(missing(9000n, 0n), outOfSet),
    },
    missing: { ...unread(missing(4750n, 0n)), "the rate": all(missing(4749n, 0n), noGrowth) },
  },
  "network-votes-missing": {
    fires: withSharedVotes({ missed: 30, missing: 10 }),
    alsoFires: {
      "half of its votes": withSharedVotes({ missed: 15, missing: 19 }),
      "exactly half of the others": withSharedVotes({ missed: 30, missing: 10, others: 20 }),
    },
    quiet: {
      "a validator that is alone": withSharedVotes({ missed: 30, missing: 0 }),
      "less than half of the others": withSharedVotes({ missed: 30, missing: 9 }),
      "others that miss without it": withSharedVotes({ missed: 14, missing: 19 }),
      "the only other validator": withSharedVotes({ missed: 30, missing: 1, others: 1 }),
    },
    missing: {
      "the votes of the others": all(
        withSharedVotes({ missed: 30, missing: 19 }),
        withoutPageValues("sharedVotes"),
      ),
      "the node's page": withNode(() => ({ metrics: failed() })),
    },
  },
};
