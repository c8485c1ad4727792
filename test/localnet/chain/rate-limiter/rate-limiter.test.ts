import { describe, expect, it } from "vitest";
import {
  createLimiter,
  GOVERNANCE,
  type Limiter,
  packetJson,
  pathJson,
  type Transfer,
} from "../../../support/rate-limiter.ts";

const WEEK = 604_800;
const DAY = 86_400;
const MONTH = 2_592_000;
const SECOND = 1_000_000_000n;
const ATOM = "ibc/27394FB092D2ECCD56123C74F36E4C1F926001CEADA9CA97EA622B25F41E5EB2";

/** A limiter of untrn over channel-0 with one weekly quota, equal in both directions. */
function weekly(supply: bigint, percent: number): Limiter {
  return createLimiter(supply, [pathJson("channel-0", "untrn", [["weekly", WEEK, percent, percent]])]);
}

function exceeded(amount: number, quota: string, used: string): RegExp {
  return new RegExp(
    `^IBC Rate Limit exceeded for channel-0/untrn\\. Tried to transfer ${amount} which exceeds capacity on the '${quota}' quota \\(${used}\\)\\. Try again after Timestamp\\(Uint64\\(\\d+\\)\\)$`,
  );
}

describe("a quota", () => {
  it("allows up to its capacity, names what is used, and takes an undone transfer back", () => {
    const limiter = weekly(10_000n, 1);
    expect(limiter.send({ amount: 100n })).toEqual({
      method: "try_transfer",
      channel_id: "channel-0",
      denom: "untrn",
      weekly_used_in: "0",
      weekly_used_out: "100",
      weekly_max_in: "100",
      weekly_max_out: "100",
      weekly_period_end: "1572402219.879305533",
    });
    expect(() => limiter.send({ amount: 1n })).toThrow(
      "IBC Rate Limit exceeded for channel-0/untrn. Tried to transfer 1 which exceeds capacity on the 'weekly' quota (100/100). Try again after Timestamp(Uint64(1572402219879305533))",
    );
    expect(limiter.undo({ amount: 100n })).toEqual({
      method: "undo_send",
      channel_id: "channel-0",
      denom: "untrn",
      any_channel: "false",
    });
    expect(limiter.send({ amount: 100n })).toMatchObject({ weekly_used_out: "100" });
  });

  it("begins a new window with the first transfer after the end of the last one", () => {
    const limiter = weekly(3_000n, 10);
    limiter.send({ amount: 300n });
    limiter.advance(BigInt(WEEK) * SECOND);
    expect(() => limiter.send({ amount: 300n })).toThrow(exceeded(300, "weekly", "300/300"));
    limiter.advance(1n);
    limiter.setSupply(5_000n);
    expect(limiter.send({ amount: 300n })).toMatchObject({
      weekly_max_out: "500",
      weekly_period_end: "1573007019.879305534",
    });
  });

  it("keeps no channel value of a transfer that fails", () => {
    const limiter = weekly(100n, 10);
    expect(() => limiter.send({ amount: 300n })).toThrow(exceeded(300, "weekly", "0/10"));
    expect(limiter.query({ get_quotas: { channel_id: "channel-0", denom: "untrn" } })).toMatchObject([
      { quota: { channel_value: null }, flow: { outflow: "0" } },
    ]);
  });

  it.each<[supply: bigint, percent: number, amount: number, used: string | undefined]>([
    [199n, 1, 1, undefined],
    [199n, 1, 2, "0/1"],
    [99n, 1, 1, "0/0"],
    [101n, 1, 1, undefined],
    [3_060n, 4, 122, undefined],
    [3_060n, 4, 123, "0/122"],
    [0n, 100, 0, undefined],
    [0n, 100, 1, "0/0"],
  ])("of supply %d and %d %% has a capacity rounded down: %d", (supply, percent, amount, used) => {
    const transfer = (): unknown => weekly(supply, percent).send({ amount: BigInt(amount) });
    if (used === undefined) expect(transfer()).toMatchObject({ method: "try_transfer" });
    else expect(transfer).toThrow(exceeded(amount, "weekly", used));
  });

  it("takes amounts of 128 bits", () => {
    const all = 2n ** 128n - 1n;
    expect(weekly(all, 100).send({ amount: all })).toMatchObject({ weekly_used_out: all.toString() });
  });

  it("counts the amount of a sent voucher to the supply, which is burned already", () => {
    const path = pathJson("channel-0", ATOM, [["weekly", WEEK, 5, 5]]);
    const limiter = createLimiter(950n, [path]);
    const sent = { denom: "transfer/channel-0/uatom" };
    expect(limiter.send({ ...sent, amount: 50n })).toMatchObject({ denom: ATOM, weekly_max_out: "50" });
    expect(limiter.receive({ denom: "uatom", amount: 10n, source: "channel-9" })).toMatchObject({
      denom: ATOM,
      weekly_used_out: "40",
    });
  });

  it("limits what is received", () => {
    const limiter = createLimiter(1_000n, [pathJson("channel-0", ATOM, [["weekly", WEEK, 5, 5]])]);
    const received = { denom: "uatom", source: "channel-9" };
    expect(() => limiter.receive({ ...received, amount: 51n })).toThrow("(0/50)");
    expect(limiter.receive({ ...received, amount: 50n })).toMatchObject({ weekly_used_in: "50" });
  });

  it("has the net flow of both directions, and checks the direction of the transfer only", () => {
    const any = createLimiter(3_300n, [pathJson("any", "untrn", [["weekly", WEEK, 10, 10]])]);
    const back = { denom: "transfer/channel-0/untrn" };
    expect(any.send({ amount: 300n })).toMatchObject({ weekly_used_in: "0", weekly_used_out: "300" });
    expect(any.receive({ ...back, amount: 300n })).toMatchObject({
      weekly_used_in: "0",
      weekly_used_out: "0",
    });
    expect(any.receive({ ...back, amount: 300n })).toMatchObject({ weekly_used_in: "300" });
    expect(() => any.receive({ ...back, amount: 300n })).toThrow("(300/330)");
  });

  it("may differ by direction", () => {
    const limiter = createLimiter(3_060n, [pathJson("any", "untrn", [["weekly", WEEK, 4, 1]])]);
    const used = (attributes: Readonly<Record<string, string>>): string | undefined =>
      attributes["weekly_used_out"];
    expect(used(limiter.send({ amount: 60n }))).toBe("60");
    expect(used(limiter.send({ amount: 60n }))).toBe("120");
    expect(used(limiter.receive({ denom: "transfer/channel-0/untrn", amount: 30n }))).toBe("90");
    expect(() => limiter.send({ amount: 60n })).toThrow("(90/122)");
    expect(used(limiter.send({ amount: 30n }))).toBe("120");
  });
});

describe("several quotas", () => {
  it("of the channel and of all channels count together; those of all channels are named first", () => {
    const limiter = createLimiter(10_000n, [
      pathJson("any", "untrn", [["anyd", DAY, 1, 1]]),
      pathJson("channel-0", "untrn", [
        ["d", DAY, 2, 2],
        ["w", WEEK, 4, 4],
      ]),
    ]);
    expect(Object.keys(limiter.send({ amount: 100n })).filter((key) => key.endsWith("used_out"))).toEqual([
      "anyd_used_out",
      "d_used_out",
      "w_used_out",
    ]);
    expect(() => limiter.send({ amount: 1n })).toThrow(exceeded(1, "anyd", "100/100"));
    expect(limiter.undo({ amount: 40n })).toMatchObject({ any_channel: "true" });
    limiter.undo({ amount: 400n });
    expect(limiter.query({ get_quotas: { channel_id: "any", denom: "untrn" } })).toMatchObject([
      { flow: { outflow: "0" } },
    ]);
  });

  it("have windows of their own", () => {
    const limiter = createLimiter(101n, [
      pathJson("any", "untrn", [
        ["daily", DAY, 1, 1],
        ["weekly", WEEK, 5, 5],
        ["monthly", MONTH, 5, 5],
      ]),
    ]);
    const nextDay = (): void => limiter.advance(BigInt(DAY + 1) * SECOND);
    limiter.send({ amount: 1n });
    expect(() => limiter.send({ amount: 1n })).toThrow(exceeded(1, "daily", "1/1"));
    for (let day = 2; day <= 5; day += 1) {
      nextDay();
      limiter.send({ amount: 1n });
    }
    nextDay();
    expect(() => limiter.send({ amount: 1n })).toThrow(exceeded(1, "weekly", "5/5"));
    limiter.advance(BigInt(WEEK + 1) * SECOND);
    expect(() => limiter.send({ amount: 1n })).toThrow(exceeded(1, "monthly", "5/5"));
  });

  it("keep the supply of the beginning of their window", () => {
    const limiter = createLimiter(100n, [
      pathJson("any", "untrn", [
        ["daily", DAY, 2, 2],
        ["weekly", WEEK, 5, 5],
      ]),
    ]);
    limiter.send({ amount: 1n });
    expect(() => limiter.send({ amount: 3n })).toThrow(exceeded(3, "daily", "1/2"));
    limiter.setSupply(100_000n);
    expect(() => limiter.send({ amount: 3n })).toThrow(exceeded(3, "daily", "1/2"));
    limiter.advance(BigInt(DAY + 1) * SECOND);
    limiter.setSupply(10_000n);
    expect(() => limiter.send({ amount: 100n })).toThrow(exceeded(100, "weekly", "1/5"));
    limiter.advance(BigInt(WEEK + 1) * SECOND);
    expect(limiter.send({ amount: 100n })).toMatchObject({ weekly_max_out: "500" });
  });
});

describe("the path of a packet", () => {
  const limiter = createLimiter(1_000n);
  it.each<readonly ["send" | "receive", Omit<Transfer, "amount">, readonly [channel: string, denom: string]]>(
    [
      [
        "send",
        { source: "channel-17-local", destination: "omitted", denom: "uosmo" },
        ["channel-17-local", "uosmo"],
      ],
      [
        "receive",
        { source: "channel-42-counterparty", destination: "channel-17-local", denom: "ujuno" },
        ["channel-17-local", "ibc/09E4864A262249507925831FBAD69DAD08F66FAAA0640714E765912A0751289A"],
      ],
      [
        "receive",
        {
          source: "channel-42-counterparty",
          destination: "channel-17-local",
          denom: "transfer/channel-42-counterparty/uosmo",
        },
        ["channel-17-local", "uosmo"],
      ],
      [
        "receive",
        { source: "channel-42", destination: "channel-0", denom: "transfer/channel-0/uatom" },
        ["channel-0", "ibc/6CDD4663F2F09CD62285E2D45891FC149A3568E316CE3EBBE201A71A78A69388"],
      ],
      [
        "receive",
        {
          source: "channel-0",
          destination: "channel-42",
          denom: "transfer/channel-0/transfer/channel-0/uatom",
        },
        ["channel-42", ATOM],
      ],
      [
        "send",
        { source: "channel-141", destination: "omitted", denom: "transfer/channel-141/uosmo" },
        ["channel-141", "ibc/14F9BC3E44B8A9C1BE1FB08980FAB87034C9905EF17CF2F5008FC085218811CC"],
      ],
      [
        "receive",
        { source: "channel-1", destination: "channel-0", denom: "transfer/channel-10/uatom" },
        ["channel-0", ""],
      ],
      [
        "receive",
        {
          source: "channel-7",
          destination: "channel-0",
          denom: "transfer/channel-7/factory/neutron1abc/foo",
        },
        ["channel-0", "ibc/AA812EDFE93B839EC9F2307DCBE4A32BE2287971BC41342244EE5CBDAA99179A"],
      ],
      [
        "send",
        { source: "channel-0", destination: "omitted", denom: "factory/neutron1abc/foo" },
        ["channel-0", "factory/neutron1abc/foo"],
      ],
    ],
  )("%s %j", (direction, transfer, [channel, denom]) => {
    expect(limiter[direction]({ ...transfer, amount: 1n })).toEqual({
      method: "try_transfer",
      channel_id: channel,
      denom,
      quota: "none",
    });
  });
});

describe("a sudo message", () => {
  const limiter = weekly(1_000n, 50);
  const without = (name: string): Record<string, unknown> => {
    const { [name]: _left, ...rest } = packetJson({ amount: 1n });
    return rest;
  };
  const TYPE = "Error parsing into type rate_limiter::msg::SudoMsg: ";

  it("takes a memo, a timestamp as text, and fields that it does not know", () => {
    const packet = { ...packetJson({ amount: 1n }), timeout_timestamp: "1668024476848430980", more: 1 };
    expect(limiter.sudo({ send_packet: { packet } })).toMatchObject({ weekly_used_out: "1" });
  });

  it.each<[string, Record<string, unknown>, string]>([
    [
      "no timeout_height",
      { send_packet: { packet: without("timeout_height") } },
      `${TYPE}missing field \`timeout_height\``,
    ],
    [
      "no sender",
      {
        send_packet: {
          packet: { ...packetJson({ amount: 1n }), data: { denom: "untrn", amount: "1", receiver: "b" } },
        },
      },
      `${TYPE}missing field \`sender\``,
    ],
    [
      "a negative amount",
      { send_packet: { packet: packetJson({ amount: "-1" }) } },
      `${TYPE}invalid Uint256 '-1'`,
    ],
    [
      "an integer as text, which serde does not take",
      { send_packet: { packet: { ...packetJson({ amount: 1n }), sequence: "1" } } },
      `${TYPE}invalid type of packet.sequence, expected an unsigned 64-bit integer`,
    ],
    [
      "words for an amount",
      { recv_packet: { packet: packetJson({ amount: "abc" }) } },
      `${TYPE}invalid Uint256 'abc'`,
    ],
    [
      "an unknown name",
      { foo: {} },
      `${TYPE}unknown variant \`foo\`, expected one of \`send_packet\`, \`recv_packet\`, \`undo_send\``,
    ],
    ["two names", { send_packet: {}, recv_packet: {} }, `${TYPE}expected one variant`],
  ])("with %s is refused", (_name, message, text) => {
    expect(() => limiter.sudo(JSON.parse(JSON.stringify(message)))).toThrow(text);
  });
});

describe("channels of a denomination", () => {
  it("can be restricted for sending, by the denomination of the packet", () => {
    const limiter = createLimiter(1_000n);
    limiter.execute({ set_denom_restrictions: { denom: "stake", allowed_channels: ["channel-0"] } });
    expect(limiter.send({ amount: 1n, denom: "stake" })).toMatchObject({ quota: "none" });
    expect(() => limiter.send({ amount: 1n, denom: "stake", source: "channel-1" })).toThrow(
      "Channel channel-1 has been blocked for denom stake",
    );
    expect(limiter.query({ get_denom_restrictions: { denom: "stake" } })).toEqual(["channel-0"]);
    limiter.execute({ unset_denom_restrictions: { denom: "stake" } });
    expect(limiter.send({ amount: 1n, denom: "stake", source: "channel-1" })).toMatchObject({
      quota: "none",
    });
  });
});

describe("the roles", () => {
  const BOB = "neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2";
  const add = { add_path: pathJson("channel-0", "untrn", [["d", DAY, 3, 5]]) };

  it("decide who may change what", () => {
    const limiter = createLimiter(1_000n);
    expect(() => limiter.execute(add, BOB)).toThrow("Unauthorized");
    expect(limiter.execute({ grant_role: { signer: BOB, roles: ["AddRateLimit"] } })).toEqual({
      method: "grant_role",
    });
    expect(limiter.execute(add, BOB)).toEqual({
      method: "try_add_channel",
      channel_id: "channel-0",
      denom: "untrn",
    });
    expect(limiter.query("get_role_owners")).toEqual([GOVERNANCE, BOB].toSorted());
    expect(limiter.query({ get_roles: { owner: BOB } })).toEqual(["AddRateLimit"]);
    limiter.execute({ revoke_role: { signer: BOB, roles: ["AddRateLimit"] } });
    expect(() => limiter.execute(add, BOB)).toThrow("Unauthorized");
    expect(() => limiter.query({ get_roles: { owner: BOB } })).toThrow("not found");
    expect(() => limiter.execute({ grant_role: { signer: BOB, roles: ["King"] } })).toThrow("King");
    expect(() => limiter.query({ get_role_owners: {} })).toThrow("Invalid type");
  });

  it("with a delay queue messages, which run when they are due", () => {
    const limiter = createLimiter(1_000n);
    limiter.execute({ grant_role: { signer: BOB, roles: ["AddRateLimit", "RemoveMessage"] } });
    limiter.execute({ set_timelock_delay: { signer: BOB, hours: 2 } });
    expect(limiter.execute(add, BOB)).toEqual({ "message.id": "12345_3" });
    expect(limiter.query("get_message_ids")).toEqual(["12345_3"]);
    for (const [count, seconds] of [
      [0, 0n],
      [1, 7_199n],
    ] as const) {
      limiter.advance(seconds * SECOND);
      limiter.execute({ process_messages: { count } });
      expect(limiter.query("get_message_ids"), `count ${count}`).toEqual(["12345_3"]);
    }
    limiter.advance(SECOND);
    expect(() => limiter.execute({ process_messages: {} })).toThrow("both count and message_ids are None");
    expect(limiter.execute({ process_messages: { count: 1 } })).toEqual({ method: "process_messages" });
    expect(limiter.query("get_message_ids")).toEqual([]);
    expect(limiter.query({ get_quotas: { channel_id: "channel-0", denom: "untrn" } })).toHaveLength(1);
  });
});

describe("a change of a path", () => {
  it("edits quotas without their flow, resets their window, and removes them", () => {
    const limiter = createLimiter(1_000n, [pathJson("channel-0", "untrn", [["d", DAY, 3, 5]])]);
    const path = { channel_id: "channel-0", denom: "untrn" };
    const quotas = { get_quotas: path };
    limiter.send({ amount: 10n });
    const periodEnd = (BigInt("1571797419879305533") + BigInt(DAY) * SECOND).toString();
    limiter.execute({
      edit_path_quota: { ...path, quota: { name: "d", duration: 10, send_recv: [50, 60] } },
    });
    expect(limiter.query(quotas)).toEqual([
      {
        quota: {
          name: "d",
          max_percentage_send: 50,
          max_percentage_recv: 60,
          duration: 10,
          channel_value: "1000",
        },
        flow: { inflow: "0", outflow: "10", period_end: periodEnd },
      },
    ]);
    limiter.advance(5n * SECOND);
    limiter.execute({ reset_path_quota: { ...path, quota_id: "d" } });
    expect(limiter.query(quotas)).toMatchObject([
      { quota: { channel_value: "1000" }, flow: { outflow: "0", period_end: "1571797434879305533" } },
    ]);
    expect(() => limiter.execute({ reset_path_quota: { ...path, denom: "x", quota_id: "d" } })).toThrow(
      "Quota d not found for channel channel-0",
    );
    limiter.execute({ remove_path: path });
    expect(limiter.send({ amount: 999n })).toMatchObject({ quota: "none" });
  });

  it("cuts percentages to 100", () => {
    const limiter = createLimiter(1_000n, [pathJson("channel-0", "untrn", [["d", DAY, 5_000, 101]])]);
    expect(limiter.query({ get_quotas: { channel_id: "channel-0", denom: "untrn" } })).toMatchObject([
      { quota: { max_percentage_send: 100, max_percentage_recv: 100 } },
    ]);
  });
});
