import { describe, expect, it } from "vitest";
import type { LightBlockBytes } from "../../src/cosmos/client/chain-client.ts";
import type { WireMessage } from "../../src/cosmos/client/tx/tx-types.ts";
import type { LightClientState } from "../../src/cosmos/light-client/client-queries.ts";
import { MsgUpdateClient } from "../../src/cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { Header } from "../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { utf8 } from "../../src/platform/base/bytes.ts";
import {
  createDryIntermediateHeaders,
  createIntermediateHeaders,
} from "../../src/relayer/connection/intermediate-headers.ts";
import { encodeHeader, encodeValidators } from "../fuzz/relayer/sim-header.ts";
import { createManualClock } from "../support/manual-clock.ts";

const signal = new AbortController().signal;
const client: LightClientState = {
  clientId: "07-tendermint-0",
  chainId: "test-2",
  latestHeight: { revision: 2n, height: 10n },
  trustingPeriodNs: 1n,
  trustLevel: { numerator: 1n, denominator: 3n },
};

function blockAt(height: bigint, names: readonly string[]): LightBlockBytes {
  const validators = names.map((name) => utf8(name.padEnd(20)));
  const empty = new Uint8Array();
  const header = { chainId: "test-2", height, timeNs: height, appHash: empty, dataHash: empty };
  return {
    height,
    timeNs: height,
    appHash: empty,
    signedHeader: encodeHeader(validators, { ...header, lastResultsHash: empty }),
    validatorSet: encodeValidators(validators),
  };
}

/** A chain whose validators change completely every `era` blocks. `reads` are the blocks that were read. */
function setUp(era: bigint, readMs = 0) {
  const clock = createManualClock(0);
  const reads: bigint[] = [];
  const sent: WireMessage[][] = [];
  const block = (height: bigint) => blockAt(height, [`v${height / era}`]);
  const deps = {
    remote: {
      lightBlock: async (height: bigint, inner: AbortSignal) => {
        reads.push(height);
        if (readMs > 0) await clock.sleep(readMs, inner);
        return block(height);
      },
    },
    clock,
    signer: "neutron1relayer",
    send: async (updates: readonly WireMessage[]) => void sent.push([...updates]),
  };
  const trustAt = (height: bigint) => ({
    height: { revision: 2n, height },
    validatorSet: block(height + 1n).validatorSet,
  });
  return { clock, deps, reads, sent, block, trustAt };
}

/** Heights of an update: the one that it is verified from, and its own. */
function heightsOf({ value }: WireMessage): readonly (bigint | undefined)[] {
  const header = Header.decode(MsgUpdateClient.decode(value).clientMessage?.value ?? new Uint8Array());
  return [header.trustedHeight?.revisionHeight, header.signedHeader?.header?.height];
}

describe("a bridge", () => {
  it("is the trusted height itself while enough of its validators sign, and for the next block", async () => {
    const { deps, reads, sent, block, trustAt } = setUp(1_000n);
    const intermediate = createIntermediateHeaders(deps, client, signal);
    const trust = trustAt(10n);
    expect(await intermediate(block(900n), trust)).toBe(trust);
    const last = trustAt(999n);
    expect(await intermediate(block(1_000n), last)).toBe(last);
    expect([reads, sent]).toEqual([[], []]);
  });

  it("updates the client in a chain, each update from the one before, and returns the last height", async () => {
    const { deps, sent, block, trustAt } = setUp(100n);
    const trust = await createIntermediateHeaders(deps, client, signal)(block(450n), trustAt(50n));
    expect(trust).toEqual(trustAt(399n));
    expect(sent.map((updates) => updates.map(heightsOf))).toEqual([
      [
        [50n, 99n],
        [99n, 199n],
        [199n, 299n],
        [299n, 399n],
      ],
    ]);
  });

  it("sends one way once, for headers that need it at the same time", async () => {
    const { deps, sent, block, trustAt } = setUp(100n);
    const intermediate = createIntermediateHeaders(deps, client, signal);
    const trusts = await Promise.all(
      [430n, 431n, 250n].map((height) => intermediate(block(height), trustAt(50n))),
    );
    expect(trusts.map(({ height }) => height.height)).toEqual([399n, 399n, 199n]);
    expect(sent).toHaveLength(1);
  });

  it("sends what it has of a way with too many headers, and says that it goes on", async () => {
    const { deps, sent, block, trustAt } = setUp(2n);
    await expect(createIntermediateHeaders(deps, client, signal)(block(101n), trustAt(1n))).rejects.toThrow(
      /^too few validators trusted by 07-tendermint-0 at height 1 signed block 101; the client was updated to height 3\d in between$/,
    );
    expect(sent[0]).toHaveLength(16);
  });

  it("sends what it has of a way that needs too many reads or too much time, so that the next cycle goes on from there", async () => {
    const far = setUp(5_000n);
    await expect(
      createIntermediateHeaders(far.deps, client, signal)(far.block(1_000_000n), far.trustAt(50n)),
    ).rejects.toThrow(/; the client was updated to height \d+ in between$/);
    expect(far.reads).toHaveLength(100);
    expect(far.sent[0]?.map(heightsOf)[0]).toEqual([50n, 4_999n]);

    const slow = setUp(100n, 4_000);
    const way = createIntermediateHeaders(slow.deps, client, signal)(slow.block(450n), slow.trustAt(50n));
    const rejected = expect(way).rejects.toThrow(/; the client was updated to height \d\d in between$/);
    await slow.clock.advance(30_000);
    await rejected;
    expect(slow.sent).toHaveLength(1);
  });

  it("verifies each header from the nearest of the heights that it has reached", async () => {
    const { deps, sent, block, trustAt } = setUp(100n);
    const intermediate = createIntermediateHeaders(deps, client, signal);
    await intermediate(block(450n), trustAt(50n));
    // Not from itself.
    expect(await intermediate(block(399n), trustAt(50n))).toEqual(trustAt(299n));
    // From what was trusted, when that is nearer than what was reached.
    expect(await intermediate(block(650n), trustAt(420n))).toEqual(trustAt(599n));
    expect(sent[1]?.map(heightsOf)[0]).toEqual([420n, 499n]);
    // Those of the first way are not forgotten.
    expect(await intermediate(block(150n), trustAt(50n))).toEqual(trustAt(99n));
    expect(sent).toHaveLength(2);
  });

  it("gives up when the headers are not read in time, and ends with its signal", async () => {
    const { clock, deps, sent, block, trustAt } = setUp(100n, 20_000);
    const late = createIntermediateHeaders(deps, client, signal)(block(450n), trustAt(50n));
    const rejected = expect(late).rejects.toThrow("the headers between them could not be read in time");
    await clock.advance(30_000);
    await rejected;
    const stop = new AbortController();
    const ended = createIntermediateHeaders(deps, client, stop.signal)(block(450n), trustAt(50n));
    const aborted = expect(ended).rejects.toThrow("stop");
    stop.abort(new Error("stop"));
    await aborted;
    expect(sent).toEqual([]);
  });

  it("throws what the endpoint and the sending throw", async () => {
    const { deps, block, trustAt } = setUp(100n);
    const failing = { ...deps, remote: { lightBlock: () => Promise.reject(new Error("pruned")) } };
    await expect(
      createIntermediateHeaders(failing, client, signal)(block(450n), trustAt(50n)),
    ).rejects.toThrow("pruned");
    const refused = { ...deps, send: () => Promise.reject(new Error("refused")) };
    await expect(
      createIntermediateHeaders(refused, client, signal)(block(450n), trustAt(50n)),
    ).rejects.toThrow("refused");
  });

  it("that is dry collects the updates", async () => {
    const { deps, block, trustAt } = setUp(100n);
    const { intermediate, updates } = createDryIntermediateHeaders(deps, client, signal);
    expect((await intermediate(block(150n), trustAt(50n))).height.height).toBe(99n);
    expect(updates().map(heightsOf)).toEqual([[50n, 99n]]);
  });
});
