import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { seenSources } from "../../../src/watchdog/sources/seen-sources.ts";
import { createPoller } from "../../../src/watchdog/polling/poller.ts";
import { reachTcp, createScrape } from "../../../src/watchdog/sources/page-reader.ts";

const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A listener on loopback. */
async function listen(onConnection: (socket: Socket) => void, host = "127.0.0.1"): Promise<string> {
  const server = createServer(onConnection);
  server.listen(0, host);
  await once(server, "listening");
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return `${host.includes(":") ? `[${host}]` : host}:${address.port}`;
}

/** A port of loopback without a listener. */
async function closedPort(): Promise<string> {
  const target = await listen(() => {});
  await closing.pop()?.();
  return target;
}

/**
 * A listener of a stopped process with a full queue: the kernel drops further connections, as a firewall does, until the
 * process goes on.
 */
async function silentListener(): Promise<{ readonly target: string; readonly child: ChildProcess }> {
  const program =
    'const s = require("net").createServer(c => c.destroy()); s.listen({port: 0, host: "127.0.0.1", backlog: 1}, () => console.log(s.address().port));';
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  closing.push(async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  const [line] = await once(child.stdout, "data");
  const port = Number(String(line));
  child.kill("SIGSTOP");
  const fillers = Array.from({ length: 8 }, () => connect({ host: "127.0.0.1", port }).on("error", () => {}));
  closing.push(() => {
    for (const socket of fillers) socket.destroy();
  });
  // The first ones are accepted by the kernel; the queue is full when one of them is not.
  await once(fillers[0] ?? child, "connect");
  return { target: `127.0.0.1:${port}`, child };
}

const probe = (target: string, deadlineMs: number, signal = new AbortController().signal) =>
  createScrape(deadlineMs, systemClock)(`a connection to ${target}`, signal, (inner) =>
    reachTcp(target, inner),
  );

describe("probes of gRPC and of outbound hosts", () => {
  it("reach a listener, also one that sends nothing, and close the connection", async () => {
    const sockets: Socket[] = [];
    const target = await listen((socket) => sockets.push(socket));
    expect(await probe(target, 5000)).toMatchObject({ state: "up", value: { target } });
    const [socket] = sockets;
    socket?.resume();
    if (socket !== undefined && !socket.closed) await once(socket, "close");
  });

  it("settle at once for a listener that resets the connection, before or after it was accepted", async () => {
    const target = await listen((socket) => socket.resetAndDestroy());
    const seen = await probe(target, 20_000);
    expect(seen.state === "error" ? seen.failure.code : seen.state).toMatch(/^(?:up|unreachable)$/);
    expect(seen.state !== "not-configured" && seen.durationMs).toBeLessThan(10_000);
  });

  it("reach a name, and an IPv6 address in brackets", async () => {
    const target = await listen(() => {});
    const byName = target.replace("127.0.0.1", "localhost");
    expect(await probe(byName, 5000)).toMatchObject({ state: "up", value: { target: byName } });
    const six = await listen(() => {}, "::1").catch(() => undefined);
    if (six !== undefined)
      expect(await probe(six, 5000)).toMatchObject({ state: "up", value: { target: six } });
  });

  it("are refused by a port without a listener", async () => {
    expect(await probe(await closedPort(), 5000)).toMatchObject({
      state: "error",
      failure: { code: "refused" },
    });
  });

  it("fail for a name that does not exist", async () => {
    expect(await probe("no-such-host.invalid:443", 5000)).toMatchObject({
      state: "error",
      failure: { code: expect.stringMatching(/^(?:unreachable|timeout)$/) },
    });
  });

  it("end at the deadline when the connection is dropped, and reach a listener that is slow", async () => {
    const { target, child } = await silentListener();
    const silent = await probe(target, 300);
    expect(silent).toMatchObject({
      state: "error",
      failure: { code: "timeout", text: "no complete response within 300 ms" },
    });
    expect(silent.state === "error" && silent.durationMs).toBeLessThan(3000);
    const slow = probe(target, 20_000);
    child.kill("SIGCONT");
    expect(await slow).toMatchObject({ state: "up" });
  });

  it("end when they are aborted", async () => {
    const { target } = await silentListener();
    const abort = new AbortController();
    const dropped = probe(target, 20_000, abort.signal);
    abort.abort(new Error("stop"));
    await expect(dropped).rejects.toThrow("stop");
    await expect(probe(target, 20_000, abort.signal)).rejects.toThrow("stop");
  });

  it("are sources of a poll: gRPC of each node, and the worst of the outbound hosts", async () => {
    const [open, closed] = [await listen(() => {}), await closedPort()];
    const poll = createPoller(
      {
        name: "v",
        nodes: [{ name: "n", node: `http://${closed}/metrics`, grpc: open }],
        egress: [open, closed],
      },
      { deadlineMs: 5000, maxPageBytes: 1024 },
      {
        clock: systemClock,
        reach: reachTcp,
        read: () => Promise.reject(new Error("there is no page")),
      },
    );
    const observation = await poll({ chainId: undefined, counted: undefined }, new AbortController().signal);
    expect(seenSources(observation).map(({ source, node, seen }) => [source, node, seen.state])).toEqual([
      ["node", "n", "error"],
      ["grpc", "n", "up"],
      ["egress", undefined, "error"],
    ]);
    expect(observation.nodes[0]?.egress.get(open)?.state).toBe("up");
  });
});
