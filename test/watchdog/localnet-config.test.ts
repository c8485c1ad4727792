import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { watchedLocalnet } from "../../src/cli/commands/watched-localnet.ts";
import { CHAINS } from "../../src/localnet/accounts/chains.ts";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { controlTokenFile } from "../../src/platform/cli/state-home.ts";
import { localnetWatchdogConfig } from "../../src/watchdog/cli/localnet-config.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "relaywatch-localnet-config-"));
  vi.stubEnv("XDG_STATE_HOME", home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

it("the watchdog of a localnet that has not run yet has a token, in a file of its owner", () => {
  const { config } = localnetWatchdogConfig(7, undefined, watchedLocalnet(CHAINS.local, portsAt(7)));
  expect(config.token?.reveal()).toMatch(/^\S{20,}$/);
  expect(statSync(controlTokenFile(7)).mode & 0o777).toBe(0o600);
  const again = localnetWatchdogConfig(7, undefined, watchedLocalnet(CHAINS.local, portsAt(7)));
  expect(again.config.token?.reveal()).toBe(config.token?.reveal());
});
