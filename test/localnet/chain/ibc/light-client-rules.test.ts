import { describe, expect, it } from "vitest";
import { concat, fromHex } from "../../../../src/platform/base/bytes.ts";
import { revisionOfChainId, withRevision } from "../../../../src/cosmos/comet/ibc-height.ts";
import {
  packClientState,
  packConsensusState,
} from "../../../../src/localnet/chain/modules/ibc/client/client-store.ts";
import { TENDERMINT_TYPE } from "../../../../src/localnet/chain/modules/ibc/host/identifiers.ts";
import {
  createClient,
  recoverClient,
  updateClient,
  updateClientInCheck,
} from "../../../../src/localnet/chain/modules/ibc/client/keeper.ts";
import { ibcKeeper } from "../../../../src/localnet/chain/modules/ibc/keeper.ts";
import type { ExecutionMode } from "../../../../src/localnet/chain/runtime/context.ts";
import { tendermintClientState } from "../../../../src/localnet/chain/modules/ibc/open-connection.ts";
import { validateMisbehaviour } from "../../../../src/localnet/chain/modules/ibc/client/client-message.ts";
import { validatorSetOf, newValidator } from "../../../../src/cosmos/comet/validator-set.ts";
import { ModuleError } from "../../../../src/localnet/chain/runtime/errors.ts";
import {
  Header,
  type Misbehaviour,
} from "../../../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../src/cosmos/proto/registry.ts";
import { type LightBlock, updateHeader } from "../../../support/comet/light-block.ts";
import { blockTimeNs, createSigners, signBlock, type Signers } from "../../../support/comet/signed-chain.ts";
import { clientStatus } from "../../../support/ibc/client-status.ts";
import { createMemoryChain } from "../../../support/ibc/memory-chain.ts";

const HOUR = 3_600_000_000_000n;
const SETTINGS = { trustingPeriodNs: HOUR, unbondingPeriodNs: 2n * HOUR, maxClockDriftNs: 10_000_000_000n };
const four = createSigners("four", [4n, 3n, 2n, 1n]);
const chain = createMemoryChain("local-1");
const FREE = { timeNs: 0n, beforeSlowSignature: () => undefined };

function at(remoteHeight: bigint) {
  return chain.at(1000n + remoteHeight, blockTimeNs(remoteHeight) + 1_000_000_000n);
}

function heightOf(chainId: string, revisionHeight: bigint) {
  return { revisionNumber: revisionOfChainId(chainId), revisionHeight };
}

function create(chainId: string, of: bigint, signers: Signers = four): string {
  const { header } = signBlock(signers, { chainId, height: of, signs: (index) => signers.keys.size > index });
  const state = tendermintClientState(chainId, heightOf(chainId, of), SETTINGS);
  const { timeNs, appHash: root, nextValidatorsHash } = header;
  const consensus = packConsensusState({ timeNs, root, nextValidatorsHash });
  return createClient(at(of), packClientState({ type: TENDERMINT_TYPE, state }), consensus);
}

function headerOf(chainId: string, of: bigint, trusted: bigint): Header {
  const target = signBlock(four, { chainId, height: of });
  return updateHeader(target, heightOf(chainId, trusted), signBlock(four, { chainId, height: trusted + 1n }));
}

function update(clientId: string, header: Header, context = at(5000n)): void {
  updateClient(context, clientId, {
    typeUrl: TYPE_URL.tendermintHeader,
    value: Header.encode(header).finish(),
  });
}

function failure(work: () => void): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ModuleError) return `${error.codespace}/${error.code} ${error.message}`;
    throw error;
  }
  throw new Error("no error was thrown");
}

describe("a recovered client", () => {
  it("follows the chain id of the substitute, and refuses headers of the earlier revision", () => {
    const subject = create("remote-1", 10n);
    const substitute = create("remote-2", 5000n);
    expect(clientStatus(at(5000n), subject)).toBe("Expired");
    recoverClient(at(5000n), subject, substitute);
    const young = chain.at(2000n, blockTimeNs(11n));
    expect(failure(() => update(subject, headerOf("remote-1", 11n, 10n), young))).toBe(
      'undefined/1 failed to verify header: invalid header: untrustedHeader.ValidateBasic failed: header belongs to another chain "remote-1", not "remote-2"',
    );
    update(subject, headerOf("remote-2", 5001n, 5000n), at(5001n));
  });
});

describe("a header whose fields occur in two parts", () => {
  it("is merged, as protobuf says", () => {
    const clientId = create("parts-2", 10n);
    const whole = headerOf("parts-2", 11n, 10n);
    const { header, commit } = whole.signedHeader ?? {};
    const rest = { validatorSet: undefined, trustedHeight: undefined, trustedValidators: undefined };
    const first = Header.encode({ ...whole, signedHeader: { header, commit: undefined } }).finish();
    const second = Header.encode({ ...rest, signedHeader: { header: undefined, commit } }).finish();
    const context = at(11n);
    updateClient(context, clientId, { typeUrl: TYPE_URL.tendermintHeader, value: concat(first, second) });
    expect(ibcKeeper.clientLatestHeight(context, clientId)).toEqual(heightOf("parts-2", 11n));
  });
});

describe("the revision of a misbehaviour", () => {
  it("is written as an int64, as in ibc-go", () => {
    expect(withRevision("chain-2", 2n ** 63n)).toBe("chain--9223372036854775808");
    expect(withRevision("chain-2", 2n ** 64n - 1n)).toBe("chain--1");
    expect(withRevision("chain-2", 2n ** 63n - 1n)).toBe("chain-9223372036854775807");
  });
});

describe("a misbehaviour that lacks a part", () => {
  const header = headerOf("remote-2", 20n, 10n);
  const misbehaviour: Misbehaviour = { clientId: "07-tendermint-0", header1: header, header2: header };
  const without = { ...header, trustedValidators: undefined };
  const untrusted = { ...header, trustedHeight: undefined };

  it.each([
    [{ header1: undefined }, "07-tendermint/6 misbehaviour Header1 cannot be nil: invalid header"],
    [{ header2: undefined }, "07-tendermint/6 misbehaviour Header2 cannot be nil: invalid header"],
    [
      { header1: without },
      "07-tendermint/14 trusted validator set in Header1 cannot be empty: invalid validator set",
    ],
    [
      { header1: without, header2: untrusted },
      "07-tendermint/5 misbehaviour Header2 cannot have zero revision height: invalid header height",
    ],
  ])("is refused with ibc-go's error: %#", (change, expected) => {
    expect(failure(() => validateMisbehaviour({ ...misbehaviour, ...change }, FREE))).toBe(expected);
  });
});

describe("a header with signatures that only ZIP-215 accepts", () => {
  const torsion = fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a");

  /** Creates a client of a chain whose validators all have the key, and a header of it that they signed. */
  function hostileHeader(chainId: string, validators: number): readonly [clientId: string, header: Header] {
    const set = validatorSetOf(Array.from({ length: validators }, () => newValidator(torsion, 10n)));
    const hostile: Signers = { set, keys: new Map() };
    const unsigned = signBlock(hostile, { chainId, height: 11n, signs: () => false });
    const signed: LightBlock = {
      ...unsigned,
      commit: {
        ...unsigned.commit,
        signatures: unsigned.commit.signatures.map((sig) => ({
          ...sig,
          flag: 2,
          validatorAddress: set.validators[0]?.address ?? torsion,
          signature: new Uint8Array(64).with(0, 1),
        })),
      },
    };
    const clientId = create(chainId, 10n, hostile);
    return [clientId, updateHeader(signed, heightOf(chainId, 10n), unsigned)];
  }

  it("pays gas for each of them", () => {
    const gasOf = (id: string, header: Header): bigint => {
      const context = at(20n);
      update(id, header, context);
      return context.gas.used();
    };
    const plain = gasOf(create("plain-2", 10n), headerOf("plain-2", 11n, 10n));
    const slow = gasOf(...hostileHeader("slow-2", 1));
    expect(Number(slow - plain)).toBeGreaterThan(40_000);
    expect(Number(slow - plain)).toBeLessThan(60_000);
  });

  it("is refused outside of a block when they are many, whatever the gas limit is", () => {
    // More than two thirds of them are verified: 214.
    const [clientId, header] = hostileHeader("many-2", 320);
    const any = { typeUrl: TYPE_URL.tendermintHeader, value: Header.encode(header).finish() };
    const contextOf = (mode: ExecutionMode) => chain.at(1020n, blockTimeNs(20n) + 1_000_000_000n, mode);
    for (const run of [
      () => updateClientInCheck(contextOf("check"), clientId, any),
      () => updateClient(contextOf("simulate"), clientId, any),
    ])
      expect(failure(run)).toMatch(
        /^sdk\/11 out of gas in location: ZIP-215 signature; gasWanted: 10000000, /,
      );
    expect(() => updateClient(contextOf("deliver"), clientId, any)).not.toThrow();
  });
});
