import { describe, expect, it } from "vitest";
import { followRedirect, proxyOf, urlBelow } from "../../../src/platform/http/remote.ts";

describe("a server on another machine", () => {
  it.each([
    ["https://rpc.example", { HTTPS_PROXY: "http://proxy:3128" }, "http://proxy:3128/"],
    ["https://rpc.example", { https_proxy: "proxy:3128" }, "http://proxy:3128/"],
    ["http://rpc.example", { HTTPS_PROXY: "http://proxy:3128" }, undefined],
    ["http://rpc.example", { HTTP_PROXY: "http://proxy:3128" }, "http://proxy:3128/"],
    ["http://127.0.0.1:26657", { HTTP_PROXY: "http://proxy:3128" }, undefined],
    ["http://localhost:26657", { HTTP_PROXY: "http://proxy:3128" }, undefined],
    ["https://rpc.example", { HTTPS_PROXY: "http://proxy:3128", NO_PROXY: "a.b, .example" }, undefined],
    ["https://rpc.example", { HTTPS_PROXY: "http://proxy:3128", NO_PROXY: "rpc.example:443" }, undefined],
    [
      "https://rpc.example",
      { HTTPS_PROXY: "http://proxy:3128", NO_PROXY: "rpc.example:80" },
      "http://proxy:3128/",
    ],
    ["https://notexample", { HTTPS_PROXY: "http://proxy:3128", NO_PROXY: "example" }, "http://proxy:3128/"],
    ["https://rpc.example", { HTTPS_PROXY: "http://proxy:3128", NO_PROXY: "*" }, undefined],
  ])("is reached at %s with %j through %s", (url, environment, proxy) => {
    expect(proxyOf(new URL(url), { environment })?.href).toBe(proxy);
  });

  it.each(["socks5://u:hunter2@proxy:1080", "http://", "::hunter2::"])(
    "is not reached through %s, and the error has no password",
    (proxy) => {
      const reach = (): unknown =>
        proxyOf(new URL("http://rpc.example"), { environment: { HTTP_PROXY: proxy } });
      expect(reach).toThrow("variable HTTP_PROXY is not an HTTP proxy URL (expected http://HOST:PORT)");
    },
  );

  it.each([
    ["https://rest.example", "/cosmos/a?b=1", "https://rest.example/cosmos/a?b=1"],
    ["https://rest.example/chain/", "/cosmos/a?b=1", "https://rest.example/chain/cosmos/a?b=1"],
    ["https://rest.example/chain?key=k", "cosmos/a", "https://rest.example/chain/cosmos/a?key=k"],
    ["https://rest.example/?key=k", "/cosmos/a?b=1&c=?", "https://rest.example/cosmos/a?key=k&b=1&c=?"],
    // A path that is a URL of its own stays below.
    ["https://rest.example", "//evil.example/a", "https://rest.example//evil.example/a"],
  ])("below %s, %s is %s", (base, path, expected) => {
    expect(urlBelow(base, path).href).toBe(expected);
  });

  it.each([
    ["https://rpc.example/a", "/b?c", "https://rpc.example/b?c"],
    ["http://rpc.example/a", "https://rpc.example/a", "https://rpc.example/a"],
    ["ws://rpc.example/a", "wss://rpc.example/a", "wss://rpc.example/a"],
    ["https://rpc.example/a", "https://evil.example/key", "refused: https://evil.example"],
    ["https://rpc.example/a", "http://rpc.example/key", "refused: http://rpc.example"],
  ])("a redirect from %s to %s leads to %s", (from, location, expected) => {
    const next = followRedirect(new URL(from), location);
    expect(typeof next === "string" ? `refused: ${next}` : next.href).toBe(expected);
  });
});
