import { updateHeader } from "../../../../support/comet/light-block.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHex } from "../../../../../src/platform/base/bytes.ts";
import { updateClient } from "../../../../../src/localnet/chain/modules/ibc/client/keeper.ts";
import {
  exportGenesis,
  initGenesis,
  createIbcModule,
} from "../../../../../src/localnet/chain/modules/ibc/module.ts";
import { ibcKeeper } from "../../../../../src/localnet/chain/modules/ibc/keeper.ts";
import { openConnectionGenesis } from "../../../../../src/localnet/chain/modules/ibc/open-connection.ts";
import type { Context } from "../../../../../src/localnet/chain/runtime/context.ts";
import { ModuleError, QueryError } from "../../../../../src/localnet/chain/runtime/errors.ts";
import type { Any } from "../../../../../src/cosmos/proto/gen/google/protobuf/any.ts";
import { Header } from "../../../../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL, requireMessage } from "../../../../../src/cosmos/proto/registry.ts";
import { arbitraryBytes } from "../../../../support/proto/arbitrary-message.ts";
import { blockTimeNs, createSigners, signBlock } from "../../../../support/comet/signed-chain.ts";
import { createMemoryChain, type MemoryChain } from "../../../../support/ibc/memory-chain.ts";

const CLIENT = "07-tendermint-0";
const SECOND = 1_000_000_000n;
const SETTINGS = {
  trustingPeriodNs: 60n * SECOND,
  unbondingPeriodNs: 99n * SECOND,
  maxClockDriftNs: 10n * SECOND,
};
const signers = createSigners("property", [3n, 2n, 2n]);
const blocks = Array.from({ length: 80 }, (_, index) =>
  signBlock(signers, { chainId: "remote-1", height: BigInt(index + 1) }),
);

function blockAt(height: number): (typeof blocks)[number] {
  const block = blocks[height - 1];
  if (block === undefined) throw new Error(`no block ${height}`);
  return block;
}

function headerAny(target: number, trusted: number): Any {
  const trustedHeight = { revisionNumber: 1n, revisionHeight: BigInt(trusted) };
  const header = updateHeader(blockAt(target), trustedHeight, blockAt(trusted + 1));
  return { typeUrl: TYPE_URL.tendermintHeader, value: Header.encode(header).finish() };
}

function connectedChain(): MemoryChain {
  const chain = createMemoryChain("local-1");
  const remote = blockAt(1);
  const options = { remote, settings: SETTINGS, ownChainId: "local-1", ownTimeNs: remote.header.timeNs };
  initGenesis(chain.at(1n, remote.header.timeNs), openConnectionGenesis(options));
  return chain;
}

/** A target height, and the index of the accepted height that it is verified from. */
type Step = readonly [target: number, pick: number];

/** Applies updates in order. Returns the accepted heights. */
function applyAll(chain: MemoryChain, sequence: readonly Step[]): readonly number[] {
  const accepted = [1];
  let now = 1;
  for (const [target, pick] of sequence) {
    now = Math.max(now, target);
    const trusted = accepted[pick % accepted.length] ?? 1;
    const context = chain.at(BigInt(now), blockTimeNs(BigInt(now)));
    if (trusted < blocks.length && isAccepted(context, headerAny(target, trusted))) accepted.push(target);
  }
  return accepted;
}

/** Whether an update is accepted. Rethrows any error but `ModuleError`. */
function isAccepted(context: Context, header: Any): boolean {
  try {
    context.atomically((inner) => updateClient(inner, CLIENT, header));
    return true;
  } catch (error) {
    if (error instanceof ModuleError) return false;
    throw error;
  }
}

function contents(chain: MemoryChain): readonly string[] {
  return Array.from(chain.store.iterate(), ([key, value]) => `${toHex(key)} ${toHex(value)}`);
}

const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 80 }), fc.nat({ max: 20 })), { maxLength: 15 });

describe("any sequence of updates", () => {
  it("stores three metadata entries with each consensus state, and the greatest height as the latest", () => {
    let updates = 0;
    fc.assert(
      fc.property(steps, (sequence) => {
        const chain = connectedChain();
        const accepted = applyAll(chain, sequence);
        updates += accepted.length - 1;
        const context = chain.at(100n, blockTimeNs(80n));
        const latest = ibcKeeper.clientLatestHeight(context, CLIENT)?.revisionHeight;
        expect(latest).toBe(BigInt(Math.max(...accepted)));
        const keys = Array.from(chain.store.iterate(), ([key]) => Buffer.from(key).toString("latin1"));
        const states = keys.filter((key) => /consensusStates\/1-\d+$/.test(key));
        for (const key of states) {
          expect(keys).toContain(`${key}/processedTime`);
          expect(keys).toContain(`${key}/processedHeight`);
        }
        expect(keys.filter((key) => key.includes("onsensusStates"))).toHaveLength(4 * states.length);
      }),
      { numRuns: 40, seed: 7 },
    );
    expect(updates).toBeGreaterThan(60);
  });

  it("leads to the same store twice, and after export and import", () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const [one, two] = [connectedChain(), connectedChain()];
        expect(applyAll(one, sequence)).toEqual(applyAll(two, sequence));
        expect(contents(one)).toEqual(contents(two));
        const copy = createMemoryChain("local-1");
        initGenesis(copy.at(1n, 0n), exportGenesis(one.at(1n, 0n)));
        expect(contents(copy)).toEqual(contents(one));
      }),
      { numRuns: 20 },
    );
  });
});

describe("untrusted bytes", () => {
  const module = createIbcModule({ bech32Prefix: "neutron", authority: "neutron1x" });

  it("as a header fail with a `ModuleError`", () => {
    const header = headerAny(9, 1).value;
    const mutation = fc.array(
      fc.tuple(fc.nat({ max: header.length - 1 }), fc.integer({ min: 0, max: 255 })),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    const chain = connectedChain();
    const codes = new Map<string, number>();
    fc.assert(
      fc.property(mutation, fc.nat({ max: header.length }), (changes, cut) => {
        const value = header.slice();
        for (const [at, byte] of changes) value[at] = byte;
        for (const bytes of [value, value.slice(0, cut)]) {
          const context = chain.at(50n, blockTimeNs(9n));
          const code = codeOf(() =>
            context.atomically((inner) =>
              updateClient(inner, CLIENT, { typeUrl: TYPE_URL.tendermintHeader, value: bytes }),
            ),
          );
          codes.set(code, (codes.get(code) ?? 0) + 1);
        }
      }),
      { numRuns: 300 },
    );
    expect([...codes.keys()]).not.toContain("bug");
    // Damage is refused, except in fields that the verifier does not read.
    expect(codes.get("undefined")).toBeGreaterThan(300);
    expect(codes.get("response") ?? 0).toBeLessThan(200);
  });

  it("as messages and queries fail with an error that has a code", () => {
    const chain = connectedChain();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (noise) => {
        const context = chain.at(50n, blockTimeNs(9n));
        for (const { handle } of module.messages) {
          expect(codeOf(() => handle(context, noise))).not.toBe("bug");
        }
        for (const { query } of module.queries) {
          expect(codeOf(() => query(context, noise))).not.toBe("bug");
        }
      }),
      { numRuns: 150 },
    );
  });

  it("as messages with arbitrary fields fail with an error that has a code", () => {
    const chain = connectedChain();
    const codes = new Set<string>();
    for (const { typeUrl, handle } of module.messages) {
      fc.assert(
        fc.property(arbitraryBytes(requireMessage(typeUrl.slice(1))), (bytes) => {
          const context = chain.at(50n, blockTimeNs(9n));
          codes.add(codeOf(() => context.atomically((inner) => handle(inner, bytes))));
        }),
        { numRuns: 30 },
      );
    }
    expect([...codes]).not.toContain("bug");
    // An address, the authority, and handlers that are not implemented.
    expect([...codes]).toEqual(expect.arrayContaining(["ibc", "sdk"]));
  });

  function codeOf(work: () => unknown): string {
    try {
      work();
      return "response";
    } catch (error) {
      if (error instanceof ModuleError) return error.codespace;
      return error instanceof QueryError ? `grpc ${error.grpcCode}` : "bug";
    }
  }
});
