import { beforeEach, describe, expect, it } from "vitest";
import { encodeBech32 } from "../../../../src/platform/base/bytes.ts";
import {
  packClientState,
  packConsensusState,
} from "../../../../src/localnet/chain/modules/ibc/client/client-store.ts";
import { TENDERMINT_TYPE } from "../../../../src/localnet/chain/modules/ibc/host/identifiers.ts";
import { createIbcModule } from "../../../../src/localnet/chain/modules/ibc/module.ts";
import { tendermintClientState } from "../../../../src/localnet/chain/modules/ibc/open-connection.ts";
import { ModuleError } from "../../../../src/localnet/chain/runtime/errors.ts";
import * as wire from "../../../../src/cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { MsgUpdateParams as MsgUpdateConnectionParams } from "../../../../src/cosmos/proto/gen/ibc/core/connection/v1/tx.ts";
import { ClientState as LocalhostState } from "../../../../src/cosmos/proto/gen/ibc/lightclients/localhost/v2/localhost.ts";
import {
  Header,
  Misbehaviour,
} from "../../../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../src/cosmos/proto/registry.ts";
import { updateHeader } from "../../../support/comet/light-block.ts";
import { blockTimeNs, createSigners, signBlock } from "../../../support/comet/signed-chain.ts";
import { createMemoryChain, type MemoryChain } from "../../../support/ibc/memory-chain.ts";

// ibc-go 8, modules/core/02-client/types/msgs.go and light-clients/07-tendermint/misbehaviour.go. Client states and headers have their
// own tables in messages.test.ts.

const SECOND = 1_000_000_000n;
const SETTINGS = {
  trustingPeriodNs: 3600n * SECOND,
  unbondingPeriodNs: 7200n * SECOND,
  maxClockDriftNs: 10n * SECOND,
};
const ID = "07-tendermint-0";
const signer = encodeBech32("neutron", new Uint8Array(20));
const authority = encodeBech32("neutron", new Uint8Array(20).fill(9));
const module = createIbcModule({ bech32Prefix: "neutron", authority });
const signers = createSigners("messages", [2n, 1n]);
const first = signBlock(signers, { chainId: "remote-2", height: 10n });
const height = (revisionHeight: bigint) => ({ revisionNumber: 2n, revisionHeight });

const clientState = packClientState({
  type: TENDERMINT_TYPE,
  state: tendermintClientState("remote-2", height(10n), SETTINGS),
});
const consensusState = packConsensusState({
  timeNs: first.header.timeNs,
  root: first.header.appHash,
  nextValidatorsHash: first.header.nextValidatorsHash,
});
const localhost = (revisionHeight: bigint) => ({
  typeUrl: "/ibc.lightclients.localhost.v2.ClientState",
  value: LocalhostState.encode({ latestHeight: { revisionNumber: 1n, revisionHeight } }).finish(),
});
const headerAt = (
  of: bigint,
  trusted = 10n,
  facts: { readonly appHash?: Uint8Array; readonly chainId?: string } = {},
) => {
  const block = signBlock(signers, { chainId: "remote-2", height: of, ...facts });
  return updateHeader(block, height(trusted), block);
};
const clientMessage = { typeUrl: TYPE_URL.tendermintHeader, value: Header.encode(headerAt(11n)).finish() };
const fork = {
  clientId: ID,
  header1: headerAt(20n),
  header2: headerAt(20n, 10n, { appHash: new Uint8Array(32) }),
};
const misbehaviourOf = (changes: Partial<Misbehaviour>) => ({
  typeUrl: TYPE_URL.tendermintMisbehaviour,
  value: Misbehaviour.encode({ ...fork, ...changes }).finish(),
});
/** A header whose first signature is another one. */
function tampered(header: Header): Header {
  const commit = header.signedHeader?.commit;
  if (commit === undefined) throw new Error("the header has no commit");
  const signatures = commit.signatures.map((one) => ({ ...one, signature: new Uint8Array(64).fill(1) }));
  return {
    ...header,
    signedHeader: { header: header.signedHeader?.header, commit: { ...commit, signatures } },
  };
}

const GOOD = {
  create: { clientState, consensusState, signer },
  update: { clientId: ID, clientMessage, signer },
  misbehaviour: { clientId: ID, misbehaviour: misbehaviourOf({}), signer },
  upgrade: {
    clientId: ID,
    clientState,
    consensusState,
    proofUpgradeClient: Uint8Array.of(1),
    proofUpgradeConsensusState: Uint8Array.of(1),
    signer,
  },
  recover: { subjectClientId: ID, substituteClientId: "07-tendermint-1", signer: authority },
};

let chain: MemoryChain;
beforeEach(() => {
  chain = createMemoryChain("local-1");
  create();
});

const PACKAGE = "/ibc.core.client.v1.";
const create = (changes: Partial<wire.MsgCreateClient> = {}) =>
  run("MsgCreateClient", wire.MsgCreateClient.encode({ ...GOOD.create, ...changes }).finish());
const update = (changes: Partial<wire.MsgUpdateClient>) =>
  run("MsgUpdateClient", wire.MsgUpdateClient.encode({ ...GOOD.update, ...changes }).finish());
const misbehave = (changes: Partial<wire.MsgSubmitMisbehaviour>) =>
  run(
    "MsgSubmitMisbehaviour",
    wire.MsgSubmitMisbehaviour.encode({ ...GOOD.misbehaviour, ...changes }).finish(),
  );
const upgrade = (changes: Partial<wire.MsgUpgradeClient>) =>
  run("MsgUpgradeClient", wire.MsgUpgradeClient.encode({ ...GOOD.upgrade, ...changes }).finish());
const recover = (changes: Partial<wire.MsgRecoverClient>) =>
  run("MsgRecoverClient", wire.MsgRecoverClient.encode({ ...GOOD.recover, ...changes }).finish());

/** Decodes and runs a message. Returns "codespace/code text" of the error, or "done". */
function run(name: string, bytes: Uint8Array, prefix = PACKAGE): string {
  const handler = module.messages.find((one) => one.typeUrl === `${prefix}${name}`);
  if (handler === undefined) throw new Error(`no handler of ${name}`);
  try {
    handler.signers(bytes);
    handler.handle(chain.at(100n, blockTimeNs(21n)), bytes);
    return "done";
  } catch (error) {
    if (error instanceof ModuleError) return `${error.codespace}/${error.code} ${error.message}`;
    throw error;
  }
}

const NO_SIGNER =
  "ibc/5 string could not be parsed as address: decoding bech32 failed: invalid bech32 string length 2: invalid address";
const NIL = "ibc/14 protobuf Any message cannot be nil: failed unpacking protobuf message from Any";
const BAD_ID = "host/2 identifier a/b-1234567 cannot contain separator '/': invalid identifier";
const wrongType = (typeUrl: string, name: string): string =>
  `sdk/2 no concrete type registered for type URL ${typeUrl} against interface *exported.${name}: tx parse error`;
const asMisbehaviour = (changes: Partial<Misbehaviour>) =>
  misbehave({ misbehaviour: misbehaviourOf(changes) });

const CASES: readonly (readonly [field: string, result: () => string, expected: string])[] = [
  ["MsgCreateClient: signer", () => create({ signer: "me" }), NO_SIGNER],
  ["MsgCreateClient: client_state absent", () => create({ clientState: undefined }), NIL],
  [
    "MsgCreateClient: client_state of another type",
    () => create({ clientState: consensusState }),
    wrongType(TYPE_URL.tendermintConsensusState, "ClientState"),
  ],
  [
    "MsgCreateClient: client_state of the localhost client",
    () => create({ clientState: localhost(1n) }),
    "client/10 client type for client state and consensus state do not match: invalid client type",
  ],
  [
    "MsgCreateClient: client_state of the localhost client without a height",
    () => create({ clientState: localhost(0n) }),
    "ibc/9 local revision height cannot be zero: invalid height",
  ],
  ["MsgCreateClient: consensus_state absent", () => create({ consensusState: undefined }), NIL],
  [
    "MsgCreateClient: consensus_state of another type",
    () => create({ consensusState: clientState }),
    wrongType(TYPE_URL.tendermintClientState, "ConsensusState"),
  ],
  ["MsgUpdateClient: signer", () => update({ signer: "me" }), NO_SIGNER],
  ["MsgUpdateClient: client_id", () => update({ clientId: "a/b-1234567" }), BAD_ID],
  [
    "MsgUpdateClient: client_id of no client",
    () => update({ clientId: "07-tendermint-9" }),
    "client/4 cannot update client with ID 07-tendermint-9: light client not found",
  ],
  ["MsgUpdateClient: client_message absent", () => update({ clientMessage: undefined }), NIL],
  [
    "MsgUpdateClient: client_message of another type",
    () => update({ clientMessage: clientState }),
    wrongType(TYPE_URL.tendermintClientState, "ClientMessage"),
  ],
  ["MsgSubmitMisbehaviour: signer", () => misbehave({ signer: "me" }), NO_SIGNER],
  ["MsgSubmitMisbehaviour: client_id", () => misbehave({ clientId: "a/b-1234567" }), BAD_ID],
  [
    "MsgSubmitMisbehaviour: client_id of no client",
    () => misbehave({ clientId: "07-tendermint-9" }),
    "client/4 cannot update client with ID 07-tendermint-9: light client not found",
  ],
  ["MsgSubmitMisbehaviour: misbehaviour absent", () => misbehave({ misbehaviour: undefined }), NIL],
  [
    "MsgSubmitMisbehaviour: misbehaviour of another type",
    () => misbehave({ misbehaviour: consensusState }),
    wrongType(TYPE_URL.tendermintConsensusState, "ClientMessage"),
  ],
  [
    "MsgSubmitMisbehaviour: header_1 absent",
    () => asMisbehaviour({ header1: undefined }),
    "07-tendermint/6 misbehaviour Header1 cannot be nil: invalid header",
  ],
  [
    "MsgSubmitMisbehaviour: header_2 absent",
    () => asMisbehaviour({ header2: undefined }),
    "07-tendermint/6 misbehaviour Header2 cannot be nil: invalid header",
  ],
  [
    "MsgSubmitMisbehaviour: header_1.trusted_height",
    () => asMisbehaviour({ header1: headerAt(20n, 0n) }),
    "07-tendermint/5 misbehaviour Header1 cannot have zero revision height: invalid header height",
  ],
  [
    "MsgSubmitMisbehaviour: header_2.trusted_height",
    () => asMisbehaviour({ header2: headerAt(20n, 0n) }),
    "07-tendermint/5 misbehaviour Header2 cannot have zero revision height: invalid header height",
  ],
  [
    "MsgSubmitMisbehaviour: header_1.trusted_validators",
    () => asMisbehaviour({ header1: { ...fork.header1, trustedValidators: undefined } }),
    "07-tendermint/14 trusted validator set in Header1 cannot be empty: invalid validator set",
  ],
  [
    "MsgSubmitMisbehaviour: header_2.trusted_validators",
    () => asMisbehaviour({ header2: { ...fork.header2, trustedValidators: undefined } }),
    "07-tendermint/14 trusted validator set in Header2 cannot be empty: invalid validator set",
  ],
  [
    "MsgSubmitMisbehaviour: chain ids",
    () => asMisbehaviour({ header2: headerAt(20n, 10n, { chainId: "other-2" }) }),
    "client/13 headers must have identical chainIDs: invalid light client misbehaviour",
  ],
  [
    "MsgSubmitMisbehaviour: misbehaviour.client_id",
    () => asMisbehaviour({ clientId: "a/b-1234567" }),
    "host/2 misbehaviour client ID is invalid: identifier a/b-1234567 cannot contain separator '/': invalid identifier",
  ],
  [
    "MsgSubmitMisbehaviour: order of the headers",
    () => asMisbehaviour({ header1: headerAt(19n) }),
    "client/13 Header1 height is less than Header2 height (2-19 < 2-20): invalid light client misbehaviour",
  ],
  [
    "MsgSubmitMisbehaviour: header_1.validator_set",
    () => asMisbehaviour({ header1: { ...fork.header1, validatorSet: undefined } }),
    "client/13 header 1 failed validation: validator set is nil: invalid client header: invalid light client misbehaviour",
  ],
  [
    "MsgSubmitMisbehaviour: header_2.validator_set",
    () => asMisbehaviour({ header2: { ...fork.header2, validatorSet: undefined } }),
    "client/13 header 2 failed validation: validator set is nil: invalid client header: invalid light client misbehaviour",
  ],
  ...(["header1", "header2"] as const).map(
    (name) =>
      [
        `MsgSubmitMisbehaviour: signatures of ${name}`,
        () => asMisbehaviour({ [name]: tampered(fork[name]) }),
        "client/13 validator set did not commit to header: invalid light client misbehaviour",
      ] as const,
  ),
  [
    "MsgSubmitMisbehaviour: header_2.trusted_height without a consensus state",
    () => asMisbehaviour({ header2: { ...fork.header2, trustedHeight: height(9n) } }),
    "client/7 could not get trusted consensus state from clientStore for Header2 at TrustedHeight: 2-9: consensus state not found",
  ],
  [
    "MsgUpgradeClient: no field is wrong",
    () => upgrade({}),
    "sdk/37 /ibc.core.client.v1.MsgUpgradeClient is not implemented: feature not supported",
  ],
  ["MsgUpgradeClient: client_state absent", () => upgrade({ clientState: undefined }), NIL],
  [
    "MsgUpgradeClient: client_state of another type",
    () => upgrade({ clientState: clientMessage }),
    wrongType(TYPE_URL.tendermintHeader, "ClientState"),
  ],
  [
    "MsgUpgradeClient: client_state of the localhost client",
    () => upgrade({ clientState: localhost(1n) }),
    "client/25 consensus state's client-type does not match client. expected: 09-localhost, got: 07-tendermint: invalid client upgrade",
  ],
  ["MsgUpgradeClient: consensus_state absent", () => upgrade({ consensusState: undefined }), NIL],
  [
    "MsgUpgradeClient: consensus_state of another type",
    () => upgrade({ consensusState: clientMessage }),
    wrongType(TYPE_URL.tendermintHeader, "ConsensusState"),
  ],
  [
    "MsgUpgradeClient: proof_upgrade_client",
    () => upgrade({ proofUpgradeClient: new Uint8Array(0) }),
    "client/25 proof of upgrade client cannot be empty: invalid client upgrade",
  ],
  [
    "MsgUpgradeClient: proof_upgrade_consensus_state",
    () => upgrade({ proofUpgradeConsensusState: new Uint8Array(0) }),
    "client/25 proof of upgrade consensus state cannot be empty: invalid client upgrade",
  ],
  ["MsgUpgradeClient: signer", () => upgrade({ signer: "me" }), NO_SIGNER],
  ["MsgUpgradeClient: client_id", () => upgrade({ clientId: "a/b-1234567" }), BAD_ID],
  ["MsgRecoverClient: signer", () => recover({ signer: "me" }), NO_SIGNER],
  [
    "MsgRecoverClient: signer that is not the authority",
    () => recover({ signer }),
    `ibc/2 expected ${authority}, got ${signer}: unauthorized`,
  ],
  ["MsgRecoverClient: subject_client_id", () => recover({ subjectClientId: "a/b-1234567" }), BAD_ID],
  ["MsgRecoverClient: substitute_client_id", () => recover({ substituteClientId: "a/b-1234567" }), BAD_ID],
  [
    "MsgRecoverClient: the same client twice",
    () => recover({ substituteClientId: ID }),
    "client/27 subject and substitute clients must be different: invalid client state substitute",
  ],
  [
    "MsgRecoverClient: subject_client_id of no client",
    () => recover({ subjectClientId: "07-tendermint-9" }),
    "client/4 subject client with ID 07-tendermint-9: light client not found",
  ],
  [
    "MsgRecoverClient: subject_client_id of an active client",
    () => recover({}),
    "client/24 cannot recover Active subject client: invalid recovery client",
  ],
];

describe("a message of a client with one wrong field", () => {
  it.each(CASES)("%s", (_field, result, expected) => expect(result()).toBe(expected));

  it("is good without it", () => {
    expect([create(), update({}), misbehave({})]).toEqual(["done", "done", "done"]);
  });
});

describe("the parameters of clients and connections", () => {
  it("are checked before the authority, as in ibc-go", () => {
    const blank = wire.MsgUpdateParams.encode({ signer, params: { allowedClients: [" "] } }).finish();
    expect(run("MsgUpdateParams", blank)).toBe("undefined/1 client type 0 cannot be blank");
    const twice = wire.MsgUpdateParams.encode({ signer, params: { allowedClients: ["a", "a"] } }).finish();
    expect(run("MsgUpdateParams", twice)).toBe("undefined/1 duplicate client type: a");
    const zero = MsgUpdateConnectionParams.encode({ signer, params: undefined }).finish();
    expect(run("MsgUpdateParams", zero, "/ibc.core.connection.v1.")).toBe(
      "undefined/1 MaxExpectedTimePerBlock cannot be zero",
    );
    const good = MsgUpdateConnectionParams.encode({
      signer,
      params: { maxExpectedTimePerBlock: 5n },
    }).finish();
    expect(run("MsgUpdateParams", good, "/ibc.core.connection.v1.")).toBe(
      `ibc/2 expected ${authority}, got ${signer}: unauthorized`,
    );
    const nobody = MsgUpdateConnectionParams.encode({ signer: "me", params: undefined }).finish();
    expect(run("MsgUpdateParams", nobody, "/ibc.core.connection.v1.")).toBe(NO_SIGNER);
  });
});
