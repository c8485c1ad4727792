import { readFileSync } from "node:fs";
import { ed25519Address } from "../../src/cosmos/comet/validator-key.ts";
import { nextProposalId } from "../../src/localnet/chain/modules/adminmodule/module.ts";
import { signingInfos } from "../../src/localnet/chain/modules/slashing/keeper.ts";
import { ModuleError } from "../../src/localnet/chain/runtime/errors.ts";
import type { ChainEvent } from "../../src/localnet/chain/runtime/context.ts";
import { createGasMeter } from "../../src/localnet/chain/runtime/gas.ts";
import { fromBase64 } from "../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../src/platform/base/json.ts";
import { parseRfc3339Ns } from "../../src/platform/base/time.ts";
import { fixtureFile } from "./fixture-file.ts";
import { createStakeWorld, type StakeWorld } from "./stake-world.ts";

// The recorded transactions and blocks of staking, slashing and harpoon, run on our modules.

/** Transactions that succeeded and were left out of the recording. REST and the ids of the other ones show what they were. */
const LEFT_OUT: readonly { readonly height: number; readonly message: JsonObject; readonly time?: string }[] =
  [
    left(2619, "MsgBeginRedelegate", {
      delegator_address: "neutron10h9stc5v6ntgeygf5xf945njqq5h32r54rf7kf",
      validator_src_address: "neutronvaloper1qnk2n4nlkpw9xfqntladh74w6ujtulwnqshepx",
      validator_dst_address: "neutronvaloper18hl5c9xn5dze2g50uaw0l2mr02ew57zk5tccmr",
      amount: { denom: "untrn", amount: "100" },
    }),
    left(2622, "MsgUndelegate", {
      delegator_address: "neutron1qnk2n4nlkpw9xfqntladh74w6ujtulwn6dwq8z",
      validator_address: "neutronvaloper1qnk2n4nlkpw9xfqntladh74w6ujtulwnqshepx",
      amount: { denom: "untrn", amount: "1000000" },
    }),
    ...[
      [2668, "14", "2026-11-21T21:20:36.417971510Z"],
      [2670, "15", "2026-11-21T21:20:38.433214539Z"],
    ].map(([height, amount, time]) => ({
      ...left(Number(height), "MsgUndelegate", {
        delegator_address: "neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2",
        validator_address: "neutronvaloper18hl5c9xn5dze2g50uaw0l2mr02ew57zk5tccmr",
        amount: { denom: "untrn", amount: String(amount) },
      }),
      time: String(time),
    })),
  ];

function left(height: number, name: string, fields: JsonObject) {
  return { height, message: { "@type": `/cosmos.staking.v1beta1.${name}`, ...fields } };
}

interface RecordedEvent {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
}

export interface RecordedTx {
  readonly seq: number;
  readonly name: string;
  readonly height: number | null;
  readonly time: string | null;
  readonly messages: readonly JsonObject[];
  readonly code: number;
  readonly codespace: string;
  readonly raw_log: string;
  readonly data: string;
  readonly gas_used: string | null;
  readonly tx_base64: string;
  readonly events: readonly RecordedEvent[];
}

export interface RecordedBlock {
  readonly chain_id: string;
  readonly height: number;
  readonly time: string;
  readonly finalize_block_events: readonly RecordedEvent[];
  readonly validator_updates:
    | readonly {
        readonly pub_key: { readonly Sum: { readonly value: { readonly ed25519: string } } };
        readonly power?: string;
      }[]
    | null;
}

export const RECORDED_TXS: readonly RecordedTx[] = JSON.parse(
  readFileSync(fixtureFile("modules/staking-txs.json"), "utf8"),
);
export const RECORDED_BLOCKS: readonly RecordedBlock[] = JSON.parse(
  readFileSync(fixtureFile("modules/staking-block-events.json"), "utf8"),
);

export const FIRST_HEIGHT = 2354;
export const LAST_HEIGHT = 3062;

const VALIDATOR_1 = "dS2D2MaKWouvgxwq48t0s6mNvjr8WUtsl/4vRYahgro=";
const VALIDATOR_2 = "kOZl9zixNoKymbK2rNVMevOBxHUSW/G2vRk7gJgGIco=";
/** Proposals of other modules came between. */
const OTHER_PROPOSALS = { height: 2980, nextId: 15n };
/** Heights whose last commit has the second validator, which never signs. */
const VOTES_OF_2 = { first: 2375, last: 2475 };

const ACCOUNTS: readonly string[] = [
  "neutron18hl5c9xn5dze2g50uaw0l2mr02ew57zkwkppa8",
  "neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2",
  "neutron1qnk2n4nlkpw9xfqntladh74w6ujtulwn6dwq8z",
  "neutron10h9stc5v6ntgeygf5xf945njqq5h32r54rf7kf",
  "neutron14xcrdjwwxtf9zr7dvaa97wy056se6r5erln9pf",
];

const GENESIS: JsonObject = {
  adminmodule: { admins: ["neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2"] },
  auth: {
    accounts: ACCOUNTS.map((address, index) => ({
      "@type": "/cosmos.auth.v1beta1.BaseAccount",
      address,
      pub_key: null,
      account_number: String(index),
      sequence: "0",
    })),
  },
  bank: {
    balances: [
      // Before the delegations of the recording. Fees are not taken here.
      coinsOf("neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2", "99998990455000"),
      coinsOf("neutron1qnk2n4nlkpw9xfqntladh74w6ujtulwn6dwq8z", "100000000000"),
      coinsOf("neutron10h9stc5v6ntgeygf5xf945njqq5h32r54rf7kf", "100000000000"),
      coinsOf("neutron14xcrdjwwxtf9zr7dvaa97wy056se6r5erln9pf", "100000000000"),
      coinsOf("neutron1tygms3xhhs3yv487phx3dw4a95jn7t7l9yuu4y", "100000000"),
    ],
  },
  staking: {
    validators: [
      {
        operator_address: "neutronvaloper18hl5c9xn5dze2g50uaw0l2mr02ew57zk5tccmr",
        consensus_pubkey: { "@type": "/cosmos.crypto.ed25519.PubKey", key: VALIDATOR_1 },
        status: "BOND_STATUS_UNBONDED",
        tokens: "100000000",
        delegator_shares: "100000000.000000000000000000",
        description: { moniker: "validator-0" },
        unbonding_time: "1970-01-01T00:00:00Z",
        commission: {
          commission_rates: { rate: "0.1", max_rate: "0.2", max_change_rate: "0.01" },
          update_time: "2026-11-21T20:33:01.390500940Z",
        },
        min_self_delegation: "1",
      },
    ],
    delegations: [
      {
        delegator_address: "neutron18hl5c9xn5dze2g50uaw0l2mr02ew57zkwkppa8",
        validator_address: "neutronvaloper18hl5c9xn5dze2g50uaw0l2mr02ew57zk5tccmr",
        shares: "100000000.000000000000000000",
      },
    ],
  },
};

function coinsOf(address: string, amount: string): JsonObject {
  return { address, coins: [{ denom: "untrn", amount }] };
}

/** What our modules made of a recorded transaction. */
interface ReplayedTx {
  readonly code: number;
  readonly codespace: string;
  readonly text: string;
  readonly events: readonly ChainEvent[];
  readonly responses: readonly Uint8Array[];
  /** Gas of the messages alone. */
  readonly gas: bigint;
}

interface ReplayedBlock {
  readonly events: readonly ChainEvent[];
  readonly updates: readonly { readonly key: string; readonly power: bigint }[];
}

export interface StakeReplay {
  readonly world: StakeWorld;
  readonly txs: ReadonlyMap<number, ReplayedTx>;
  readonly blocks: ReadonlyMap<number, ReplayedBlock>;
}

/** Runs all blocks of the recording with its transactions. Calls `afterBlock` after each. */
export function replayStake(
  afterBlock: (world: StakeWorld, height: number) => void = () => undefined,
): StakeReplay {
  const world = createStakeWorld(GENESIS, parseRfc3339Ns("2026-11-21T20:33:01.390500940Z"));
  const txs = new Map<number, ReplayedTx>();
  const blocks = new Map<number, ReplayedBlock>();
  const times = knownTimes();
  const first = ed25519Address(fromBase64(VALIDATOR_1));
  const info = signingInfos.get(world.context(), first);
  // The first block counts no votes.
  if (info !== undefined)
    signingInfos.set(world.context(), first, { ...info, indexOffset: BigInt(FIRST_HEIGHT) - 2n });
  let timeNs = parseRfc3339Ns("2026-11-21T21:15:00Z");
  for (let height = FIRST_HEIGHT; height <= LAST_HEIGHT; height++) {
    timeNs = times.get(height) ?? timeNs + 1n;
    const place = { height: BigInt(height), timeNs };
    const block = world.block(place, votesAt(height), () => {
      if (height === OTHER_PROPOSALS.height) nextProposalId.set(world.context(), OTHER_PROPOSALS.nextId);
      for (const tx of RECORDED_TXS.filter((one) => one.height === height)) txs.set(tx.seq, runTx(world, tx));
      for (const { message } of LEFT_OUT.filter((one) => one.height === height)) world.run(message);
    });
    blocks.set(height, block);
    afterBlock(world, height);
  }
  return { world, txs, blocks };
}

function knownTimes(): ReadonlyMap<number, bigint> {
  const known = [
    ...RECORDED_TXS,
    ...RECORDED_BLOCKS.filter(({ chain_id }) => chain_id === "test-1"),
    ...LEFT_OUT,
  ];
  return new Map(
    known.flatMap(({ height, time }) =>
      height === null || time === null || time === undefined ? [] : [[height, parseRfc3339Ns(time)] as const],
    ),
  );
}

function votesAt(height: number) {
  const vote = (key: string, power: bigint, signed: boolean) => ({
    address: ed25519Address(fromBase64(key)),
    power,
    signed,
  });
  const hasSecond = height >= VOTES_OF_2.first && height <= VOTES_OF_2.last;
  return [vote(VALIDATOR_1, 100n, true), ...(hasSecond ? [vote(VALIDATOR_2, 3n, false)] : [])];
}

function runTx(world: StakeWorld, tx: RecordedTx): ReplayedTx {
  const before = world.events.length;
  const meter = createGasMeter();
  try {
    const responses = world.atomically(() => tx.messages.map((message) => world.run(message)), meter);
    const events = world.events.slice(before);
    return { code: 0, codespace: "", text: "", events, responses, gas: meter.used() };
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    world.events.length = before;
    const { code, codespace, message: text } = error;
    return { code, codespace, text, events: [], responses: [], gas: meter.used() };
  }
}
