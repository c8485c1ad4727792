import { updateHeader } from "../../../support/comet/light-block.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { encodeBech32 } from "../../../../src/platform/base/bytes.ts";
import {
  packClientState,
  packConsensusState,
  type ConsensusState,
} from "../../../../src/localnet/chain/modules/ibc/client/client-store.ts";
import { TENDERMINT_TYPE } from "../../../../src/localnet/chain/modules/ibc/host/identifiers.ts";
import { ibcKeeper } from "../../../../src/localnet/chain/modules/ibc/keeper.ts";
import { createIbcModule } from "../../../../src/localnet/chain/modules/ibc/module.ts";
import { tendermintClientState } from "../../../../src/localnet/chain/modules/ibc/open-connection.ts";
import { ModuleError } from "../../../../src/localnet/chain/runtime/errors.ts";
import {
  MsgCreateClient,
  MsgRecoverClient,
  MsgUpdateClient,
  MsgUpdateParams,
} from "../../../../src/cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { MsgUpdateParams as MsgUpdateChannelParams } from "../../../../src/cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import {
  type ClientState,
  Header,
} from "../../../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../src/cosmos/proto/registry.ts";
import { blockTimeNs, createSigners, signBlock } from "../../../support/comet/signed-chain.ts";
import { createMemoryChain, type MemoryChain } from "../../../support/ibc/memory-chain.ts";
import { channelParams } from "../../../../src/localnet/chain/modules/ibc/host/params.ts";

const SECOND = 1_000_000_000n;
const SETTINGS = {
  trustingPeriodNs: 3600n * SECOND,
  unbondingPeriodNs: 7200n * SECOND,
  maxClockDriftNs: 10n * SECOND,
};
const signer = encodeBech32("neutron", new Uint8Array(20));
const authority = encodeBech32("neutron", new Uint8Array(20).fill(9));
const module = createIbcModule({ bech32Prefix: "neutron", authority });
const signers = createSigners("messages", [2n, 1n]);
const first = signBlock(signers, { chainId: "remote-2", height: 10n });
const good = tendermintClientState("remote-2", { revisionNumber: 2n, revisionHeight: 10n }, SETTINGS);
const trusted: ConsensusState = {
  timeNs: first.header.timeNs,
  root: first.header.appHash,
  nextValidatorsHash: first.header.nextValidatorsHash,
};

let chain: MemoryChain;

beforeEach(() => {
  chain = createMemoryChain("local-1");
});

/** Runs an encoded message. Returns "codespace/code text" of the error, or "done". */
function run(typeUrl: string, bytes: Uint8Array): string {
  const handler = module.messages.find((one) => one.typeUrl === typeUrl);
  if (handler === undefined) throw new Error(`no handler of ${typeUrl}`);
  try {
    const result = handler.handle(chain.at(100n, blockTimeNs(11n)), bytes);
    expect(result).toEqual({ typeUrl: `${typeUrl}Response`, response: new Uint8Array(0) });
    return "done";
  } catch (error) {
    if (error instanceof ModuleError) return `${error.codespace}/${error.code} ${error.message}`;
    throw error;
  }
}

function create(
  state: Partial<ClientState> = {},
  consensus: Partial<ConsensusState> = {},
  by = signer,
): string {
  const message = MsgCreateClient.encode({
    clientState: packClientState({ type: TENDERMINT_TYPE, state: { ...good, ...state } }),
    consensusState: packConsensusState({ ...trusted, ...consensus }),
    signer: by,
  });
  return run(TYPE_URL.createClient, message.finish());
}

describe("MsgCreateClient", () => {
  it("numbers clients and emits their ids", () => {
    expect([create(), create()]).toEqual(["done", "done"]);
    const ids = chain.events
      .filter(({ type }) => type === "create_client")
      .map(({ attributes }) => attributes[0]?.value);
    expect(ids).toEqual(["07-tendermint-0", "07-tendermint-1"]);
    expect(chain.events[0]?.attributes.map(({ key, value }) => `${key}=${value}`)).toEqual([
      "client_id=07-tendermint-0",
      "client_type=07-tendermint",
      "consensus_height=2-10",
    ]);
  });

  it.each([
    [{ chainId: " " }, "07-tendermint/2 chain id cannot be empty string: invalid chain-id"],
    [{ chainId: "x".repeat(51) }, "07-tendermint/2 chainID is too long; got: 51, max: 50: invalid chain-id"],
    [
      { trustLevel: { numerator: 1n, denominator: 4n } },
      "07-tendermint/15 trustLevel must be within [1/3, 1], given 1/4: invalid trust level",
    ],
    [
      { trustingPeriod: undefined },
      "07-tendermint/3 trusting period must be greater than zero: invalid trusting period",
    ],
    [
      { unbondingPeriod: undefined },
      "07-tendermint/4 unbonding period must be greater than zero: invalid unbonding period",
    ],
    [
      { maxClockDrift: undefined },
      "07-tendermint/7 max clock drift must be greater than zero: invalid max clock drift",
    ],
    [{ trustingPeriod: { seconds: 2n ** 60n, nanos: 0 } }, "undefined/1 proto: duration out of range"],
    [
      { latestHeight: { revisionNumber: 1n, revisionHeight: 10n } },
      "07-tendermint/5 latest height revision number must match chain id revision number (1 != 2): invalid header height",
    ],
    [
      { latestHeight: { revisionNumber: 2n, revisionHeight: 0n } },
      "07-tendermint/5 tendermint client's latest height revision height cannot be zero: invalid header height",
    ],
    [
      { trustingPeriod: good.unbondingPeriod },
      "07-tendermint/3 trusting period (2h0m0s) should be < unbonding period (2h0m0s): invalid trusting period",
    ],
    [{ proofSpecs: [] }, "07-tendermint/13 proof specs cannot be nil for tm client: invalid proof specs"],
    [
      { upgradePath: ["upgrade", ""] },
      "client/3 key in upgrade path at index 1 cannot be empty: light client is invalid",
    ],
  ])("rejects a client state: %#", (state, expected) => {
    expect(create(state)).toBe(expected);
  });

  it.each([
    [{ root: new Uint8Array(0) }, "client/8 root cannot be empty: invalid consensus state"],
    [
      { nextValidatorsHash: new Uint8Array(3) },
      "undefined/1 next validators hash is invalid: expected size to be 32 bytes, got 3 bytes",
    ],
    [{ timeNs: 0n }, "client/8 timestamp must be a positive Unix time: invalid consensus state"],
    [
      { timeNs: SECOND },
      "client/29 cannot create client (07-tendermint-0) with status Expired: client state is not active",
    ],
  ])("rejects a consensus state: %#", (consensus, expected) => {
    expect(create({}, consensus)).toBe(expected);
  });

  it("rejects an invalid signer, and absent or unknown states", () => {
    expect(create({}, {}, "cosmos1x")).toMatch(/^ibc\/5 string could not be parsed as address: /);
    const bare = { clientState: undefined, consensusState: undefined, signer };
    expect(run(TYPE_URL.createClient, MsgCreateClient.encode(bare).finish())).toBe(
      "ibc/14 protobuf Any message cannot be nil: failed unpacking protobuf message from Any",
    );
    const solo = {
      ...bare,
      clientState: { typeUrl: "/ibc.lightclients.solomachine.v3.ClientState", value: new Uint8Array(0) },
    };
    expect(run(TYPE_URL.createClient, MsgCreateClient.encode(solo).finish())).toBe(
      "undefined/1 no concrete type registered for type URL /ibc.lightclients.solomachine.v3.ClientState against interface *exported.ClientState",
    );
  });
});

describe("MsgUpdateClient", () => {
  const target = signBlock(signers, { chainId: "remote-2", height: 11n });
  const header = updateHeader(target, { revisionNumber: 2n, revisionHeight: 10n }, target);

  function update(change: Partial<Header>, clientId = "07-tendermint-0"): string {
    const value = Header.encode({ ...header, ...change }).finish();
    const clientMessage = { typeUrl: TYPE_URL.tendermintHeader, value };
    return run(TYPE_URL.updateClient, MsgUpdateClient.encode({ clientId, clientMessage, signer }).finish());
  }

  it("moves the latest height", () => {
    create();
    expect(update({})).toBe("done");
    expect(
      ibcKeeper.clientLatestHeight(chain.at(100n, blockTimeNs(11n)), "07-tendermint-0")?.revisionHeight,
    ).toBe(11n);
  });

  it.each([
    [{ signedHeader: undefined }, "client/12 tendermint signed header cannot be nil: invalid client header"],
    [
      { signedHeader: { header: undefined, commit: undefined } },
      "client/12 tendermint header cannot be nil: invalid client header",
    ],
    [
      { trustedHeight: { revisionNumber: 2n, revisionHeight: 11n } },
      "07-tendermint/5 TrustedHeight {2 11} must be less than header height {2 11}: invalid header height",
    ],
    [{ validatorSet: undefined }, "client/12 validator set is nil: invalid client header"],
  ])("rejects a header: %#", (change, expected) => {
    create();
    expect(update(change)).toBe(expected);
  });

  it("rejects an invalid client id", () => {
    expect(update({}, "a/b")).toBe("host/2 identifier a/b cannot contain separator '/': invalid identifier");
    expect(update({}, "short")).toBe(
      "host/2 identifier short has invalid length: 5, must be between 9-64 characters: invalid identifier",
    );
  });
});

describe("only the authority", () => {
  it("changes params", () => {
    const message = (by: string, allowedClients: string[]): Uint8Array =>
      MsgUpdateParams.encode({ signer: by, params: { allowedClients } }).finish();
    const url = "/ibc.core.client.v1.MsgUpdateParams";
    expect(run(url, message(signer, ["*"]))).toBe(`ibc/2 expected ${authority}, got ${signer}: unauthorized`);
    expect(run(url, message(authority, ["*", "07-tendermint"]))).toMatch(
      /^undefined\/1 allow list must have only one element/,
    );
    expect(run(url, message(authority, ["06-solomachine"]))).toBe("done");
    expect(create()).toMatch(/^client\/10 /);
  });

  it("changes the params of channels, whose upgrades end at a time", () => {
    const message = (by: string, timestamp: bigint, revisionHeight = 0n): Uint8Array => {
      const height = { revisionNumber: 0n, revisionHeight };
      const params = { upgradeTimeout: { height, timestamp } };
      return MsgUpdateChannelParams.encode({ authority: by, params }).finish();
    };
    const url = "/ibc.core.channel.v1.MsgUpdateParams";
    expect(run(url, message("x", 1n))).toMatch(/^ibc\/5 string could not be parsed as address: /);
    expect(run(url, message(authority, 0n))).toBe(
      "channel/35 upgrade timeout timestamp invalid: 0: upgrade timeout is invalid",
    );
    expect(run(url, message(authority, 1n, 7n))).toBe(
      "channel/35 upgrade timeout height must be zero. got : 0-7: upgrade timeout is invalid",
    );
    expect(run(url, MsgUpdateChannelParams.encode({ authority, params: undefined }).finish())).toMatch(
      /^channel\/35 upgrade timeout timestamp invalid: 0/,
    );
    expect(run(url, message(signer, 1n))).toBe(`ibc/2 expected ${authority}, got ${signer}: unauthorized`);
    expect(run(url, message(authority, 7n))).toBe("done");
    expect(channelParams.get(chain.at(1n, 0n))).toEqual({
      upgradeTimeout: { height: { revisionNumber: 0n, revisionHeight: 0n }, timestamp: 7n },
    });
  });

  it("recovers clients", () => {
    const message = MsgRecoverClient.encode({
      subjectClientId: "07-tendermint-0",
      substituteClientId: "07-tendermint-1",
      signer,
    });
    expect(run("/ibc.core.client.v1.MsgRecoverClient", message.finish())).toMatch(/^ibc\/2 /);
  });
});

describe("the module", () => {
  it("returns the signer of every message", () => {
    for (const { typeUrl, signers: of } of module.messages) {
      // An empty message has an empty signer.
      expect(of(new Uint8Array(0)), typeUrl).toEqual([""]);
    }
    expect(module.messages.length).toBeGreaterThan(0);
  });

  it("sets the height of the localhost client at the beginning of a block", () => {
    module.initGenesis(chain.at(1n, 0n), undefined);
    module.beginBlock?.(chain.at(7n, 0n), { lastCommit: [] });
    const states = module.exportGenesis(chain.at(7n, 0n));
    expect(JSON.stringify(states)).toContain('"latest_height":{"revision_number":"1","revision_height":"7"}');
  });
});
