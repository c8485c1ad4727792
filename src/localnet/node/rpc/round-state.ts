import { upperHex } from "../../../platform/base/bytes.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
import { formatRfc3339Ns } from "../../../platform/base/time.ts";
import type { Validator } from "../../../cosmos/comet/block-types.ts";
import { totalPower } from "../../../cosmos/comet/validator-set.ts";

/** The state of consensus: the next height, before its first vote. */
export interface RoundState {
  readonly height: bigint;
  readonly startTimeNs: bigint;
  readonly validators: readonly Validator[];
  readonly proposerAddress: Uint8Array;
}

/** The `round_state` of `consensus_state`. It shows no votes, because all validators vote in one step. */
export function roundStateJson(state: RoundState): JsonObject {
  const { validators } = state;
  // A bit array of CometBFT: one underscore for each missing vote, then voted and total power.
  const bits = `BA{${validators.length}:${"_".repeat(validators.length)}} 0/${totalPower(validators)} = 0.00`;
  const votes = validators.map(() => "nil-Vote");
  return {
    "height/round/step": `${state.height}/0/1`,
    start_time: formatRfc3339Ns(state.startTimeNs),
    proposal_block_hash: "",
    locked_block_hash: "",
    valid_block_hash: "",
    height_vote_set: [
      { round: 0, prevotes: votes, prevotes_bit_array: bits, precommits: votes, precommits_bit_array: bits },
    ],
    proposer: {
      address: upperHex(state.proposerAddress),
      index: validators.findIndex(({ address }) => upperHex(address) === upperHex(state.proposerAddress)),
    },
  };
}
