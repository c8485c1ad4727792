import { describe, expect, it } from "vitest";
import { sha256, utf8 } from "../../../../src/platform/base/bytes.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import type { Validator } from "../../../../src/cosmos/comet/block-types.ts";
import { createCallRouter, type UnaryReply } from "../../../../src/localnet/node/grpc/call-router.ts";
import {
  GetLatestValidatorSetRequest,
  GetValidatorSetByHeightRequest,
  GetValidatorSetByHeightResponse,
} from "../../../../src/cosmos/proto/gen/cosmos/base/tendermint/v1beta1/query.ts";
import { PubKey } from "../../../../src/cosmos/proto/gen/cosmos/crypto/ed25519/keys.ts";
import { createFakeView } from "../../../support/fake-view.ts";

const SERVICE = "/cosmos.base.tendermint.v1beta1.Service";
const NOTHING = new Uint8Array(0);

const validators: readonly Validator[] = Array.from({ length: 150 }, (_, index) => {
  const publicKey = new Uint8Array(sha256(utf8(`validator ${index}`)));
  return {
    address: publicKey.subarray(0, 20),
    publicKey,
    power: BigInt(1000 - index),
    priority: BigInt(-index),
  };
});

const router = createCallRouter(
  {
    chainName: "neutron",
    consensusPrefix: "neutronvalcons",
    rpcAddress: () => "",
    view: createFakeView({ validators: () => ({ validators, proposer: validators[0] }) }),
  },
  silentLogger,
);

function ask(height: bigint, offset: bigint, limit: bigint): UnaryReply {
  const pagination = { key: NOTHING, offset, limit, countTotal: false, reverse: false };
  const data = GetValidatorSetByHeightRequest.encode({ height, pagination }).finish();
  return router.call({ path: `${SERVICE}/GetValidatorSetByHeight`, data, heights: [] });
}

describe("validator sets", () => {
  it.each([
    [0n, 0n, 0, 100],
    [100n, 100n, 100, 50],
    [10n, 10n, 10, 10],
    // An offset inside a page gives that whole page, as CometBFT counts pages.
    [15n, 10n, 10, 10],
    [0n, 1000n, 0, 100],
  ])("offset %s and limit %s give %i to %i more", (offset, limit, first, count) => {
    const reply = ask(7n, offset, limit);
    expect(reply.code).toBe(0);
    const answer = GetValidatorSetByHeightResponse.decode(reply.value);
    expect(answer.pagination?.total).toBe(150n);
    expect(answer.validators).toHaveLength(count);
    const expected = validators[first];
    expect(answer.validators[0]).toMatchObject({
      votingPower: expected?.power,
      proposerPriority: expected?.priority,
      address: expect.stringMatching(/^neutronvalcons1/),
    });
    const key = answer.validators[0]?.pubKey;
    expect(key?.typeUrl).toBe("/cosmos.crypto.ed25519.PubKey");
    expect(PubKey.decode(key?.value ?? NOTHING).key).toEqual(expected?.publicKey);
  });

  it.each([
    [7n, 200n, 100n, 2, "page should be within [1, 2] range, given 3"],
    [8n, 0n, 0n, 3, "requested block height is bigger then the chain length"],
    [0n, 0n, 0n, 2, "height must be greater than 0, but got 0"],
    [-1n, 0n, 0n, 2, "height must be greater than 0, but got -1"],
  ])(
    "of height %s, offset %s and limit %s are refused with %i",
    (...[height, offset, limit, code, message]) =>
      expect(ask(height, offset, limit)).toMatchObject({ code, message, height: 7n }),
  );

  it("the latest is the one that signs next", () => {
    const data = GetLatestValidatorSetRequest.encode({ pagination: undefined }).finish();
    const reply = router.call({ path: `${SERVICE}/GetLatestValidatorSet`, data, heights: [] });
    expect(GetValidatorSetByHeightResponse.decode(reply.value).blockHeight).toBe(8n);
  });
});
