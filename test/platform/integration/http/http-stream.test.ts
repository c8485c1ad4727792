import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { abortReason, untilAborted } from "../../../../src/platform/base/abort.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { createDeferred } from "../../../../src/platform/process/deferred.ts";
import type { HttpStream } from "../../../../src/platform/http/http-route.ts";
import { type OpenHttpServer } from "../../../../src/platform/http/http-server.ts";
import { openRouteServer, type RouteServerOptions } from "../../../../src/platform/http/route-server.ts";

const open: OpenHttpServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function start(run: HttpStream["run"], limits: RouteServerOptions["limits"] = {}): Promise<number> {
  const server = await openRouteServer(
    {
      name: "streams",
      listen: { host: "127.0.0.1", port: 0 },
      portOption: "none",
      limits,
      routes: [
        {
          method: "GET",
          path: "/",
          handle: () => ({
            status: 200,
            headers: { "content-type": "text/plain" },
            body: "",
            stream: { run },
          }),
        },
      ],
    },
    { logger: silentLogger },
  );
  open.push(server);
  return server.address.port;
}

/** Sends a request and reads nothing of the response. */
function requestWithoutReading(port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
  return socket;
}

/** Resolves with the text of the reason. */
const untilAbort = async (signal: AbortSignal): Promise<string> => {
  await untilAborted(signal);
  return abortReason(signal).message;
};

describe("a streamed reply", () => {
  it("arrives part by part and ends with its function", async () => {
    const second = createDeferred<undefined>();
    const port = await start(async (write) => {
      await write("one ");
      await second.promise;
      await write("two");
    });
    const response = await fetch(`http://127.0.0.1:${port}/`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect(await reader?.read()).toEqual({ done: false, value: "one " });
    second.resolve(undefined);
    expect(await reader?.read()).toEqual({ done: false, value: "two" });
    expect((await reader?.read())?.done).toBe(true);
  });

  it("has no body for HEAD, and its function does not run", async () => {
    const run = vi.fn<HttpStream["run"]>();
    const port = await start(run);
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(run).not.toHaveBeenCalled();
  });

  it("is broken off, not ended, when its function fails", async () => {
    const port = await start(async (write) => {
      await write("one");
      throw new Error("no luck");
    });
    const response = await fetch(`http://127.0.0.1:${port}/`);
    await expect(response.text()).rejects.toThrow();
  });

  it("aborts its signal when the client disconnects, and when the server closes", async () => {
    const ended: string[] = [];
    const started = [createDeferred<undefined>(), createDeferred<undefined>()];
    let count = 0;
    const port = await start(async (write, signal) => {
      await write("one");
      started[count++]?.resolve(undefined);
      ended.push(await untilAbort(signal));
    });
    const first = requestWithoutReading(port);
    await started[0]?.promise;
    first.destroy();
    await expect.poll(() => ended).toEqual(["the client has disconnected"]);
    const second = requestWithoutReading(port);
    await started[1]?.promise;
    await open[0]?.close();
    expect(ended).toEqual(["the client has disconnected", "the server is closing"]);
    second.destroy();
  });

  it("is cut when the client takes nothing of it, and buffers one part at most", async () => {
    let written = 0;
    const cut = createDeferred<unknown>();
    const part = "x".repeat(1_000_000);
    const port = await start(
      async (write) => {
        for (;;) {
          await write(part).catch((error: unknown) => {
            cut.resolve(error);
            throw error;
          });
          written += 1;
        }
      },
      { stalledMs: 300 },
    );
    const socket = requestWithoutReading(port);
    expect(await cut.promise).toEqual(new Error("the client has disconnected"));
    // What the kernel's buffers of one connection take.
    expect(written).toBeLessThan(50);
    socket.destroy();
  });
});
