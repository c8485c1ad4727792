import { describe, expect, it } from "vitest";
import { readLightBlock } from "../../../src/cosmos/client/light-block.ts";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import type { CallEndpoint } from "../../../src/cosmos/client/rpc-caller.ts";
import { headerHash, validatorsHash } from "../../../src/cosmos/comet/block-hashes.ts";
import { signedHeaderFromProto, validatorSetFromProto } from "../../../src/cosmos/comet/proto-blocks.ts";
import { SignedHeader } from "../../../src/cosmos/proto/gen/tendermint/types/types.ts";
import { ValidatorSet } from "../../../src/cosmos/proto/gen/tendermint/types/validator.ts";
import { equalBytes } from "../../../src/platform/base/bytes.ts";
import { fixtureText } from "../../support/client/fixture.ts";

interface RecordedBlock {
  readonly height: string;
  readonly signed_header: { readonly header: { readonly time: string } };
  readonly validators: readonly unknown[];
}

const recordings: readonly { readonly chain: string; readonly blocks: readonly RecordedBlock[] }[] = [
  "test-1",
  "test-2",
].map((chain) => ({ chain, blocks: JSON.parse(fixtureText(`light-client/${chain}.json`)).blocks }));

/** A node with one recorded block. It returns validators in pages of `perPage`. */
function nodeWith(block: RecordedBlock, perPage: number): CallEndpoint {
  return async (method, params) => {
    if (method === "commit") return { signed_header: block.signed_header, canonical: true };
    const page = Number(params["page"] ?? 1);
    if (page > 100) expect.unreachable("the pages do not end");
    const validators = block.validators.slice((page - 1) * perPage, page * perPage);
    return {
      block_height: block.height,
      validators,
      count: `${validators.length}`,
      total: `${block.validators.length}`,
    };
  };
}

describe.each(recordings)("recorded blocks of $chain", ({ blocks }) => {
  it("keep their hashes and times when encoded for a light client", async () => {
    let read = 0;
    for (const block of blocks)
      for (const perPage of [100, 1]) {
        const bytes = await readLightBlock(BigInt(block.height), nodeWith(block, perPage), "node");
        const signed = signedHeaderFromProto(SignedHeader.decode(bytes.signedHeader));
        const set = validatorSetFromProto(ValidatorSet.decode(bytes.validatorSet));
        expect(equalBytes(headerHash(signed.header), signed.commit.blockId.hash)).toBe(true);
        expect(equalBytes(validatorsHash(set.validators), signed.header.validatorsHash)).toBe(true);
        expect(bytes.height).toBe(BigInt(block.height));
        const nanos = block.signed_header.header.time.replace(/^.*\.(\d+)Z$/, "$1").padEnd(9, "0");
        expect(bytes.timeNs % 1_000_000_000n).toBe(BigInt(nanos));
        read += 1;
      }
    expect(read).toBe(blocks.length * 2);
    expect(blocks.length).toBeGreaterThan(8);
  });
});

describe("readLightBlock", () => {
  const blocks = recordings[1]?.blocks ?? [];
  const [first, second] = [blocks[0], blocks.find(({ validators }) => validators.length !== 4)];

  it("throws for another height, another validator set, and empty pages", async () => {
    if (first === undefined || second === undefined) throw new Error("no recorded blocks");
    const mixed = { ...first, validators: second.validators };
    const node = nodeWith(first, 100);
    const cases: readonly (readonly [bigint, CallEndpoint])[] = [
      [BigInt(first.height) + 1n, node],
      [BigInt(first.height), nodeWith(mixed, 100)],
      [BigInt(first.height), nodeWith(first, 0)],
    ];
    for (const [height, source] of cases)
      await expect(readLightBlock(height, source, "node")).rejects.toThrow(ClientError);
  });

  it.each([
    ["repeats a page", (page: number) => (page > 3 ? expect.unreachable("another page is read") : 3)],
    ["returns more than it has", () => 5],
    [
      "returns an empty page",
      (page: number) => (page > 2 ? expect.unreachable("another page is read") : 3 - 3 * (page - 1)),
    ],
  ])("ends at a node that %s", async (_name, countOf) => {
    if (first === undefined) throw new Error("no recorded blocks");
    const node = nodeWith(first, 100);
    const endless: CallEndpoint = async (method, params) => {
      if (method === "commit") return node(method, params);
      const validators = Array.from({ length: countOf(Number(params["page"])) }, () => first.validators[0]);
      return { block_height: first.height, validators, total: "4" };
    };
    await expect(readLightBlock(BigInt(first.height), endless, "node")).rejects.toThrow(
      "validators.validators does not add up to its total",
    );
  });

  it("reads the latest height for height 0", async () => {
    if (first === undefined) throw new Error("no recorded blocks");
    const bytes = await readLightBlock(0n, nodeWith(first, 100), "node");
    expect(bytes.height).toBe(BigInt(first.height));
  });
});
