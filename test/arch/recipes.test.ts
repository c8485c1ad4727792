import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Params } from "../../src/cosmos/proto/gen/neutron/contractmanager/params.ts";
import { Query } from "../../src/cosmos/proto/gen/neutron/contractmanager/query.ts";
import { Msg, MsgUpdateParams } from "../../src/cosmos/proto/gen/neutron/contractmanager/tx.ts";
import { messageToJson } from "../../src/cosmos/proto/json.ts";
import { ErrInvalidSigner, unregisteredError } from "../../src/localnet/chain/runtime/errors.ts";
import { messageHandlers, queryHandlers } from "../../src/localnet/chain/runtime/handlers.ts";
import type { QueryHandler } from "../../src/localnet/chain/runtime/context.ts";
import { defineParams } from "../../src/localnet/chain/runtime/params.ts";
import { queryCommand, query } from "../../src/localnet/cli/module-query.ts";
import { createMemoryWorld } from "../support/memory-context.ts";
import { tableText } from "../support/table-text.ts";
import { ROOT } from "./source-files.ts";

const MOST_FILES = 4;

/** A link of CONTRIBUTING.md to a recipe. */
const LINK = /\]\((?<path>[\w/-]+\.md)#(?<anchor>add-[\w-]+)\)/g;

/** Returns the numbers of the entries of a recipe's lists, one text for each list: "123". */
function listsOf(path: string, anchor: string): readonly string[] {
  const sections = readFileSync(join(ROOT, path), "utf8").split(/^#+ /m);
  const section = sections.find(
    (text) => text.split("\n", 1)[0]?.toLowerCase().replaceAll(" ", "-") === anchor,
  );
  const numbers = [...(section ?? "").matchAll(/^(\d+)\. /gm)].map(([, number]) => number ?? "");
  return numbers.join(" ").split(/ (?=1\b)/);
}

describe("the recipes of CONTRIBUTING.md", () => {
  const links = [...readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8").matchAll(LINK)].map(({ groups }) => [
    groups?.["path"] ?? "",
    groups?.["anchor"] ?? "",
  ]);

  it("were found", () => {
    expect(links.length).toBeGreaterThan(8);
  });

  it.each(links)("%s#%s lists its files, at most four", (path = "", anchor = "") => {
    for (const list of listsOf(path, anchor)) {
      expect(list).toMatch(/^1\b/);
      expect(list.split(" ").length).toBeLessThanOrEqual(MOST_FILES);
    }
  });
});

describe("a parameter, as its recipe adds it", () => {
  const params = defineParams<Params>({
    store: "recipe",
    key: Uint8Array.of(1),
    type: Params,
    defaults: { sudoCallGasLimit: 7n },
    validate: ({ sudoCallGasLimit }) => {
      if (sudoCallGasLimit === 0n) throw unregisteredError("the limit must be above 0");
    },
  });
  const queries = queryHandlers(
    { name: "recipe.Query", methods: { Params: Query.methods.Params } },
    { Params: params.query },
  );
  const messages = messageHandlers(
    { name: "recipe.Msg", methods: { UpdateParams: Msg.methods.UpdateParams } },
    { UpdateParams: params.update({ authority: "gov", signerError: ErrInvalidSigner }) },
  );

  const readParams: QueryHandler["query"] = (context, request) => {
    const [handler] = queries;
    if (handler === undefined) throw new Error("the query Params was expected");
    return handler.query(context, request);
  };

  it("is in the query's response: first its default, then the stored value; an invalid one is not stored", () => {
    const { context, dump } = createMemoryWorld();
    const response = (): unknown =>
      messageToJson("neutron.contractmanager.QueryParamsResponse", readParams(context(), new Uint8Array(0)));
    expect(response()).toEqual({ params: { sudo_call_gas_limit: "7" } });
    params.set(context(), { sudoCallGasLimit: 9n });
    expect(() => params.set(context(), { sudoCallGasLimit: 0n })).toThrow("the limit must be above 0");
    expect(response()).toEqual({ params: { sudo_call_gas_limit: "9" } });
    expect(dump("recipe")).toEqual([["01", "0809"]]);
  });

  it("is changed by the authority only", () => {
    const { context } = createMemoryWorld();
    const update = (authority: string, sudoCallGasLimit: bigint): void => {
      const message = MsgUpdateParams.encode({ authority, params: { sudoCallGasLimit } }).finish();
      for (const { handle } of messages) handle(context(), message);
    };
    expect(() => update("someone", 9n)).toThrow("invalid authority; expected gov, got someone");
    expect(() => update("gov", 0n)).toThrow("the limit must be above 0");
    update("gov", 9n);
    expect(params.get(context())).toEqual({ sudoCallGasLimit: 9n });
  });
});

describe("a query on the command line, as its recipe adds it", () => {
  const group = {
    service: "cosmos.bank.v1beta1.Query",
    queries: {
      owners: query("DenomOwners", "list a denomination's owners", "OWNER address, DENOM balance.denom"),
    },
  };

  it("has the request's fields as arguments, the page options and a table of the response's first field", () => {
    const command = queryCommand(group, "owners", {
      words: [],
      print: () => {},
      signal: new AbortController().signal,
      logger: () => Promise.reject(new Error("no logger")),
      isTerminal: false,
    });
    expect(command.usage()).toBe("[options] <denom>");
    expect(command.options.map(({ long }) => long)).toContain("--limit");
    const response = { denom_owners: [{ address: "neutron1a", balance: { denom: "untrn", amount: "5" } }] };
    expect(tableText(group, "owners", response).split("\n")).toEqual([
      "OWNER      DENOM",
      "neutron1a  untrn",
    ]);
  });
});
