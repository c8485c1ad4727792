import { beforeEach, describe, expect, it } from "vitest";
import { QueryArchivedProposalsResponse } from "../../../src/cosmos/proto/gen/cosmos/adminmodule/adminmodule/query.ts";
import { ProposalStatus } from "../../../src/cosmos/proto/gen/cosmos/gov/v1/gov.ts";
import type { JsonObject, JsonValue } from "../../../src/platform/base/json.ts";
import { ModuleError } from "../../../src/localnet/chain/runtime/errors.ts";
import { AUTHORITY, createStakeWorld, ECHO, type StakeWorld } from "../../support/stake-world.ts";

const ADMIN = "neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2";
const OTHER = "neutron10h9stc5v6ntgeygf5xf945njqq5h32r54rf7kf";
const VALIDATOR = "neutronvaloper18hl5c9xn5dze2g50uaw0l2mr02ew57zk5tccmr";

let world: StakeWorld;

beforeEach(() => {
  world = createStakeWorld({ adminmodule: { admins: [ADMIN] } }, 0n);
});

function manage(hooks: readonly JsonValue[], authority = AUTHORITY): JsonObject {
  return {
    "@type": "/neutron.harpoon.MsgManageHookSubscription",
    authority,
    hook_subscription: { contract_address: ECHO, hooks: [...hooks] },
  };
}

function propose(messages: readonly JsonValue[], proposer = ADMIN): void {
  world.run({
    "@type": "/cosmos.adminmodule.adminmodule.MsgSubmitProposal",
    messages: [...messages],
    proposer,
  });
}

function errorOf(run: () => void): readonly unknown[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ModuleError) return [error.codespace, error.code, error.message];
    throw error;
  }
  return [];
}

function adminsOf(from: StakeWorld): unknown {
  const module = from.modules.find(({ name }) => name === "adminmodule");
  return module?.exportGenesis(from.context());
}

describe("MsgSubmitProposal", () => {
  it("runs its messages as the authority, and counts proposals from 1", () => {
    propose([manage([1])]);
    propose([manage([2]), manage([3])]);
    expect(world.dump("harpoon").map(([key]) => key.slice(-8))).toEqual(["00000003"]);
    expect(world.dump("adminmodule")).toContainEqual(["06", "0000000000000003"]);
  });

  it("archives its messages", () => {
    propose([manage([1])]);
    propose([manage([2]), manage([3])]);
    const path = "/cosmos.adminmodule.adminmodule.Query/ArchivedProposals";
    const { proposals } = QueryArchivedProposalsResponse.decode(world.query(path, new Uint8Array(0)));
    expect(proposals).toMatchObject([
      { id: 1n, status: ProposalStatus.PROPOSAL_STATUS_PASSED, messages: [{}] },
      { id: 2n, status: ProposalStatus.PROPOSAL_STATUS_PASSED, messages: [{}, {}] },
    ]);
    expect(proposals[0]?.messages[0]?.typeUrl).toBe("/neutron.harpoon.MsgManageHookSubscription");
  });

  it("archives nothing that failed", () => {
    expect(() => world.atomically(() => propose([manage([1]), manage([12])]))).toThrow();
    expect(world.dump("adminmodule")).toContainEqual(["06", "0000000000000001"]);
    expect(world.dump("adminmodule").some(([key]) => key.startsWith("41726368697665"))).toBe(false);
  });

  it.each<[string, () => void, readonly unknown[]]>([
    [
      "an account that is no admin",
      () => propose([manage([1])], OTHER),
      ["undefined", 1, `proposer ${OTHER} must be admin to submit proposals to admin-module`],
    ],
    [
      "a message of another authority",
      () => propose([manage([1], OTHER)]),
      ["sdk", 24, `${OTHER}: tx intended signer does not match the given signer`],
    ],
    [
      "a message that nobody handles",
      () => propose([{ "@type": "/cosmos.bank.v1beta1.MsgUpdateParams", authority: AUTHORITY }]),
      ["sdk", 6, "no message handler found for /cosmos.bank.v1beta1.MsgUpdateParams: unknown request"],
    ],
    [
      "a message of an account",
      () => propose([{ "@type": "/cosmos.slashing.v1beta1.MsgUnjail", validator_addr: VALIDATOR }]),
      [
        "sdk",
        24,
        "neutron18hl5c9xn5dze2g50uaw0l2mr02ew57zkwkppa8: tx intended signer does not match the given signer",
      ],
    ],
    [
      "a message that fails",
      () => propose([manage([1]), manage([0])]),
      [
        "undefined",
        1,
        "failed to submit proposal: failed to handle /neutron.harpoon.MsgManageHookSubscription msg #1 in proposal: " +
          "failed to validate manage hook subscription message: non-existing hook type: unspecified hooks are not allowed",
      ],
    ],
  ])("refuses %s", (_name, run, expected) => {
    expect(errorOf(() => world.atomically(run))).toEqual(expected);
    expect(world.dump("harpoon")).toEqual([]);
  });
});

describe("genesis", () => {
  it("prints what it read", () => {
    expect(adminsOf(world)).toEqual({ admins: [ADMIN] });
  });

  it.each([
    [[ADMIN, ADMIN], "[1]: duplicate admin"],
    [["x"], "[0]: invalid admin address x"],
  ])("refuses %j", (admins, text) => {
    expect(() => createStakeWorld({ adminmodule: { admins } }, 0n)).toThrow(
      `app_state.adminmodule.admins${text}`,
    );
  });
});
