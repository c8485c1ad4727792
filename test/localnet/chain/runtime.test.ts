import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/platform/base/bytes.ts";
import type { Application } from "../../../src/localnet/chain/runtime/abci.ts";
import { createConsensusModule } from "../../../src/localnet/chain/modules/consensus/module.ts";
import { createApplication } from "../../../src/localnet/chain/runtime/application.ts";
import { type Context, event, type ChainModule } from "../../../src/localnet/chain/runtime/context.ts";
import {
  goPanic,
  QueryError,
  registerError,
  wrapErrors,
} from "../../../src/localnet/chain/runtime/errors.ts";
import { MsgSend } from "../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import { continueTestChain, type TestChain } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx } from "../../support/test-tx.ts";

const key = createTestKey("anyone");
const ErrRefused = registerError("notes", 7, "refused");
const NO_BYTES = new Uint8Array(0);

/** Commands by name. A payment of these tests runs the command that its recipient names. */
type Commands = Readonly<Record<string, (context: Context) => void>>;

const write = (context: Context, byte: number): void =>
  context.store("notes").set(Uint8Array.of(byte), Uint8Array.of(1));

const COMMANDS: Commands = {
  write: (context) => {
    write(context, 1);
    context.emit(event("wrote", [["byte", "1"]]));
  },
  refuse: (context) => {
    write(context, 2);
    throw ErrRefused("inner").wrap("outer: with a colon");
  },
  break: (context) => {
    write(context, 3);
    throw new TypeError("a bug");
  },
  spend: (context) => context.gas.consume(1_000_000n, "everything"),
  try: (context) => {
    write(context, 4);
    expect(() =>
      context.atomically((inner) => {
        write(inner, 5);
        inner.emit(event("lost", []));
        throw ErrRefused();
      }),
    ).toThrow("refused");
    context.atomically((inner) => {
      write(inner, 6);
      inner.emit(event("kept", [["module", "own"]]));
    });
  },
};

function notesModule(): ChainModule {
  return {
    name: "notes",
    stores: ["notes"],
    messages: [
      {
        typeUrl: "/cosmos.bank.v1beta1.MsgSend",
        signers: (bytes) => [MsgSend.decode(bytes).fromAddress],
        handle: (context, bytes) => {
          COMMANDS[MsgSend.decode(bytes).toAddress]?.(context);
          return { typeUrl: "/cosmos.bank.v1beta1.MsgSendResponse", response: NO_BYTES };
        },
      },
    ],
    queries: [
      { path: "/notes/Refuse", query: () => raise(ErrRefused("inner: detail").wrap("outer")) },
      { path: "/notes/Absent", query: () => raise(new QueryError(5, "no such note")) },
      { path: "/notes/Plain", query: () => raise(new QueryError(2, "unreadable")) },
      { path: "/notes/Bad", query: () => raise(new QueryError(3, "bad note")) },
      { path: "/notes/Break", query: () => raise(new TypeError("a bug")) },
      { path: "/notes/Write", query: (context) => (write(context, 9), NO_BYTES) },
      { path: "/notes/Time", query: ({ height, timeNs }) => new TextEncoder().encode(`${height} ${timeNs}`) },
    ],
    beginBlock: (context) => context.emit(event("began", [["height", context.height.toString()]])),
    endBlock: (context) => context.emit(event("ended", [])),
    initGenesis: () => undefined,
    exportGenesis: () => ({}),
  };
}

function raise(error: Error): never {
  throw error;
}

function start(): TestChain & { readonly keys: () => readonly string[] } {
  const app: Application = createApplication({
    version: "1",
    appVersion: 0n,
    chainName: "neutron",
    modules: [createConsensusModule({ authority: "" }), notesModule()],
    upgrades: [],
    endBlockOrder: [],
    ante: (context) => context.store("notes").set(Uint8Array.of(0), NO_BYTES),
    post: (context) => context.emit(event("settled", [])),
    maxBlockGas: () => 0n,
    keepRecent: 10,
  });
  app.initChain({ chainId: "test-1", timeNs: 0n, initialHeight: 1n, validators: [], appState: {} });
  const chain = continueTestChain(app, 0n);
  chain.block();
  return {
    ...chain,
    keys: () =>
      [0, 1, 2, 3, 4, 5, 6, 9]
        .filter((byte) => {
          const response = app.query({
            path: "store/notes/key",
            data: Uint8Array.of(byte),
            height: 0n,
            prove: true,
          });
          return response.value.length > 0;
        })
        .map(String),
  };
}

function commands(...names: readonly string[]): Uint8Array {
  const messages = names.map((toAddress) => ({
    typeUrl: "/cosmos.bank.v1beta1.MsgSend",
    value: MsgSend.encode({ fromAddress: key.address, toAddress, amount: [] }).finish(),
  }));
  return buildTx({ key, sequence: 0n, messages });
}

describe("messages of one transaction", () => {
  it("keep their writes when all succeed, and their events have the message index", () => {
    const chain = start();
    const [result] = chain.block(commands("write", "try")).txResults;
    expect(chain.keys()).toEqual(["1", "4", "6"]);
    expect(
      result?.events.map(
        ({ type, attributes }) => `${type} ${attributes.map(({ value }) => value).join(" ")}`,
      ),
    ).toEqual([
      `message /cosmos.bank.v1beta1.MsgSend ${key.address} bank 0`,
      "wrote 1 0",
      `message /cosmos.bank.v1beta1.MsgSend ${key.address} 1`,
      "kept own 1",
      "settled ",
    ]);
  });

  it("lose all writes when one fails, and the log names its index", () => {
    const chain = start();
    const [result] = chain.block(commands("write", "refuse")).txResults;
    expect(chain.keys()).toEqual([]);
    expect(result).toMatchObject({
      code: 7,
      codespace: "notes",
      log: "failed to execute message; message index: 1: outer: with a colon: inner: refused",
    });
  });

  it("stop at the gas limit without the message index in the log", () => {
    const chain = start();
    const [result] = chain.block(commands("write", "spend")).txResults;
    expect(chain.keys()).toEqual([]);
    expect(result?.log).toMatch(
      /^out of gas in location: everything; gasWanted: 200000, gasUsed: \d+: out of gas$/,
    );
    expect(result?.events).toEqual([]);
  });

  it("propagate an unexpected exception without any writes", () => {
    const chain = start();
    const before = toHex(chain.app.info().appHash);
    expect(() => chain.block(commands("break"))).toThrow(new TypeError("a bug"));
    expect(toHex(chain.app.info().appHash)).toBe(before);
    expect(chain.keys()).toEqual([]);
  });
});

describe("blocks", () => {
  it("add the mode to the events of begin and end hooks", () => {
    const { events } = start().block();
    expect(
      events.map(({ type, attributes }) => [type, ...attributes.map((each) => `${each.key}=${each.value}`)]),
    ).toEqual([
      ["began", "height=2", "mode=BeginBlock"],
      ["ended", "mode=EndBlock"],
    ]);
  });
});

describe("queries", () => {
  const chain = start();
  const query = (path: string, height = 0n) =>
    chain.app.query({ path, data: NO_BYTES, height, prove: false });

  it.each([
    [
      "/notes/Refuse",
      2,
      "codespace notes code 7: refused: inner: detail: outer",
      6,
      "outer: inner: detail: refused: unknown request",
    ],
    ["/notes/Absent", 5, "no such note", 22, "rpc error: code = NotFound desc = no such note: key not found"],
    ["/notes/Plain", 2, "unreadable", 18, "unreadable: invalid request"],
    ["/notes/Bad", 3, "bad note", 18, "rpc error: code = InvalidArgument desc = bad note: invalid request"],
  ])("%s fails with a gRPC status and an ABCI code", (...row) => {
    const [path, grpcCode, grpcMessage, code, log] = row;
    expect(query(path)).toMatchObject({ grpcCode, grpcMessage, code, codespace: "sdk", log, height: 1n });
  });

  it("return a panic error for an unexpected exception", () => {
    const expected = { code: 111_222, codespace: "undefined", log: "a bug: panic", grpcCode: 13 };
    expect(query("/notes/Break")).toMatchObject(expected);
  });

  it("do not change the state", () => {
    expect(query("/notes/Write").code).toBe(0);
    expect(chain.keys()).toEqual([]);
  });

  it("have the block time of their height", () => {
    chain.block();
    expect(Buffer.from(query("/notes/Time").value).toString()).toBe("2 1790000002000000000");
    expect(Buffer.from(query("/notes/Time", 1n).value).toString()).toBe("1 1790000001000000000");
  });
});

describe("an error that gets words of its caller", () => {
  const thrownBy = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      return error;
    }
  };

  it("keeps its code, and has the words in front", () => {
    const inner = registerError("test", 7, "no such thing")("a pool");
    expect(
      thrownBy(() =>
        wrapErrors("failed to swap", () => {
          throw inner;
        }),
      ),
    ).toMatchObject({ codespace: "test", code: 7, message: "failed to swap: a pool: no such thing" });
  });

  // A panic without its class could be caught by a contract's reply, which Go's error handling never sees.
  it.each([
    ["a panic", goPanic("index out of range")],
    ["a bug of this program", new TypeError("x is undefined")],
  ])("is never %s", (_, thrown) =>
    expect(
      thrownBy(() =>
        wrapErrors("failed to swap", () => {
          throw thrown;
        }),
      ),
    ).toBe(thrown),
  );
});
