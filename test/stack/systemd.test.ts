import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LOCALNET_RELAYER_MNEMONIC } from "../../src/platform/base/localnet-defaults.ts";
import { until } from "../support/e2e/cli-process.ts";
import { programPath } from "../support/stack/programs.ts";
import { bootSystemd, type SystemdMachine } from "../support/stack/systemd-machine.ts";

const UNITS = readdirSync("deploy/systemd").filter((name) => name.endsWith(".service"));
/** systemd-analyze security: 0 is no exposure, 10 is all. Sandboxes of Debian's own daemons are between 2 and 9. */
const MOST_EXPOSURE = 1.5;
const TIMEOUT_MS = 180_000;

describe("units", () => {
  it.each(UNITS)("%s exposes little of the machine", (unit) => {
    const text = execFileSync(
      programPath("systemd-analyze"),
      [
        "security",
        "--offline=yes",
        "--no-pager",
        `--threshold=${MOST_EXPOSURE * 10}`,
        `./deploy/systemd/${unit}`,
      ],
      { encoding: "utf8" },
    );
    expect(text).toMatch(/Overall exposure level for \S+: \d\.\d OK/);
  });
});

describe("units under a booted systemd", () => {
  let machine: SystemdMachine;
  const property = async (unit: string, name: string): Promise<string> =>
    (await machine.must(`systemctl show -P ${name} ${unit}`)).trim();
  const relayer = "relaywatch-relayer.service";
  const watchdog = "relaywatch-watchdog.service";
  const setConfig = (name: string, text: string): Promise<string> =>
    machine.must(
      `cat > /etc/relaywatch/${name} <<'END'\n${text}\nEND\nchgrp relaywatch /etc/relaywatch/${name}; chmod 640 /etc/relaywatch/${name}`,
    );
  const watchdogConfig = (interval: string): string =>
    `state_dir: /var/lib/relaywatch-watchdog\ninterval: ${interval}\nchain_id: local-1`;

  beforeAll(async () => {
    machine = await bootSystemd();
    await machine.must("cp /opt/relaywatch/deploy/systemd/*.service /etc/systemd/system/");
    await machine.must(
      "cp /opt/relaywatch/deploy/systemd/relaywatch.sysusers.conf /usr/lib/sysusers.d/relaywatch.conf",
    );
    await machine.must("systemd-sysusers && systemctl daemon-reload");
    await machine.must("install -d -m 750 -g relaywatch /etc/relaywatch");
    await machine.must(`umask 077; echo '${LOCALNET_RELAYER_MNEMONIC}' > /etc/relaywatch/mnemonic`);
    await machine.must("systemctl start relaywatch-localnet");
  }, TIMEOUT_MS);
  afterAll(() => machine.close());

  it("are verified by systemd-analyze", async () => {
    const { code, output } = await machine.run(
      `cd /etc/systemd/system && systemd-analyze verify ${UNITS.map((unit) => `./${unit}`).join(" ")}`,
    );
    expect([code, output]).toEqual([0, ""]);
  });

  it(
    "start when the daemons have, and show what they do",
    async () => {
      const init = "config init relayer --yes --rpc http://127.0.0.1:26657 --rest http://127.0.0.1:1317";
      await machine.must(
        `relaywatch ${init} --remote-rpc http://127.0.0.1:26757 --state-dir /var/lib/relaywatch-relayer --output /etc/relaywatch/icq-relayer.yaml`,
      );
      await machine.must(
        "chgrp relaywatch /etc/relaywatch/icq-relayer.yaml; chmod 640 /etc/relaywatch/icq-relayer.yaml",
      );
      await setConfig("oracle-watchdog.yaml", watchdogConfig("1s"));
      for (const [unit, port] of [
        [relayer, 9999],
        [watchdog, 9998],
      ] as const) {
        await machine.must(`systemctl start ${unit}`);
        // Not before: systemctl waits for READY=1. The query has waited since the chains began, and a busy machine may need a few
        // seconds for its first result. Nothing else may keep a daemon from being ready.
        const others: string[] = [];
        await until(`${unit} is ready`, async () => {
          const answer = (await machine.must(`curl -s http://127.0.0.1:${port}/readyz`)).trim();
          if (answer === "ok") return true;
          if (unit !== relayer || !/^queries-overdue: [^\n]*$/.test(answer)) others.push(answer);
          return undefined;
        });
        expect(others).toEqual([]);
      }
      await until("the status", async () =>
        /^no problem; \d+ quer(?:y|ies)$/.test(await property(relayer, "StatusText")) ? true : undefined,
      );
      expect(await property(watchdog, "StatusText")).toMatch(/^1 validator; /);
      expect(await property("relaywatch-localnet.service", "StatusText")).toBe(
        "runs local, remote, sidecar, ibc-relayer",
      );
      // The key is a credential. Nothing of the daemon belongs to root, and nobody else reads its state.
      const state = await machine.must(
        "stat -c '%U %a' /var/lib/relaywatch-relayer /var/lib/relaywatch-relayer/control-token",
      );
      expect(state).toBe("relaywatch 700\nrelaywatch 600\n");
    },
    TIMEOUT_MS,
  );

  it(
    "reload a changed configuration, and refuse a wrong one",
    async () => {
      await setConfig("oracle-watchdog.yaml", watchdogConfig("2s"));
      await machine.must(`systemctl reload ${watchdog}`);
      await setConfig("oracle-watchdog.yaml", watchdogConfig("soon"));
      expect((await machine.run(`systemctl reload ${watchdog}`)).code).not.toBe(0);
      expect(await machine.must(`journalctl --no-pager -u ${watchdog}`)).toContain(
        "interval: is not a valid duration",
      );
      expect(await property(watchdog, "ActiveState")).toBe("active");
      await machine.must(`systemctl reload ${relayer}`);
    },
    TIMEOUT_MS,
  );

  it(
    "restart after a crash, and when the daemon stands still",
    async () => {
      const drop = `/run/systemd/system/${relayer}.d`;
      await machine.must(
        `mkdir -p ${drop}; printf '[Service]\\nWatchdogSec=8s\\nRestartSec=100ms\\n' > ${drop}/test.conf; systemctl daemon-reload; systemctl restart ${relayer}`,
      );
      await machine.must(`systemctl kill -s KILL ${relayer}`);
      await until("a restart after the crash", async () =>
        (await property(relayer, "NRestarts")) === "1" &&
        (await property(relayer, "ActiveState")) === "active"
          ? true
          : undefined,
      );
      // It lives for longer than WatchdogSec with its signs of life.
      const pid = await property(relayer, "MainPID");
      await machine.must("sleep 10");
      expect(await property(relayer, "MainPID")).toBe(pid);
      await machine.must(`kill -STOP ${pid}`);
      await until("a restart by the watchdog", async () =>
        (await property(relayer, "NRestarts")) === "2" &&
        (await property(relayer, "ActiveState")) === "active"
          ? true
          : undefined,
      );
      expect(await machine.must(`journalctl --no-pager -u ${relayer}`)).toContain("Watchdog timeout");
    },
    TIMEOUT_MS,
  );

  it(
    "stop with the state written, and stay failed with a wrong configuration",
    async () => {
      await machine.must(`systemctl stop ${relayer}`);
      expect(await property(relayer, "Result")).toBe("success");
      expect(await property(relayer, "ExecMainStatus")).toBe("0");
      await setConfig("icq-relayer.yaml", "chain: 5");
      expect((await machine.run(`systemctl start ${relayer}`)).code).not.toBe(0);
      expect(await property(relayer, "ExecMainStatus")).toBe("78");
      await machine.must("sleep 1");
      expect(await property(relayer, "ActiveState")).toBe("failed");
    },
    TIMEOUT_MS,
  );
});
