import { describe, expect, it } from "vitest";
import { Secret } from "../../../src/base/secret.ts";
import { parseEndpoint } from "../../../src/client/endpoints/endpoint.ts";
import { ClientError } from "../../../src/client/errors.ts";

describe("an endpoint", () => {
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
  ])("%s is split", (url, origin, path, webSocketUrl) => {
    expect(parseEndpoint({ url })).toMatchObject({ origin, path, webSocketUrl, headers: {} });
  });

  it("takes user and password out of the URL, or a token, and is named by its host unless it has a name", () => {
    const basic = parseEndpoint({ url: "https://us%65r:p%40ss@rpc.example:8443/x" });
    expect(basic.headers).toEqual({ authorization: `Basic ${Buffer.from("user:p@ss").toString("base64")}` });
    expect(basic.name).toBe("rpc.example:8443");
    expect(JSON.stringify([basic.origin, basic.path, basic.webSocketUrl])).not.toMatch(/user|p@ss|p%40ss/);
    const bearer = parseEndpoint({
      url: "https://rpc.example",
      name: "ours",
      bearerToken: new Secret("abc"),
    });
    expect(bearer).toMatchObject({ name: "ours", headers: { authorization: "Bearer abc" } });
  });

  it.each(["", "rpc.example:26657", "tcp://10.0.0.1:26657", "ws://10.0.0.1/websocket"])(
    "%s is refused",
    (url) => {
      expect(() => parseEndpoint({ url, name: "ours" })).toThrow(ClientError);
    },
  );
});
