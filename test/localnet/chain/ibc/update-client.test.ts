import { beforeEach, describe, expect, it } from "vitest";
import type { Any } from "../../../../src/cosmos/proto/gen/google/protobuf/any.ts";
import {
  Header,
  Misbehaviour,
} from "../../../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../src/cosmos/proto/registry.ts";
import {
  openClientStore,
  packClientState,
  packConsensusState,
} from "../../../../src/localnet/chain/modules/ibc/client/client-store.ts";
import {
  createClient,
  createLocalhostClient,
  recoverClient,
  updateClient,
} from "../../../../src/localnet/chain/modules/ibc/client/keeper.ts";
import { TENDERMINT_TYPE } from "../../../../src/localnet/chain/modules/ibc/host/identifiers.ts";
import { clientParams } from "../../../../src/localnet/chain/modules/ibc/host/params.ts";
import { ibcKeeper } from "../../../../src/localnet/chain/modules/ibc/keeper.ts";
import { tendermintClientState } from "../../../../src/localnet/chain/modules/ibc/open-connection.ts";
import { ModuleError } from "../../../../src/localnet/chain/runtime/errors.ts";
import { toHex } from "../../../../src/platform/base/bytes.ts";
import { type LightBlock, updateHeader } from "../../../support/comet/light-block.ts";
import { blockTimeNs, createSigners, signBlock, type Signers } from "../../../support/comet/signed-chain.ts";
import { clientStatus } from "../../../support/ibc/client-status.ts";
import { createMemoryChain, type MemoryChain } from "../../../support/ibc/memory-chain.ts";

const REMOTE = "remote-2";
const CLIENT = "07-tendermint-0";
const HOUR = 3_600_000_000_000n;
const SETTINGS = { trustingPeriodNs: HOUR, unbondingPeriodNs: 2n * HOUR, maxClockDriftNs: 10_000_000_000n };

const four = createSigners("four", [4n, 3n, 2n, 1n]);

let chain: MemoryChain;

function height(of: bigint): { revisionNumber: bigint; revisionHeight: bigint } {
  return { revisionNumber: 2n, revisionHeight: of };
}

/** The context of an own block, one second after the time of the remote height. */
function at(remoteHeight: bigint): ReturnType<MemoryChain["at"]> {
  return chain.at(1000n + remoteHeight, blockTimeNs(remoteHeight) + 1_000_000_000n);
}

function create(first: LightBlock): string {
  const state = tendermintClientState(REMOTE, height(first.header.height), SETTINGS);
  const consensus = packConsensusState({
    timeNs: first.header.timeNs,
    root: first.header.appHash,
    nextValidatorsHash: first.header.nextValidatorsHash,
  });
  return createClient(at(first.header.height), packClientState({ type: TENDERMINT_TYPE, state }), consensus);
}

function block(
  of: bigint,
  facts: Partial<Parameters<typeof signBlock>[1]> = {},
  signers: Signers = four,
): LightBlock {
  return signBlock(signers, { chainId: REMOTE, height: of, ...facts });
}

function headerAny(target: LightBlock, trusted: bigint, next: LightBlock = block(trusted + 1n)): Any {
  const value = Header.encode(updateHeader(target, height(trusted), next)).finish();
  return { typeUrl: TYPE_URL.tendermintHeader, value };
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

function rootAt(of: bigint): string | undefined {
  const root = ibcKeeper.consensusRoot(at(of), CLIENT, height(of));
  return root === undefined ? undefined : toHex(root);
}

beforeEach(() => {
  chain = createMemoryChain("local-1");
  expect(create(block(10n))).toBe(CLIENT);
  chain.events.length = 0;
});

describe("an update", () => {
  it("stores the consensus state of the next height and moves the latest height", () => {
    updateClient(at(11n), CLIENT, headerAny(block(11n), 10n));
    expect(rootAt(11n)).toBe(toHex(block(11n).header.appHash));
    expect(ibcKeeper.clientLatestHeight(at(11n), CLIENT)).toEqual(height(11n));
    expect(openClientStore(at(11n), CLIENT).processed(height(11n))).toEqual({
      timeNs: at(11n).timeNs,
      height: { revisionNumber: 1n, revisionHeight: 1011n },
    });
  });

  it("emits its events", () => {
    const any = headerAny(block(11n), 10n);
    updateClient(at(11n), CLIENT, any);
    expect(chain.events.map(({ type }) => type)).toEqual(["update_client", "message"]);
    const attributes = Object.fromEntries(
      chain.events[0]?.attributes.map(({ key, value }) => [key, value]) ?? [],
    );
    expect(attributes).toMatchObject({
      client_id: CLIENT,
      client_type: "07-tendermint",
      consensus_height: "2-11",
      consensus_heights: "2-11",
    });
    expect(attributes["header"]?.endsWith(toHex(any.value))).toBe(true);
  });

  it("skips heights when enough trusted validators signed", () => {
    updateClient(at(500n), CLIENT, headerAny(block(500n), 10n));
    expect(ibcKeeper.clientLatestHeight(at(500n), CLIENT)).toEqual(height(500n));
  });

  it("adds a past height and keeps the latest height", () => {
    updateClient(at(500n), CLIENT, headerAny(block(500n), 10n));
    updateClient(at(500n), CLIENT, headerAny(block(300n), 10n));
    expect(ibcKeeper.clientLatestHeight(at(500n), CLIENT)).toEqual(height(500n));
    expect(rootAt(300n)).toBeDefined();
  });

  it("succeeds and changes nothing for a stored header", () => {
    updateClient(at(11n), CLIENT, headerAny(block(11n), 10n));
    updateClient(at(12n), CLIENT, headerAny(block(11n), 10n));
    expect(openClientStore(at(12n), CLIENT).processed(height(11n))?.height.revisionHeight).toBe(1011n);
    expect(chain.events.map(({ type }) => type)).toEqual([
      "update_client",
      "message",
      "update_client",
      "message",
    ]);
  });

  it("fails without a third of the trusted voting power", () => {
    const others = createSigners("others", [1n, 1n]);
    const foreign = block(20n, {}, others);
    expect(failure(() => updateClient(at(20n), CLIENT, headerAny(foreign, 10n)))).toBe(
      "undefined/1 failed to verify header: cant trust new val set: invalid commit -- insufficient voting power: got 0, needed more than 3",
    );
  });

  it("fails without two thirds of the header's own voting power", () => {
    const weak = block(20n, { signs: (index) => index === 0 });
    expect(failure(() => updateClient(at(20n), CLIENT, headerAny(weak, 10n)))).toBe(
      "undefined/1 failed to verify header: invalid header: invalid commit -- insufficient voting power: got 4, needed more than 6",
    );
  });

  it("follows a change of the validator set", () => {
    const three = createSigners("three", [5n, 5n, 5n]);
    updateClient(at(11n), CLIENT, headerAny(block(11n, { next: three }), 10n));
    updateClient(at(12n), CLIENT, headerAny(block(12n, {}, three), 11n, block(12n, {}, three)));
    expect(ibcKeeper.clientLatestHeight(at(12n), CLIENT)).toEqual(height(12n));
  });

  it.each([
    [
      "an unknown client",
      "07-tendermint-7",
      () => headerAny(block(11n), 10n),
      "client/4 cannot update client with ID 07-tendermint-7: light client not found",
    ],
    [
      "a trusted height without a consensus state",
      CLIENT,
      () => headerAny(block(11n), 9n),
      "client/7 could not get trusted consensus state from clientStore for Header at TrustedHeight: 2-9: consensus state not found",
    ],
    [
      "a message of another type",
      CLIENT,
      () => ({ typeUrl: "/x.Y", value: new Uint8Array(0) }),
      "undefined/1 no concrete type registered for type URL /x.Y against interface *exported.ClientMessage",
    ],
    [
      "another chain's header",
      CLIENT,
      () => headerAny(signBlock(four, { chainId: "other-2", height: 11n }), 10n),
      'undefined/1 failed to verify header: invalid header: untrustedHeader.ValidateBasic failed: header belongs to another chain "other-2", not "remote-2"',
    ],
    [
      "a header of another revision",
      CLIENT,
      () => headerAny(signBlock(four, { chainId: "remote-3", height: 11n }), 10n),
      "07-tendermint/5 header height revision 3 does not match trusted header revision 2: invalid header height",
    ],
    [
      "a header that is not newer than its trusted height",
      CLIENT,
      () => headerAny(block(10n), 10n),
      "client/12 header height ≤ consensus state height (2-10 ≤ 2-10): invalid client header",
    ],
  ] as const)("fails for %s", (_name, clientId, message, expected) => {
    expect(failure(() => updateClient(at(11n), clientId, message()))).toBe(expected);
  });

  it("fails when the trusted validators have another hash", () => {
    const others = createSigners("others", [1n]);
    const any = headerAny(block(11n), 10n, block(11n, {}, others));
    expect(failure(() => updateClient(at(11n), CLIENT, any))).toMatch(
      /^07-tendermint\/14 trusted validators, does not hash to latest trusted validators. Expected: [0-9A-F]{64}, got: [0-9A-F]{64}: invalid validator set$/,
    );
  });

  it("fails for bytes that do not decode", () => {
    const any = { typeUrl: TYPE_URL.tendermintHeader, value: Uint8Array.of(0x0a, 0xff) };
    expect(failure(() => updateClient(at(11n), CLIENT, any))).toMatch(/^undefined\/1 proto: /);
  });
});

describe("misbehaviour", () => {
  it("in a header that differs from a stored one freezes the client, and later updates fail", () => {
    updateClient(at(20n), CLIENT, headerAny(block(20n), 10n));
    chain.events.length = 0;
    const fork = block(20n, { appHash: new Uint8Array(32) });
    updateClient(at(21n), CLIENT, headerAny(fork, 10n));
    expect(chain.events.map(({ type }) => type)).toEqual(["client_misbehaviour", "message"]);
    expect(clientStatus(at(21n), CLIENT)).toBe("Frozen");
    expect(rootAt(20n)).toBe(toHex(block(20n).header.appHash));
    expect(failure(() => updateClient(at(22n), CLIENT, headerAny(block(22n), 10n)))).toBe(
      `client/29 cannot update client (${CLIENT}) with status Frozen: client state is not active`,
    );
  });

  it("in times out of order freezes the client", () => {
    updateClient(at(20n), CLIENT, headerAny(block(20n), 10n));
    const late = block(15n, { timeNs: blockTimeNs(20n) });
    updateClient(at(21n), CLIENT, headerAny(late, 10n));
    expect(clientStatus(at(21n), CLIENT)).toBe("Frozen");
  });

  it("in a time equal to that of an earlier height freezes the client", () => {
    updateClient(at(20n), CLIENT, headerAny(block(20n), 10n));
    updateClient(at(21n), CLIENT, headerAny(block(21n, { timeNs: blockTimeNs(20n) }), 10n));
    expect(clientStatus(at(21n), CLIENT)).toBe("Frozen");
  });

  it("message with equal times of two heights freezes the client", () => {
    updateClient(at(21n), CLIENT, misbehaviourAny(block(21n, { timeNs: blockTimeNs(20n) }), block(20n)));
    expect(clientStatus(at(21n), CLIENT)).toBe("Frozen");
  });

  it("message needs a trusted state within the trusting period", () => {
    updateClient(at(3000n), CLIENT, headerAny(block(3000n), 10n));
    const message = misbehaviourAny(block(20n), block(20n, { appHash: new Uint8Array(32) }));
    const over = chain.at(4000n, blockTimeNs(10n) + HOUR);
    expect(failure(() => updateClient(over, CLIENT, message))).toBe(
      `07-tendermint/11 verifying Header1 in Misbehaviour failed: current timestamp minus the latest consensus state timestamp is greater than or equal to the trusting period (${HOUR} >= ${HOUR}): time since latest trusted state has passed the trusting period`,
    );
    updateClient(chain.at(4000n, blockTimeNs(10n) + HOUR - 1n), CLIENT, message);
    expect(clientStatus(over, CLIENT)).toBe("Frozen");
  });

  it("in a misbehaviour message freezes the client", () => {
    const [one, two] = [block(20n), block(20n, { appHash: new Uint8Array(32) })];
    updateClient(at(21n), CLIENT, misbehaviourAny(one, two));
    expect(clientStatus(at(21n), CLIENT)).toBe("Frozen");
  });

  it("message without a contradiction changes nothing", () => {
    updateClient(at(21n), CLIENT, misbehaviourAny(block(21n), block(20n)));
    expect(clientStatus(at(21n), CLIENT)).toBe("Active");
    expect(rootAt(21n)).toBeUndefined();
  });

  function misbehaviourAny(one: LightBlock, two: LightBlock): Any {
    const value = Misbehaviour.encode({
      clientId: CLIENT,
      header1: updateHeader(one, height(10n), block(11n)),
      header2: updateHeader(two, height(10n), block(11n)),
    }).finish();
    return { typeUrl: TYPE_URL.tendermintMisbehaviour, value };
  }
});

describe("the trusting period and clock drift", () => {
  it("expire a client whose latest state is older than the trusting period", () => {
    const last = chain.at(2000n, blockTimeNs(10n) + HOUR - 1n);
    expect(clientStatus(last, CLIENT)).toBe("Active");
    const over = chain.at(2000n, blockTimeNs(10n) + HOUR);
    expect(clientStatus(over, CLIENT)).toBe("Expired");
    expect(failure(() => updateClient(over, CLIENT, headerAny(block(3700n), 10n)))).toBe(
      `client/29 cannot update client (${CLIENT}) with status Expired: client state is not active`,
    );
  });

  it("delete one expired state with every update, the oldest first", () => {
    updateClient(at(11n), CLIENT, headerAny(block(11n), 10n));
    updateClient(at(3000n), CLIENT, headerAny(block(3000n), 11n));
    const entries = (): number =>
      [...chain.store.iterate()].filter(([key]) => Buffer.from(key).includes("onsensusState")).length;
    expect(entries()).toBe(3 * 4);
    updateClient(at(3700n), CLIENT, headerAny(block(3700n), 3000n));
    expect(rootAt(10n)).toBeUndefined();
    expect(rootAt(11n)).toBeDefined();
    expect(entries()).toBe(3 * 4);
    updateClient(at(3701n), CLIENT, headerAny(block(3701n), 3000n));
    expect(rootAt(11n)).toBeUndefined();
    expect(entries()).toBe(3 * 4);
  });

  it("reject a header beyond the clock drift", () => {
    const early = chain.at(2000n, blockTimeNs(490n) - 1n);
    expect(failure(() => updateClient(early, CLIENT, headerAny(block(500n), 10n)))).toContain(
      "new header has a time from the future",
    );
    updateClient(chain.at(2000n, blockTimeNs(490n) + 1n), CLIENT, headerAny(block(500n), 10n));
    expect(rootAt(500n)).toBeDefined();
  });
});

describe("client status and recovery", () => {
  it("a client of a type that is not allowed is unauthorized", () => {
    clientParams.set(at(10n), { allowedClients: ["06-solomachine"] });
    expect(clientStatus(at(10n), CLIENT)).toBe("Unauthorized");
    expect(clientStatus(at(10n), "07-tendermint-9")).toBe("Unknown");
    expect(failure(() => create(block(12n)))).toBe(
      "client/10 client state type 07-tendermint is not registered in the allowlist: invalid client type",
    );
  });

  it("an expired client recovers with the state of a substitute", () => {
    expect(create(block(5000n))).toBe("07-tendermint-1");
    recoverClient(at(5000n), CLIENT, "07-tendermint-1");
    expect(clientStatus(at(5000n), CLIENT)).toBe("Active");
    expect(ibcKeeper.clientLatestHeight(at(5000n), CLIENT)).toEqual(height(5000n));
    updateClient(at(5001n), CLIENT, headerAny(block(5001n), 5000n));
    expect(rootAt(5001n)).toBeDefined();
  });

  it("recovery fails for an active client, and for a substitute that is not newer", () => {
    create(block(5n));
    expect(failure(() => recoverClient(at(11n), CLIENT, "07-tendermint-1"))).toBe(
      "client/24 cannot recover Active subject client: invalid recovery client",
    );
    const later = at(4000n);
    expect(failure(() => recoverClient(later, CLIENT, "07-tendermint-1"))).toBe(
      "client/26 subject client state latest height is greater or equal to substitute client state latest height (2-10 >= 2-5): invalid height",
    );
    create(block(10n));
    expect(failure(() => recoverClient(later, CLIENT, "07-tendermint-2"))).toMatch(
      /^client\/26 .*\(2-10 >= 2-10\): invalid height$/,
    );
    create(block(50n));
    expect(failure(() => recoverClient(later, CLIENT, "07-tendermint-3"))).toBe(
      "client/29 substitute client is not active, status is Expired: client state is not active",
    );
  });

  it("a frozen client recovers only with a substitute of the same settings", () => {
    const fork = block(10n, { appHash: new Uint8Array(32) });
    updateClient(at(11n), CLIENT, headerAny(block(11n), 10n));
    updateClient(at(12n), CLIENT, headerAny(block(11n, { appHash: fork.header.appHash }), 10n));
    expect(clientStatus(at(12n), CLIENT)).toBe("Frozen");
    const newer = block(15n);
    const state = tendermintClientState(REMOTE, height(15n), { ...SETTINGS, maxClockDriftNs: 1n });
    const { timeNs, appHash: root, nextValidatorsHash } = newer.header;
    const consensus = packConsensusState({ timeNs, root, nextValidatorsHash });
    createClient(at(15n), packClientState({ type: TENDERMINT_TYPE, state }), consensus);
    expect(failure(() => recoverClient(at(16n), CLIENT, "07-tendermint-1"))).toBe(
      "client/27 failed to validate substitute client: subject client state does not match substitute client state: invalid client state substitute",
    );
    create(newer);
    recoverClient(at(16n), CLIENT, "07-tendermint-2");
    expect(clientStatus(at(16n), CLIENT)).toBe("Active");
    expect(rootAt(15n)).toBe(toHex(newer.header.appHash));
    expect(openClientStore(at(16n), CLIENT).processed(height(15n))?.height.revisionHeight).toBe(1015n);
  });

  it("the localhost client rejects headers, and the keeper returns no height for it", () => {
    createLocalhostClient(at(10n));
    expect(failure(() => updateClient(at(11n), "09-localhost", headerAny(block(11n), 10n)))).toBe(
      "client/23 client message verification is unsupported by the localhost client: unable to update light client",
    );
    expect(failure(() => ibcKeeper.clientLatestHeight(at(11n), "09-localhost"))).toBe(
      "client/10 expected 07-tendermint, got 09-localhost: invalid client type",
    );
  });
});
