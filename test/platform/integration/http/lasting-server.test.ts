import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { Secret } from "../../../../src/platform/base/secret.ts";
import { controlRoutes } from "../../../../src/platform/http/daemon-control-routes.ts";
import { getRoute, type HttpRoute, textReply } from "../../../../src/platform/http/http-route.ts";
import { createLastingServer, type LastingServer } from "../../../../src/platform/http/lasting-server.ts";

function start(server: LastingServer, routes: readonly HttpRoute[], token?: Secret) {
  const end = new AbortController();
  const listen = { host: "127.0.0.1", port: 0 };
  const service = server.serve({ name: "test", listen, portOption: "--port", routes, token });
  const done = service.run(end.signal);
  const stop = async (): Promise<void> => {
    end.abort(new Error("over"));
    await done;
  };
  return { ready: service.ready, stop };
}

describe("createLastingServer", () => {
  it("keeps its port, and serves the routes and the token of the service that runs", async () => {
    const server = createLastingServer({ logger: silentLogger });
    const first = start(server, [getRoute("/a", () => textReply(200, "first"))]);
    const { port } = await first.ready;
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
      return [response.status, (await response.text()).slice(0, 40)];
    };
    expect(await get("/a")).toEqual([200, "first"]);
    await first.stop();
    expect(await get("/a")).toEqual([503, expect.stringContaining("restarting")]);
    expect(await get("/livez")).toEqual([200, "ok\n"]);
    const guarded: HttpRoute = { ...getRoute("/a", () => textReply(200, "second")), guarded: true };
    const second = start(server, [guarded], new Secret("abc"));
    expect(await second.ready).toEqual({ host: "127.0.0.1", port });
    expect((await get("/a"))[0]).toBe(401);
    expect(await get("/a", { authorization: "Bearer abc" })).toEqual([200, "second"]);
    await second.stop();
    // Without a token, that of the service before does not hold.
    const third = start(server, [guarded]);
    await third.ready;
    expect((await get("/a", { authorization: "Bearer abc" }))[0]).toBe(403);
    await third.stop();
    await server.close();
    await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow();
  });

  it("ends the streams of a service with it, so that pages connect to the next one", async () => {
    const server = createLastingServer({ logger: silentLogger });
    const live = getRoute("/live", () => ({
      status: 200,
      body: "",
      stream: {
        run: async (write, signal) => {
          await write("hello\n");
          await new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => reject(signal.reason)),
          );
        },
      },
    }));
    const service = start(server, [live]);
    const { port } = await service.ready;
    const response = await fetch(`http://127.0.0.1:${port}/live`);
    const text = response.text().catch(() => "cut");
    await service.stop();
    expect(await text).toBe("cut");
    await server.close();
  });
});

describe("controlRoutes", () => {
  it("sets the log level", async () => {
    let level = "info";
    const logLevel = { current: () => "info" as const, set: (next: string) => void (level = next) };
    const server = createLastingServer({ logger: silentLogger });
    const service = start(server, controlRoutes({ logLevel }), new Secret("token"));
    const { port } = await service.ready;
    const post = async (body: string, headers: Record<string, string> = { authorization: "Bearer token" }) =>
      (await fetch(`http://127.0.0.1:${port}/-/log-level`, { method: "POST", body, headers })).status;
    expect([await post('{"level":"debug"}', {}), level]).toEqual([401, "info"]);
    expect([await post('{"level":"debug"}'), level]).toEqual([200, "debug"]);
    expect([await post('{"level":"loud"}'), await post("no"), level]).toEqual([400, 400, "debug"]);
    // The settings are fixed: there is no such route.
    expect((await fetch(`http://127.0.0.1:${port}/-/reload`, { method: "POST" })).status).toBe(404);
    await service.stop();
    await server.close();
  });
});
