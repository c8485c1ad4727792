import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { untilAborted } from "../../../src/platform/base/abort.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { secretField } from "../../../src/platform/config/config-fields.ts";
import { createConfigReloads } from "../../../src/platform/config/config-reloads.ts";
import { type ConfigKind, readDaemonConfig } from "../../../src/platform/config/daemon-config.ts";
import { readBuildInfo } from "../../../src/platform/process/build-info.ts";
import {
  registerReloadMetrics,
  type Reloader,
  runReloadable,
} from "../../../src/platform/process/reloadable.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const schema = z.strictObject({
  price: z.int().default(1),
  level: z.enum(["debug", "info", "warn", "error"]).default("info").meta({ reload: "live" }),
  http: z
    .strictObject({ listen: z.string().default("a"), size: z.int().default(1).meta({ reload: "live" }) })
    .prefault({})
    .meta({ reload: "process" }),
});
type Config = z.output<typeof schema>;
const kind: ConfigKind<Config> = { name: "icq-relayer", prefix: "APP_", schema };

/** A daemon with one service. `fail` makes its services with a price fail. */
function startDaemon(text: string) {
  let file = text;
  const clock = createManualClock(1_000_000);
  const end = new AbortController();
  const events: string[] = [];
  const levels: string[] = [];
  const failing = new Map<number, "create" | "run">();
  let crash: (error: Error) => void = () => {};
  let reloader: Reloader | undefined;
  let hangup: () => void = () => {};
  const read = () => ({ kind, parsed: readDaemonConfig(kind, { file: "a.yaml", text: file }, {}) });
  const first = read();
  const create = async ({ price, http }: Config, given: Reloader | undefined) => {
    reloader = given;
    if (failing.get(price) === "create") throw new Error(`no price ${price}`);
    const run = async (signal: AbortSignal): Promise<void> => {
      events.push(`start ${price} at ${http.listen}`);
      if (failing.get(price) === "run") throw new Error(`bad price ${price}`);
      const crashed = new Promise<never>((_resolve, reject) => {
        crash = reject;
      });
      await Promise.race([untilAborted(signal), crashed]);
      events.push(`stop ${price}`);
    };
    const ready = failing.get(price) === "run" ? new Promise<void>(() => {}) : Promise.resolve();
    return { services: [{ name: "one", run }], ready, close: () => void events.push(`close ${price}`) };
  };
  const done = runReloadable(
    { config: first.parsed.config, reloads: createConfigReloads(first, read, ({ level }) => level), create },
    {
      signal: end.signal,
      logger: silentLogger,
      clock,
      random: () => 0.5,
      build: readBuildInfo(),
      logLevel: { current: () => "info", set: (level) => void levels.push(level) },
      onHangup: (listener) => {
        hangup = listener;
        return () => {
          hangup = () => {};
        };
      },
    },
  );
  done.catch(() => {});
  return {
    events,
    levels,
    failing,
    clock,
    done,
    crash: (error: Error) => crash(error),
    hangup: () => hangup(),
    stop: () => end.abort(new Error("over")),
    status: () => reloader?.status(),
    reload: async (next: string) => {
      file = next;
      // The first generation may not have been created yet.
      await until(() => reloader !== undefined);
      if (reloader === undefined) throw new Error("there is no reloader");
      return reloader.reload("test");
    },
  };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise(setImmediate);
}

describe("runReloadable", () => {
  it("starts the services again with changed settings, and only then", async () => {
    const daemon = startDaemon("price: 1\n");
    expect(await daemon.reload("price: 1 # the same\n")).toEqual({
      ok: true,
      services: [],
      live: [],
      needRestart: [],
    });
    expect(daemon.events).toEqual(["start 1 at a"]);
    expect(await daemon.reload("price: 2\n")).toMatchObject({ ok: true, services: ["price"] });
    expect(daemon.events).toEqual(["start 1 at a", "stop 1", "close 1", "start 2 at a"]);
    daemon.stop();
    await daemon.done;
    expect(daemon.events.slice(4)).toEqual(["stop 2", "close 2"]);
  });

  it("sets live keys without a stop, and names those that need a new process", async () => {
    const daemon = startDaemon("");
    expect(await daemon.reload("{level: debug, http: {listen: b, size: 2}}")).toEqual({
      ok: true,
      services: [],
      live: ["level", "http.size"],
      needRestart: ["http.listen"],
    });
    expect([daemon.events, daemon.levels.at(-1)]).toEqual([["start 1 at a"], "debug"]);
    expect(daemon.status()?.needRestart).toEqual(["http.listen"]);
    // The old address also holds when the services start again.
    await daemon.reload("{price: 2, http: {listen: b}}");
    expect(daemon.events.at(-1)).toBe("start 2 at a");
    // It is named as long as it differs.
    expect(daemon.status()?.needRestart).toEqual(["http.listen"]);
    expect(await daemon.reload("price: 2")).toMatchObject({ needRestart: [] });
    daemon.stop();
    await daemon.done;
  });

  it("notices a secret that changed while the services started", async () => {
    let secret = "one";
    const secrets = { environment: () => secret, file: () => secret };
    const withSecret: ConfigKind<unknown> = {
      name: "icq-relayer",
      prefix: "APP_",
      schema: z.strictObject({ token: secretField(secrets) }),
      secrets,
    };
    const source = { file: "a.yaml", text: "token: {env: T}" };
    const read = () => ({ kind: withSecret, parsed: readDaemonConfig(withSecret, source, {}) });
    const reloads = createConfigReloads(read(), read, () => "info");
    secret = "two";
    const plan = await reloads.plan();
    expect(plan.services).toEqual(["token"]);
    secret = "three";
    plan.accept();
    expect((await reloads.plan()).services).toEqual(["token"]);
  });

  it("keeps the settings when the file is wrong or the services do not start", async () => {
    const daemon = startDaemon("");
    const before = daemon.status();
    await daemon.clock.advance(5_000);
    expect(await daemon.reload("price: much")).toEqual({
      ok: false,
      error: "a.yaml:1:8: price: is text (expected a number)",
    });
    expect(daemon.events).toEqual(["start 1 at a"]);
    daemon.failing.set(3, "create");
    expect(await daemon.reload("price: 3")).toEqual({ ok: false, error: "no price 3" });
    daemon.failing.set(4, "run");
    expect(await daemon.reload("price: 4")).toEqual({ ok: false, error: "bad price 4" });
    await until(() => daemon.events.at(-1) === "start 1 at a");
    expect(daemon.status()).toMatchObject({
      error: "bad price 4",
      successAtMs: before?.successAtMs ?? 1_000_000,
    });
    // Compared with what holds, so the same file is a change again.
    daemon.failing.clear();
    expect(await daemon.reload("price: 4")).toMatchObject({ ok: true, services: ["price"] });
    expect(daemon.status()?.error).toBeUndefined();
    daemon.stop();
    await daemon.done;
  });

  it("goes back when the services fail within a minute, and fails later as without a reload", async () => {
    const daemon = startDaemon("");
    await daemon.reload("price: 2");
    daemon.crash(new Error("wrong chain"));
    await until(() => daemon.events.at(-1) === "start 1 at a");
    expect(daemon.status()?.error).toBe("wrong chain");
    expect(await daemon.reload("price: 2")).toMatchObject({ services: ["price"] });
    await daemon.clock.advance(61_000);
    daemon.crash(new Error("port lost"));
    await expect(daemon.done).rejects.toThrow("port lost");
  });

  it("reloads at SIGHUP, and once for requests that come meanwhile", async () => {
    const daemon = startDaemon("");
    await daemon.reload("");
    const results = [daemon.reload("price: 5"), daemon.reload("price: 6"), daemon.reload("price: 7")];
    daemon.hangup();
    await Promise.all(results);
    expect(daemon.events.at(-1)).toBe("start 7 at a");
    expect(daemon.events.filter((event) => event.startsWith("start")).length).toBeLessThanOrEqual(3);
    daemon.stop();
    await daemon.done;
  });

  it("refuses an empty file, and what the daemon calls a loss, unless it is forced", async () => {
    const source = { file: "a.yaml", text: "price: 2" };
    const read = () => ({ kind, parsed: readDaemonConfig(kind, source, {}) });
    const isDearer = (before: Config, after: Config) =>
      after.price > before.price ? `the price was ${before.price}` : undefined;
    const reloads = createConfigReloads(read(), read, () => "info", isDearer);
    source.text = " # nothing";
    await expect(reloads.plan()).rejects.toThrow("the configuration is empty, but the running one is not");
    expect(await reloads.plan(true)).toMatchObject({ services: ["price"] });
    source.text = "price: 3";
    await expect(reloads.plan()).rejects.toThrow("the price was 2; if that is intended, reload with --force");
    (await reloads.plan(true)).accept();
    // Compared with what runs now.
    expect(await reloads.plan()).toMatchObject({ services: [] });
  });

  it("shows in metrics", async () => {
    const registry = new Registry();
    const status = { successAtMs: 5_000, error: "bad", failedAtMs: 9_000, needRestart: [] };
    registerReloadMetrics(registry, "app", () => status);
    const page = await registry.metrics();
    expect(page).toContain("app_config_last_reload_successful 0\n");
    expect(page).toContain("app_config_last_reload_success_timestamp_seconds 5\n");
  });
});
