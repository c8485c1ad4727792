import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { httpRules } from "../../../src/cosmos/proto/http-rules.ts";
import {
  findFile,
  findFileOfSymbol,
  findService,
  protoRegistry,
  requireMessage,
} from "../../../src/cosmos/proto/registry.ts";

/** Full names of all services of the definitions. */
function serviceNames(): readonly string[] {
  return [...protoRegistry()].filter((desc) => desc.kind === "service").map((desc) => desc.typeName);
}

describe("services", () => {
  it("are listed with their methods", () => {
    expect(findService("neutron.interchainqueries.Query")?.methods.map((method) => method.name)).toEqual([
      "Params",
      "RegisteredQueries",
      "RegisteredQuery",
      "QueryResult",
      "LastRemoteHeight",
    ]);
    expect(findService("grpc.reflection.v1.ServerReflection")?.methods).toEqual([
      {
        name: "ServerReflectionInfo",
        path: "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        requestType: "grpc.reflection.v1.ServerReflectionRequest",
        responseType: "grpc.reflection.v1.ServerReflectionResponse",
        streaming: true,
      },
    ]);
    expect(findService("no.such.Service")).toBeUndefined();
    expect(serviceNames()).toContain("cosmos.tx.v1beta1.Service");
  });
});

describe("files", () => {
  it("are found by path, by message, by service and by method", () => {
    const path = "cosmos/tx/v1beta1/service.proto";
    for (const symbol of ["Service", "Service.GetTx", "GetTxRequest"]) {
      expect(findFileOfSymbol(`cosmos.tx.v1beta1.${symbol}`)?.name, symbol).toBe(path);
    }
    const file = findFile(path);
    expect(file?.imports).toContain("cosmos/tx/v1beta1/tx.proto");
    expect(fromBinary(FileDescriptorProtoSchema, file?.bytes ?? new Uint8Array()).package).toBe(
      "cosmos.tx.v1beta1",
    );
    expect(findFile("no/such.proto")).toBeUndefined();
    expect(findFileOfSymbol("no.such.Symbol")).toBeUndefined();
  });

  it("import only files of the registry", () => {
    const visited = new Set<string>();
    const pending = serviceNames().map((name) => findFileOfSymbol(name)?.name ?? "");
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      if (visited.has(path)) continue;
      visited.add(path);
      pending.push(...(findFile(path) ?? { imports: ["missing"] }).imports);
    }
    expect(visited.has("missing")).toBe(false);
    expect(visited.size).toBeGreaterThan(60);
  });
});

describe("messages", () => {
  it("that do not exist are an error with the name", () => {
    expect(() => requireMessage("no.such.Message")).toThrow("unknown message type no.such.Message");
  });
});

describe("REST routes", () => {
  const rules = httpRules();

  it("have method, path, rpc, types and body", () => {
    expect(rules.find((rule) => rule.rpc === "BroadcastTx")).toEqual({
      method: "POST",
      template: "/cosmos/tx/v1beta1/txs",
      service: "cosmos.tx.v1beta1.Service",
      rpc: "BroadcastTx",
      requestType: "cosmos.tx.v1beta1.BroadcastTxRequest",
      responseType: "cosmos.tx.v1beta1.BroadcastTxResponse",
      body: "*",
    });
  });

  it("have distinct patterns, with one exception", () => {
    const bound = new Set(rules.map((rule) => `${rule.method} ${rule.template.replaceAll(/\{\w+/g, "{")}`));
    const twice = rules.length - bound.size;
    // bech32/{address_bytes} and bech32/{address_string} have the same pattern on a real node, which serves the later one.
    expect(twice).toBe(1);
  });

  it("have path parameters that are fields of the request", () => {
    for (const rule of rules) {
      const names = [...rule.template.matchAll(/\{(\w+)/g)].map((match) => match[1]);
      const fields = requireMessage(rule.requestType).fields.map((field) => field.name);
      expect(fields, rule.template).toEqual(expect.arrayContaining(names));
    }
  });
});
