import { updateHeader } from "../support/comet/light-block.ts";
import { updateClient } from "../../src/localnet/chain/modules/ibc/client/keeper.ts";
import { initGenesis } from "../../src/localnet/chain/modules/ibc/module.ts";
import { openConnectionGenesis } from "../../src/localnet/chain/modules/ibc/open-connection.ts";
import type { Any } from "../../src/cosmos/proto/gen/google/protobuf/any.ts";
import { Header } from "../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../src/cosmos/proto/registry.ts";
import { blockTimeNs, createSigners, signBlock } from "../support/comet/signed-chain.ts";
import { createMemoryChain } from "../support/ibc/memory-chain.ts";
import type { BenchRow } from "./bench-row.ts";
import { median, processorMs } from "./measure.ts";

const CHAIN = "remote-1";
const HOUR = 3_600_000_000_000n;
const SETTINGS = {
  trustingPeriodNs: 24n * HOUR,
  unbondingPeriodNs: 48n * HOUR,
  maxClockDriftNs: 10_000_000_000n,
};

/** Measured updates, and warm-up updates before them. */
const RUNS = 40;
const WARM_UP = 20;

/** Client updates in the module, decoding and storing included, for 4 and 100 validators; next heights and skipped ones. */
export function benchLightClient(): readonly BenchRow[] {
  return [4, 100].flatMap((validators) => [
    {
      name: `client update, ${validators} validators, next height`,
      ...measure(validators, 1n),
      unit: "updates/s",
    },
    {
      name: `client update, ${validators} validators, 10 heights on`,
      ...measure(validators, 10n),
      unit: "updates/s",
    },
  ]);
}

function measure(validators: number, step: bigint): { readonly value: number; readonly note: string } {
  const signers = createSigners(
    "bench",
    Array.from({ length: validators }, () => 10n),
  );
  const blockAt = (height: bigint): ReturnType<typeof signBlock> =>
    signBlock(signers, { chainId: CHAIN, height });
  const genesis = blockAt(1n);
  const chain = createMemoryChain("local-1");
  const options = {
    remote: genesis,
    settings: SETTINGS,
    ownChainId: "local-1",
    ownTimeNs: genesis.header.timeNs,
  };
  initGenesis(chain.at(1n, genesis.header.timeNs), openConnectionGenesis(options));
  const updates = Array.from(
    { length: WARM_UP + RUNS },
    (_, index): { readonly height: bigint; readonly any: Any } => {
      const trusted = 1n + step * BigInt(index);
      const trustedHeight = { revisionNumber: 1n, revisionHeight: trusted };
      const header = updateHeader(blockAt(trusted + step), trustedHeight, blockAt(trusted + 1n));
      return {
        height: trusted + step,
        any: { typeUrl: TYPE_URL.tendermintHeader, value: Header.encode(header).finish() },
      };
    },
  );
  const times = updates.map(({ height, any }) => {
    const start = processorMs();
    updateClient(chain.at(height, blockTimeNs(height)), "07-tendermint-0", any);
    return processorMs() - start;
  });
  const ms = median(times.slice(WARM_UP));
  return { value: 1_000 / ms, note: `${ms.toFixed(2)} ms each, median of ${RUNS}, processor time` };
}
