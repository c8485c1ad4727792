import { describe, expect, it } from "vitest";
import { Secret } from "../../../src/platform/base/secret.ts";
import type { Endpoint } from "../../../src/platform/http/remote.ts";
import { type ParsedEndpoint, parseEndpoints } from "../../../src/cosmos/client/endpoint.ts";
import { ClientError } from "../../../src/cosmos/client-error.ts";

function parseEndpoint(endpoint: Endpoint): ParsedEndpoint {
  const [parsed] = parseEndpoints([endpoint]);
  if (parsed === undefined) throw new Error("no endpoint");
  return parsed;
}

describe("parseEndpoints", () => {
  it.each([
    ["http://10.0.0.1:26657", "http://10.0.0.1:26657", "/", "ws://10.0.0.1:26657/websocket"],
    ["https://rpc.example/", "https://rpc.example", "/", "wss://rpc.example/websocket"],
    [
      "https://rpc.example/chain/key/",
      "https://rpc.example",
      "/chain/key",
      "wss://rpc.example/chain/key/websocket",
    ],
    ["https://rpc.example/a?k=1", "https://rpc.example", "/a?k=1", "wss://rpc.example/a/websocket?k=1"],
  ])("splits %s", (url, origin, path, webSocketUrl) => {
    expect(parseEndpoint({ url })).toMatchObject({ origin, path, webSocketUrl, headers: {} });
  });

  it("turns credentials and tokens into a header, and uses the host as default name", () => {
    const basic = parseEndpoint({ url: "https://us%65r:p%40ss@rpc.example:8443/x" });
    expect(basic.headers).toEqual({ authorization: `Basic ${Buffer.from("user:p@ss").toString("base64")}` });
    expect(basic.name).toBe("rpc.example:8443");
    expect(JSON.stringify([basic.origin, basic.path, basic.webSocketUrl])).not.toMatch(/user|p@ss|p%40ss/);
    const bearer = parseEndpoint({
      url: "https://rpc.example",
      name: "ours",
      headers: { authorization: new Secret("Bearer abc") },
    });
    expect(bearer).toMatchObject({ name: "ours", headers: { authorization: "Bearer abc" } });
  });

  it.each(["", "rpc.example:26657", "tcp://10.0.0.1:26657", "ws://10.0.0.1/websocket"])(
    "throws for %j",
    (url) => {
      expect(() => parseEndpoint({ url, name: "ours" })).toThrow(ClientError);
    },
  );

  it("numbers endpoints of one host, and leaves their paths out of the names", () => {
    const urls = [
      "https://rpc.example/full/KEY1",
      "https://rpc.example/archive/KEY2",
      "https://other.example",
    ];
    const named = parseEndpoints([
      ...urls.map((url) => ({ url })),
      { url: "https://rpc.example/KEY3", name: "ours" },
    ]);
    expect(named.map(({ name }) => name)).toEqual([
      "rpc.example#1",
      "rpc.example#2",
      "other.example",
      "ours",
    ]);
  });

  it("has the headers of the configuration", () => {
    const headers = { "X-Api-Key": new Secret("k3y"), Authorization: new Secret("Basic abc") };
    expect(parseEndpoint({ url: "https://rpc.example", headers }).headers).toEqual({
      "x-api-key": "k3y",
      authorization: "Basic abc",
    });
  });
});
