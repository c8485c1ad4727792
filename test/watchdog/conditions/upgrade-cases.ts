import type { UpgradePlan } from "../../../src/watchdog/sources/upgrade-reading.ts";
import {
  all,
  type Change,
  failed,
  type Frame,
  notConfigured,
  START_MS,
  up,
  withChain,
} from "../../support/watchdog/frames.ts";
import type { Cases } from "./cases.ts";

/** Height of the healthy chain at {@link START_MS}. */
const HEIGHT = 3600n;
const HOUR = 3600n;

/** The chain plans an upgrade at this height. It makes one block a second. */
function planned(height: bigint, more: Partial<UpgradePlan> = {}): Change {
  const plan = { name: "v10", height, info: "", ...more };
  return withChain(() => ({ upgrade: up({ plan }) }));
}

/** The plan goes away when the chain is at its height. */
function done(height: bigint): Change {
  return (frame: Frame) => {
    const now = HEIGHT + BigInt(Math.floor((frame.observation.atMs - START_MS) / 1000));
    return now < height ? planned(height)(frame) : frame;
  };
}

const noBlockTime: Change = (frame) => ({ ...frame, assessment: undefined });

const missing = (height: bigint): Cases["missing"] => ({
  "the plan": all(
    planned(height),
    withChain(() => ({ upgrade: failed("timeout") })),
  ),
  "a chain in the configuration": withChain(() => ({ upgrade: notConfigured })),
  "the block time": all(planned(height), noBlockTime),
});

/** Cases of the conditions of planned upgrades. */
export const UPGRADE_CASES: Readonly<Record<string, Cases>> = {
  "upgrade-planned": {
    fires: planned(HEIGHT + 12n * HOUR),
    quiet: {
      "an upgrade in two days": planned(HEIGHT + 48n * HOUR),
      "a chain without the module": withChain(() => ({
        upgrade: { state: "absent", durationMs: 1 },
      })),
      "a plan whose height is over": planned(HEIGHT - 10n),
    },
    missing: missing(HEIGHT + 12n * HOUR),
  },
  "upgrade-imminent": {
    fires: planned(HEIGHT + HOUR - 600n),
    // After the changes began, 150 s later.
    alsoFires: { "an upgrade that is done": done(HEIGHT + 450n) },
    quiet: { "an upgrade in twelve hours": planned(HEIGHT + 12n * HOUR) },
    missing: missing(HEIGHT + HOUR - 600n),
  },
};
